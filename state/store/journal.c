// The log of batches.
//
//	log/segment-N     what is written now, and what follows (segment_format.c)
//	log/first.mdb     what the first version of this program wrote (lmdb_format.c): the beginning of the log, until
//	                  no batch of it is needed; not written any more
//	log/data.mdb      the same under its old name, which tells that nothing newer was written after it. The first
//	                  start renames it, so that a program of the first version refuses the log from then on
//	log.new/          a log that was being made when the process ended
//
// A batch is one record of a segment. One call writes it past the page cache and makes it durable (segment_direct.c);
// where the file system has no such way, and for large batches, a write and one fdatasync do. The segment was written
// before, so that this changes no metadata of the file system.
#include "state/store/journal.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/listing/listing.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/store/files.h"
#include "state/store/lmdb/lmdb_log.h"
#include "state/store/segment_format.h"
#include "state/store/segments.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_NAME "first.mdb"
#define FIRST_NAME_BEFORE "data.mdb"

struct journal {
	struct segments *segments;
	char *path; // of the folder
	bool read_only, was_appended;
	uint64_t next_index; // first index of the next append; 0 until known
	bool may_lag;
	int failed; // error after which nothing is written
	_Atomic uint64_t appended_bytes;

	pthread_mutex_t lock;   // guards first, which journal_cut lets go of
	struct lmdb_log *first; // of the first version; or NULL
};

static int remove_unfinished(const char *path)
{
	DIR *files = opendir(path);
	const struct dirent *entry;
	int error = 0;
	if (!files)
		return errno == ENOENT ? 0 : -errno;
	while (error == 0 && (entry = listing_next(files, &error)) != NULL)
		if (entry->d_name[0] != '.' && unlinkat(dirfd(files), entry->d_name, 0) < 0)
			error = -errno;
	closedir(files);
	if (error == 0 && rmdir(path) < 0)
		error = -errno;
	return error;
}

// A log is made under another name and renamed, so that it is whole from its first moment.
static int journal_create(const struct journal *j, const struct journal_settings *settings)
{
	char *fresh = path_of(settings->directory, "log.new");
	struct segments_settings segments = {
		.directory = fresh, .bytes_max = settings->map_bytes, .sync = settings->sync};
	int error = remove_unfinished(fresh);
	if (error == 0 && CAN_FAIL(LOG_MKDIR, mkdir(fresh, 0750)) < 0)
		error = -errno;
	if (error == 0)
		error = segments_create(&segments);
	if (error == 0 && CAN_FAIL(LOG_PUBLISH, rename(fresh, j->path)) < 0)
		error = -errno;
	if (error == 0)
		error = directory_sync(settings->directory);
	free(fresh);
	return error;
}

static bool is_there(const struct journal *j, const char *name)
{
	char *path = path_of(j->path, name);
	bool there = access(path, F_OK) == 0;
	free(path);
	return there;
}

static int open_first(struct journal *j, const char *name, const struct complaint *complaint)
{
	char *path = path_of(j->path, name);
	int error = lmdb_log_open(path, &j->first, complaint);
	free(path);
	return error;
}

// What the first version wrote stays as it is; the log goes on after it.
static int take_over_first(struct journal *j, const struct complaint *complaint)
{
	char *before = path_of(j->path, FIRST_NAME_BEFORE), *path = path_of(j->path, FIRST_NAME);
	int error =
		CAN_FAIL(LMDB_RENAME, rename(before, path)) < 0 ? -errno : directory_sync(j->path);
	if (error < 0)
		complain(complaint, error, "cannot rename the log %s to %s: %s", before, path,
			error_text(error));
	else
		log_info("log-migrated",
			"file=%s bytes=%lu effect=\"the log goes on in segments, which the program "
			"of before cannot read\"",
			path, lmdb_log_bytes(j->first));
	free(before);
	free(path);
	return error;
}

static int open_parts(struct journal *j, const struct journal_settings *settings,
	const struct complaint *complaint)
{
	struct segments_settings segments = {.directory = j->path,
		.bytes_max = settings->map_bytes,
		.read_only = settings->read_only,
		.sync = settings->sync};
	bool is_first = is_there(j, FIRST_NAME), is_before = is_there(j, FIRST_NAME_BEFORE);
	int error = 0;
	if (is_first && is_before)
		return complain(complaint, -ERROR_CORRUPT,
			"the log %s has both " FIRST_NAME " and " FIRST_NAME_BEFORE "; %s", j->path,
			JOURNAL_REMEDY);
	if (is_first || is_before)
		error = open_first(j, is_first ? FIRST_NAME : FIRST_NAME_BEFORE, complaint);
	if (error == 0)
		error = segments_open(&segments, &j->segments, complaint);
	if (error == 0 && !j->first && segments_count(j->segments) == 0)
		return complain(complaint, -ERROR_CORRUPT,
			"the log %s is empty: its files are missing; %s", j->path, JOURNAL_REMEDY);
	if (error == 0 && is_before && !settings->read_only)
		error = take_over_first(j, complaint);
	return error;
}

