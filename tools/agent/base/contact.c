#include "tools/agent/base/contact.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// One line, always of the same length, so that it can be written over in place.
#define LINE_BYTES 21

static int64_t read_time(int fd)
{
	char line[LINE_BYTES + 1] = "";
	ssize_t n = fd < 0 ? -1 : pread(fd, line, LINE_BYTES, 0);
	char *end;
	if (n != LINE_BYTES || line[LINE_BYTES - 1] != '\n')
		return 0;
	errno = 0;
	long long ns = strtoll(line, &end, 10);
	return errno == 0 && *end == '\n' && ns > 0 ? ns : 0;
}

void contact_open(struct contact *c, const char *state_folder, int64_t now_ns)
{
	char path[400];
	snprintf(path, sizeof path, "%.300s/heard", state_folder);
	*c = (struct contact){
		.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), .opened_ns = now_ns};
	c->heard_ns = read_time(c->fd);
	if (c->heard_ns > now_ns) // the wall clock was set back
		c->heard_ns = now_ns;
}

void contact_close(struct contact *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

void contact_heard(struct contact *c, int64_t now_ns)
{
	c->heard_ns = now_ns;
}

int contact_keep(const struct contact *c)
{
	char line[LINE_BYTES + 1];
	snprintf(line, sizeof line, "%020" PRId64 "\n", c->heard_ns);
	if (c->fd < 0)
		return -EBADF;
	return pwrite(c->fd, line, LINE_BYTES, 0) == LINE_BYTES ? 0 : -EIO;
}

int64_t contact_lost_ns(const struct contact *c, int64_t stop_after_ns)
{
	return c->heard_ns ? c->heard_ns + stop_after_ns : c->opened_ns + CONTACT_GRACE_NS;
}
