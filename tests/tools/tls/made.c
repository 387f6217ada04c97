#include "tests/tools/tls/made.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/tls/pem_file.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PATHS 8u

int64_t made_now_s(void)
{
	return (int64_t)(time_wall_ns(&time_source_real) / NS_PER_S);
}

const char *made_path(const struct made *m, const char *file)
{
	static char paths[PATHS][256];
	static unsigned next;
	char *path = paths[next++ % PATHS];
	snprintf(path, sizeof paths[0], "%s/%s", m->folder, file);
	return path;
}

void made_write(const struct made *m, const char *file, const char *text)
{
	const char *path = made_path(m, file);
	unlink(path);
	assert_int_equal(pem_file_write(path, 0600, text), 0);
}

static void write_pair(const struct made *m, const char *name, const struct certificate *c)
{
	char file[64];
	snprintf(file, sizeof file, "%s.pem", name);
	made_write(m, file, c->certificate);
	snprintf(file, sizeof file, "%s-key.pem", name);
	made_write(m, file, c->key);
}

void made_begin(struct made *m)
{
	char message[256];
	int64_t now_s = made_now_s();
	struct certificate_wish wish = {
		.name = "test authority", .from_s = now_s - 1000000, .until_s = now_s + 1000000};
	snprintf(m->folder, sizeof m->folder, "/tmp/berth-tls-XXXXXX");
	assert_non_null(mkdtemp(m->folder));
	if (!authority_make(&wish, &m->authority, message, sizeof message))
		fail_msg("%s", message);
	write_pair(m, "ca", &m->authority);
}

void made_end(struct made *m)
{
	DIR *all = opendir(m->folder);
	assert_non_null(all);
	for (struct dirent *one = readdir(all); one; one = readdir(all))
		if (one->d_name[0] != '.')
			unlink(made_path(m, one->d_name));
	closedir(all);
	rmdir(m->folder);
	certificate_free(&m->authority);
}

void made_sign(struct made *m, const char *name, const char *host, int64_t from_s, int64_t until_s)
{
	char message[256];
	struct certificate c;
	int64_t now_s = made_now_s();
	struct certificate_wish wish = {.name = name,
		.from_s = now_s + from_s,
		.until_s = now_s + until_s,
		.hosts = &host,
		.host_count = host != NULL};
	if (!certificate_make(&wish, &m->authority, &c, message, sizeof message))
		fail_msg("%s", message);
	write_pair(m, name, &c);
	certificate_free(&c);
}
