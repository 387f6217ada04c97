// berth operator snapshot: all that the controller knows, in a file.
#include "state/base/error.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/archive/snapshot_archive.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATH_BYTES 1024u
// How often it is asked whether the controller that begins anew is back.
#define BACK_EVERY_MS 100u

static enum exit_status cannot(const char *what, const char *path, int error)
{
	return complain(STATUS_FAILURE, "cannot %s %s: %s", what, path, error_text(error));
}

static enum exit_status check_open(int file, const char *path, struct snapshot_meta *meta)
{
	char message[512];
	bool fine = snapshot_archive_read(file, -1, meta, message, sizeof message);
	return fine ? STATUS_OK : complain(STATUS_FAILURE, "%s: %s", path, message);
}

static enum exit_status check_file(const char *path, struct snapshot_meta *meta)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return cannot("read", path, -errno);
	enum exit_status status = check_open(file, path, meta);
	close(file);
	return status;
}

// Into the open file, and durably.
static enum exit_status fetch(struct session *session, FILE *file, const char *path)
{
	enum exit_status status = http_get_into(session, "/v1/operator/snapshot", file);
	bool is_kept = fflush(file) == 0 && fsync(fileno(file)) == 0;
	return status == STATUS_OK && !is_kept ? cannot("write", path, -errno) : status;
}

// The name is free until all is there, so that nobody takes a part for the whole.
static enum exit_status save_aside(
	struct session *session, const char *path, const char *aside, struct snapshot_meta *meta)
{
	mode_t before = umask(077); // the whole state is nobody else's to read
	FILE *file = fopen(aside, "we");
	(void)umask(before);
	if (!file)
		return cannot("write", aside, -errno);
	enum exit_status status = fetch(session, file, aside);
	(void)fclose(file); // all is kept already
	if (status == STATUS_OK)
		status = check_file(aside, meta);
	if (status == STATUS_OK && rename(aside, path) < 0)
		status = cannot("make", path, -errno);
	if (status != STATUS_OK)
		unlink(aside);
	return status;
}

static void default_name(char path[static PATH_BYTES])
{
	time_t now = (time_t)(time_wall_ns(&time_source_real) / NS_PER_S);
	struct tm utc;
	gmtime_r(&now, &utc);
	strftime(path, PATH_BYTES, "berth-state-%Y%m%d-%H%M%S.snap", &utc);
}

enum exit_status snapshot_save(struct session *session, const char **arguments, int count)
{
	char path[PATH_BYTES], aside[PATH_BYTES + 8];
	struct snapshot_meta meta;
	if (count > 0)
		snprintf(path, sizeof path, "%s", arguments[0]);
	else
		default_name(path);
	if (count > 0 && strlen(arguments[0]) >= sizeof path)
		return cannot("write", "a path so long", -ENAMETOOLONG);
	snprintf(aside, sizeof aside, "%s.part", path);
	enum exit_status status = save_aside(session, path, aside, &meta);
	if (status == STATUS_OK)
		printf("%s holds the state of index %llu\n", path, (unsigned long long)meta.index);
	return status;
}

// What was checked is what is sent, whatever stands at the path by now.
static enum exit_status check_and_send(
	struct session *session, const char *path, struct snapshot_meta *meta)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return cannot("read", path, -errno);
	enum exit_status status = check_open(fileno(file), path, meta);
	if (status == STATUS_OK) {
		off_t size = lseek(fileno(file), 0, SEEK_END);
		rewind(file);
		status = size < 0 ? cannot("read twice", path, -errno)
				  : http_put_file(
					    session, "/v1/operator/snapshot", file, (size_t)size);
	}
	(void)fclose(file);
	return status;
}

// The process that was answers nothing any more but 503, and the state may know other tokens than this one.
static bool is_back(struct session *session)
{
	struct http_answer answer;
	(void)http_get(session, "/v1/operator/scheduler/configuration", &answer);
	long status = answer.status;
	http_answer_free(&answer);
	return status > 0 && status < 500;
}

static enum exit_status wait_until_back(struct session *session)
{
	const struct timespec pause = {.tv_nsec = BACK_EVERY_MS * NS_PER_MS};
	uint64_t most_ns = http_timeout_ms(session) * (uint64_t)NS_PER_MS;
	uint64_t began_ns = time_monotonic_ns(&time_source_real);
	bool is_there;
	http_quiet(session, true);
	while (!(is_there = is_back(session)) &&
		(!most_ns || time_monotonic_ns(&time_source_real) - began_ns < most_ns))
		nanosleep(&pause, NULL);
	http_quiet(session, false);
	return is_there ? STATUS_OK
			: complain(STATUS_UNREACHABLE,
				  "the snapshot was restored, but the controller is not back yet: "
				  "look into its log; --timeout says how long to wait for it");
}

enum exit_status snapshot_restore(struct session *session, const char **arguments, int count)
{
	struct snapshot_meta meta;
	enum exit_status status = check_and_send(session, arguments[0], &meta);
	if (status == STATUS_OK)
		status = wait_until_back(session);
	if (status == STATUS_OK)
		printf("the controller goes on from the state of index %llu\n",
			(unsigned long long)meta.index);
	return status;
}

enum exit_status snapshot_inspect(struct session *session, const char **arguments, int count)
{
	static const char *const headings[] = {"ID", "Size", "Index", "Term", NULL};
	struct snapshot_meta meta;
	struct table t;
	enum exit_status status = check_file(arguments[0], &meta);
	if (status != STATUS_OK)
		return status;
	table_begin(&t, headings);
	table_add(&t, meta.id);
	table_add_format(&t, "%llu", (unsigned long long)meta.size);
	table_add_format(&t, "%llu", (unsigned long long)meta.index);
	table_add_format(&t, "%llu", (unsigned long long)meta.term);
	table_print(&t, 0);
	return STATUS_OK;
}
