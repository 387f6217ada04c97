#include "state/store/store.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/limits.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/store/failure.h"
#include "state/store/files.h"
#include "state/store/store_private.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// The smallest useful log: twice the reserve for changes that must not be refused.
#define MAP_BYTES_LEAST (2 * STORE_RESERVE_BYTES)

static void bytes_count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static void counter_set(_Atomic uint64_t *gauge, uint64_t n)
{
	atomic_store_explicit(gauge, n, memory_order_relaxed);
}

static int make_directory(struct store *s, const struct complaint *complaint)
{
	struct stat stat_;
	if (!s->settings.read_only && CAN_FAIL(STORE_MKDIR, mkdir(s->directory, 0750)) < 0 &&
		errno != EEXIST)
		return complain(complaint, -errno,
			"cannot create the store directory %s: %s; create its parent, or make it "
			"writable for this user",
			s->directory, error_text(-errno));
	if (stat(s->directory, &stat_) < 0)
		return complain(complaint, -errno, "cannot use the store directory %s: %s",
			s->directory, error_text(-errno));
	if (!S_ISDIR(stat_.st_mode))
		return complain(complaint, -ENOTDIR, "the store directory %s is not a directory",
			s->directory);
	return 0;
}

static int lock_refused(struct store *s, int error, const struct complaint *complaint)
{
	char pid[32] = "";
	ssize_t n = pread(s->lock_fd, pid, sizeof pid - 1, 0);
	long owner = n > 0 ? strtol(pid, NULL, 10) : 0;
	if (error == -EWOULDBLOCK)
		return complain(complaint, -EBUSY,
			"the store directory %s is in use by process %ld: stop it, or give each "
			"its "
			"own directory",
			s->directory, owner);
	return complain(complaint, error, "cannot lock the store directory %s: %s", s->directory,
		error_text(error));
}

long store_holder(const char *directory)
{
	char *path = path_of(directory, "lock"), pid[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return 0;
	bool is_held = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	ssize_t n = is_held ? pread(fd, pid, sizeof pid - 1, 0) : 0;
	close(fd);
	return n > 0 ? strtol(pid, NULL, 10) : 0;
}

// A full disk must not prevent opening a store; the process id only informs people.
static bool write_pid(struct store *s)
{
	char pid[32];
	int size = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
	return ftruncate(s->lock_fd, 0) == 0 && pwrite(s->lock_fd, pid, (size_t)size, 0) == size;
}

// The lock ends with the process, however it ends. Readers share it; a store that was never written has no lock file,
// and a reader needs none.
static int lock(struct store *s, const struct complaint *complaint)
{
	bool read_only = s->settings.read_only;
	char *path = path_of(s->directory, "lock");
	s->lock_fd = CAN_FAIL(STORE_LOCK,
		open(path, (read_only ? O_RDONLY : O_RDWR | O_CREAT) | O_CLOEXEC, 0640));
	int error = s->lock_fd < 0 ? -errno : 0;
	free(path);
	if (read_only && error == -ENOENT)
		return 0;
	if (error == 0 && flock(s->lock_fd, (read_only ? LOCK_SH : LOCK_EX) | LOCK_NB) < 0)
		error = -errno;
	if (error < 0)
		return lock_refused(s, error, complaint);
	if (!read_only)
		(void)write_pid(s);
	return 0;
}

static int open_parts(struct store *s, const struct complaint *complaint)
{
	int error = make_directory(s, complaint);
	if (error == 0)
		error = lock(s, complaint);
	if (error == 0 && !s->settings.read_only)
		error = failure_check(s->directory, complaint);
	if (error == 0 && !s->settings.read_only)
		error = exchange_finish(s->directory, complaint);
	if (error == 0)
		error = failure_forget_pages(s->directory, complaint);
	if (error < 0)
		return error;
	struct journal_settings journal = {
		.directory = s->directory,
		.map_bytes = s->settings.map_bytes,
		.read_only = s->settings.read_only,
		.sync = s->settings.sync,
		.may_lag = s->settings.may_lag,
	};
	return journal_open(&journal, &s->journal, complaint);
}

int store_open(const struct store_settings *settings, struct store **out, char *message,
	uint32_t message_size)
{
	struct complaint complaint = {message, message_size};
	*out = NULL;
	if (settings->map_bytes < MAP_BYTES_LEAST)
		return complain(&complaint, -EINVAL,
			"the log of the store may take %ld bytes, and needs at least %ld",
			(long)settings->map_bytes, (long)MAP_BYTES_LEAST);
	struct store *s = memory_take(sizeof *s);
	s->settings = *settings;
	s->directory = text_copy(text_of(settings->directory));
	s->settings.directory = s->directory;
	s->lock_fd = -1;
	pthread_mutex_init(&s->taking, NULL);
	pthread_mutex_init(&s->waking, NULL);
	pthread_cond_init(&s->wake, NULL);
	int error = open_parts(s, &complaint);
	if (error < 0)
		store_close(s);
	else
		*out = s;
	return error;
}

void store_close(struct store *s)
{
	journal_close(s->journal);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->waking);
	pthread_mutex_destroy(&s->taking);
	free(s->directory);
	free(s);
}

static int64_t room_bytes(void *context)
{
	struct store *s = context;
	int64_t room = s->journal ? journal_room_bytes(s->journal) : 0;
	counter_set(&s->counters.room_bytes, (uint64_t)room);
	return room;
}

static int log_append(
	void *context, uint64_t first_index, uint32_t entries, const void *batch, uint32_t size)
{
	struct store *s = context;
	if (s->settings.read_only)
		return -EROFS;
	int error = journal_append(s->journal, first_index, entries, batch, size);
	if (error == 0) {
		bytes_count(&s->counters.appends, 1);
		bytes_count(&s->counters.append_bytes, size);
		counter_set(&s->counters.log_bytes, journal_live_bytes(s->journal));
		counter_set(&s->counters.segments_late, journal_segments_late(s->journal));
	}
	snapshot_consider(s, error == -ENOSPC);
	return error;
}

struct command_log store_log(struct store *s)
{
	return (struct command_log){.append = log_append, .room_bytes = room_bytes, .context = s};
}

const struct store_counters *store_counters(const struct store *s)
{
	return &s->counters;
}

void store_note_failure(const struct store *s, int error)
{
	failure_mark(s->directory, error);
}