static int open_at(struct journal *j, const struct journal_settings *settings,
	const struct complaint *complaint)
{
	int error = access(j->path, F_OK) == 0 ? 0 : journal_create(j, settings);
	if (error < 0)
		return complain(complaint, error,
			"cannot create the log %s: %s; make the directory writable for this user "
			"or free space",
			j->path, error_text(error));
	error = open_parts(j, settings, complaint);
	if (error == 0)
		j->next_index = segments_next_index(j->segments);
	return error;
}

int journal_open(const struct journal_settings *settings, struct journal **out,
	const struct complaint *complaint)
{
	*out = NULL;
	struct journal *j = memory_take(sizeof *j);
	j->path = path_of(settings->directory, "log");
	j->read_only = settings->read_only;
	j->may_lag = settings->may_lag;
	pthread_mutex_init(&j->lock, NULL);
	if (settings->read_only && access(j->path, F_OK) < 0 && errno == ENOENT) {
		journal_close(j);
		return 0;
	}
	int error = open_at(j, settings, complaint);
	if (error < 0)
		journal_close(j);
	else
		*out = j;
	return error;
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	if (j->was_appended && j->failed == 0)
		segments_mark_closed(j->segments, j->next_index);
	segments_close(j->segments);
	lmdb_log_close(j->first);
	pthread_mutex_destroy(&j->lock);
	free(j->path);
	free(j);
}

int journal_append(
	struct journal *j, uint64_t first_index, uint32_t entries, const void *batch, uint32_t size)
{
	CHECK(!j->read_only && entries > 0 && first_index > 0);
	CHECK(j->next_index == 0 || first_index == j->next_index);
	if (j->failed < 0)
		return j->failed;
	int error = segments_append(
		j->segments, &(struct journal_batch){first_index, entries, size, batch});
	if (error == 0) {
		j->was_appended = true;
		j->next_index = first_index + entries;
		atomic_fetch_add_explicit(
			&j->appended_bytes, record_bytes(size), memory_order_relaxed);
	} else if (error != -ENOSPC) {
		j->failed = error; // the disk's content is unknown from here on: never retry
		char quoted[512];
		log_error("log-write-failed", "log=%s index=%lu error=\"%s\"",
			log_quote(j->path, quoted, sizeof quoted), first_index, error_text(error));
	}
	return error;
}

// Lets go of what the first version wrote once no batch before the first segment's is needed.
static void cut_first(struct journal *j, uint64_t index)
{
	uint64_t next = segments_first_index(j->segments);
	pthread_mutex_lock(&j->lock);
	struct lmdb_log *first = j->first;
	bool is_over = first && next > 0 && next <= index + 1;
	if (is_over)
		j->first = NULL;
	pthread_mutex_unlock(&j->lock);
	if (!is_over)
		return;
	char *path = path_of(j->path, FIRST_NAME);
	lmdb_log_close(first);
	if (unlink(path) < 0)
		log_warn("log-not-removed", "file=%s error=\"%s\"", path, error_text(-errno));
	free(path);
}

void journal_cut(struct journal *j, uint64_t index)
{
	cut_first(j, index);
	segments_cut(j->segments, index);
}

int64_t journal_room_bytes(const struct journal *j)
{
	return segments_room_bytes(j->segments);
}

uint64_t journal_live_bytes(struct journal *j)
{
	pthread_mutex_lock(&j->lock);
	uint64_t bytes = j->first ? lmdb_log_bytes(j->first) : 0;
	pthread_mutex_unlock(&j->lock);
	return bytes + segments_live_bytes(j->segments);
}

uint64_t journal_appended_bytes(const struct journal *j)
{
	return atomic_load_explicit(&j->appended_bytes, memory_order_relaxed);
}

uint64_t journal_batch_bytes(uint32_t size)
{
	return record_bytes(size);
}

uint64_t journal_tails_cut(const struct journal *j)
{
	return segments_tail_was_cut(j->segments);
}

uint64_t journal_segments_late(const struct journal *j)
{
	return segments_made_late(j->segments);
}

uint64_t journal_first_index(struct journal *j)
{
	uint64_t index = j->first ? lmdb_log_first_index(j->first) : 0;
	return index ? index : segments_first_index(j->segments);
}

// The first version's part is needed unless the segments have the expected batch.
static int walk_parts(struct journal *j, struct journal_walker *w)
{
	uint64_t segments_from = segments_first_index(j->segments);
	int error = 0;
	if (j->first && (segments_from == 0 || w->expected < segments_from))
		error = lmdb_log_walk(j->first, w);
	return error < 0 ? error : segments_walk(j->segments, w);
}

int journal_walk(struct journal *j, uint64_t index, journal_visit *visit, void *context,
	const struct complaint *complaint)
{
	struct journal_walker w = {j->path, visit, context, complaint, index + 1};
	uint64_t end = segments_next_index(j->segments);
	bool lags = j->may_lag && end > 0 && end <= index;
	complaint->text[0] = 0;
	int error = lags ? 0 : walk_parts(j, &w);
	if (lags && !j->read_only)
		segments_mark_closed(j->segments, index + 1);
	if (error == 0)
		j->next_index = w.expected;
	else if (!complaint->text[0])
		complain(
			complaint, error, "cannot read the log %s: %s", j->path, error_text(error));
	return error;
}
