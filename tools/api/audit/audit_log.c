#include "tools/api/audit/audit_log.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 1536u
#define WHO_BYTES 200u
#define ASKED_BYTES 700u

struct audit_log {
	char *path;
	pthread_mutex_t lock; // guards what follows
	int fd;
	bool is_cut; // its last line has no end
	struct audit_counts counts;
};

static int open_end(const char *path, char *message, uint32_t message_size)
{
	int fd =
		open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	if (fd < 0)
		snprintf(message, message_size,
			"audit.path: %s cannot be written: %s; name a file in a directory that "
			"this user "
			"can write to",
			path, error_text(-errno));
	return fd;
}

struct audit_log *audit_log_open(const char *path, char *message, uint32_t message_size)
{
	int fd = open_end(path, message, message_size);
	if (fd < 0)
		return NULL;
	struct audit_log *a = memory_take(sizeof *a);
	a->path = text_copy(text_of(path));
	a->fd = fd;
	pthread_mutex_init(&a->lock, NULL);
	return a;
}

void audit_log_close(struct audit_log *a)
{
	if (!a)
		return;
	close(a->fd);
	pthread_mutex_destroy(&a->lock);
	free(a->path);
	free(a);
}

bool audit_log_reopen(struct audit_log *a, char *message, uint32_t message_size)
{
	int newer = open_end(a->path, message, message_size);
	if (newer < 0)
		return false;
	pthread_mutex_lock(&a->lock);
	int older = a->fd;
	a->fd = newer;
	// Else another file took the place of the one that was cut.
	a->is_cut = a->is_cut && lseek(newer, 0, SEEK_END) > 0;
	pthread_mutex_unlock(&a->lock);
	close(older);
	return true;
}

static const char *time_text(int64_t time_ns, char text[static 32])
{
	struct tm utc;
	time_t seconds = (time_t)(time_ns / (int64_t)NS_PER_S);
	gmtime_r(&seconds, &utc);
	size_t size = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text + size, 32 - size, ".%03uZ",
		(unsigned)(time_ns % (int64_t)NS_PER_S / (int64_t)NS_PER_MS));
	return text;
}

// With the end of the line before it at first.
static size_t format_line(const struct audit_line *l, char line[static LINE_BYTES])
{
	char time[32], who[WHO_BYTES], asked[ASKED_BYTES];
	int size = snprintf(line, LINE_BYTES,
		"\ntime=%s who=%s from=%.120s asked=%s route=%.120s status=%u\n",
		time_text(l->time_ns, time), log_quote(l->who, who, sizeof who), l->from,
		log_quote(l->asked, asked, sizeof asked), l->route, l->status);
	CHECK(size > 0 && size < (int)LINE_BYTES);
	return (size_t)size;
}

void audit_log_write(struct audit_log *a, const struct audit_line *l)
{
	char line[LINE_BYTES];
	size_t size = format_line(l, line);
	// One write for each line, at the end of the file: lines of several threads do not mix.
	pthread_mutex_lock(&a->lock);
	size_t skipped = a->is_cut ? 0 : 1;
	ssize_t wrote = write(a->fd, line + skipped, size - skipped);
	bool is_short = wrote >= 0 && (size_t)wrote < size - skipped;
	int error = wrote < 0 ? -errno : is_short ? -ENOSPC : 0;
	a->is_cut = is_short || (wrote < 0 && a->is_cut);
	a->counts.written += error == 0;
	a->counts.failed += error != 0;
	pthread_mutex_unlock(&a->lock);
	if (error)
		log_error("audit-failed", "file=\"%s\" error=\"%s\"", a->path, error_text(error));
}

struct audit_counts audit_log_count(struct audit_log *a)
{
	pthread_mutex_lock(&a->lock);
	struct audit_counts counts = a->counts;
	pthread_mutex_unlock(&a->lock);
	return counts;
}
