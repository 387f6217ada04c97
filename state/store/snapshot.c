// Takes snapshots and keeps the newest two; recovery reads them (recovery.c).
//
// A snapshot is written under another name, made durable, renamed, and the rename made durable: at any moment the
// files named snapshot-N are whole. Only then does the log drop the batches that the older of the two does not need.
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/limits.h"
#include "state/base/listing/listing.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/snapshot/snapshot_view.h"
#include "state/store/files.h"
#include "state/store/snapshot_file.h"
#include "state/store/store_private.h"
#include "state/tables/tables.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

char *snapshot_path(const struct store *s, uint64_t index)
{
	char name[40];
	snprintf(name, sizeof name, "snapshot-%lu", index);
	return path_of(s->directory, name);
}

// "snapshot-" and a number without leading zeros.
static bool parse_name(const char *name, uint64_t *index)
{
	char again[40], *end;
	if (strncmp(name, "snapshot-", 9) != 0)
		return false;
	errno = 0;
	*index = strtoul(name + 9, &end, 10);
	snprintf(again, sizeof again, "snapshot-%lu", *index);
	return errno == 0 && strcmp(again, name) == 0;
}

static int falling(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? 1 : x > y ? -1 : 0;
}

int snapshot_list_read(const char *directory, struct snapshot_list *list)
{
	*list = (struct snapshot_list){0};
	DIR *dir = FAILPOINT(SNAPSHOT_LIST) ? NULL : opendir(directory);
	if (!dir)
		return -errno;
	int error = 0;
	for (struct dirent *entry; (entry = LISTING_NEXT(SNAPSHOT_NEXT, dir, &error));) {
		uint64_t index;
		if (!parse_name(entry->d_name, &index))
			continue;
		list->indexes = memory_resize(list->indexes, (list->count + 1) * sizeof index);
		list->indexes[list->count++] = index;
	}
	closedir(dir);
	if (list->count > 0)
		qsort(list->indexes, list->count, sizeof *list->indexes, falling);
	if (error != 0) {
		free(list->indexes);
		*list = (struct snapshot_list){0};
	}
	return error;
}

static void remove_file(char *path)
{
	if (unlink(path) < 0 && errno != ENOENT) {
		char quoted[512];
		log_warn("snapshot-not-removed", "path=%s error=\"%s\"",
			log_quote(path, quoted, sizeof quoted), error_text(-errno));
	}
	free(path);
}

void snapshot_prune(struct store *s)
{
	struct snapshot_list list;
	bool is_read = snapshot_list_read(s->directory, &list) == 0; // else another time
	for (uint32_t i = 0; is_read && i < list.count; i++) {
		bool keep = false;
		for (int k = 0; k < SNAPSHOTS_KEPT; k++)
			keep |= s->kept[k] == list.indexes[i];
		if (!keep)
			remove_file(snapshot_path(s, list.indexes[i]));
	}
	free(list.indexes);
	remove_file(path_of(s->directory, SNAPSHOT_UNFINISHED));
}

static void write_items(struct snapshot_writer *writer, struct snapshot_view *view)
{
	while (snapshot_view_next(view, snapshot_item_begin(writer)))
		snapshot_item_keep(writer);
	snapshot_item_drop(writer);
}

// Returns 0 and the index, or a negative error; removes a failed file.
static int write_aside(struct store *s, struct state *state, uint64_t *index)
{
	char *path = path_of(s->directory, SNAPSHOT_UNFINISHED);
	struct snapshot_writer *writer;
	struct snapshot_view *view = snapshot_view_begin(state);
	*index = snapshot_view_index(view);
	int error = 0;
	bool needed = *index > s->kept[0];
	if (needed)
		error = snapshot_writer_open(path, SNAPSHOT_ITEMS_VERSION, *index, &writer);
	if (needed && error == 0)
		write_items(writer, view);
	snapshot_view_end(view); // before the sync: freeing of memory waits for it
	if (needed && error == 0)
		error = snapshot_writer_close(writer);
	if (error < 0)
		unlink(path);
	free(path);
	return error;
}

static int put_in_place(struct store *s, uint64_t index)
{
	char *aside = path_of(s->directory, SNAPSHOT_UNFINISHED), *path = snapshot_path(s, index);
	int error = CAN_FAIL(SNAPSHOT_RENAME, rename(aside, path)) < 0 ? -errno : 0;
	if (error == 0)
		error = directory_sync(s->directory);
	free(aside);
	free(path);
	return error;
}

static bool room_is_short(struct store *s)
{
	return journal_room_bytes(s->journal) < 2 * STORE_RESERVE_BYTES;
}

// With little room the older snapshot, and the log since it, are given up.
static void let_go(struct store *s, bool of_older)
{
	if (of_older)
		s->kept[1] = 0;
	snapshot_prune(s);
	journal_cut(s->journal, s->kept[1] ? s->kept[1] : of_older ? s->kept[0] : 0);
}

static int snapshot_take(struct store *s, struct state *state)
{
	uint64_t index;
	int error = write_aside(s, state, &index);
	if (error == -ENOSPC && s->kept[1] != 0) {
		let_go(s, true);
		error = write_aside(s, state, &index);
	}
	if (error < 0)
		return error;
	if (index > s->kept[0]) {
		error = put_in_place(s, index);
		if (error < 0)
			return error;
		s->kept[1] = s->kept[0];
		s->kept[0] = index;
	}
	let_go(s, room_is_short(s));
	return 0;
}

// The snapshot of a large fleet takes long to write: the next one waits until there is half as much log. Two intervals,
// and what comes while the second one's snapshot is written, have to fit into the log.
uint64_t snapshot_interval_bytes(const struct store *s)
{
	uint64_t least = (uint64_t)s->settings.snapshot_log_bytes,
		 most = (uint64_t)s->settings.map_bytes / 4;
	struct stat newest = {0};
	char *path = snapshot_path(s, s->kept[0]);
	bool is_there = s->kept[0] > 0 && stat(path, &newest) == 0;
	free(path);
	uint64_t half = is_there ? (uint64_t)newest.st_size / 2 : 0;
	half = half < most ? half : most;
	return half > least ? half : least;
}

int store_snapshot(struct store *s, struct state *state)
{
	if (s->settings.read_only)
		return -EROFS;
	pthread_mutex_lock(&s->taking);
	uint64_t appended = journal_appended_bytes(s->journal), before = s->kept[0];
	int error = snapshot_take(s, state);
	uint64_t index = s->kept[0], interval = snapshot_interval_bytes(s);
	pthread_mutex_unlock(&s->taking);
	if (error == 0) {
		atomic_store(&s->appended_mark, appended + interval);
		atomic_store(&s->counters.snapshot_index, index);
		atomic_fetch_add(&s->counters.snapshots, index > before);
		log_info("snapshot", "index=%lu", index);
		return 0;
	}
	// Retries when the log has grown by another eighth of that.
	atomic_store(&s->appended_mark, appended + interval / 8);
	atomic_fetch_add(&s->counters.snapshot_failures, 1);
	char quoted[512];
	log_error("snapshot-failed",
		"directory=%s error=\"%s\" consequence=\"the log keeps growing\"",
		log_quote(s->directory, quoted, sizeof quoted), error_text(error));
	return error;
}

int store_snapshot_open(struct store *s, struct state *state, uint64_t *index)
{
	int error = store_snapshot(s, state);
	if (error < 0)
		return error;
	pthread_mutex_lock(&s->taking); // what is kept is not removed meanwhile
	*index = s->kept[0];
	char *path = snapshot_path(s, *index);
	int file = *index ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	error = file >= 0 ? file : *index ? -errno : -ENODATA;
	free(path);
	pthread_mutex_unlock(&s->taking);
	return error;
}

static bool due(struct store *s)
{
	return journal_appended_bytes(s->journal) >= atomic_load(&s->appended_mark);
}

void snapshot_consider(struct store *s, bool starved)
{
	if (!starved && !due(s))
		return;
	pthread_mutex_lock(&s->waking);
	s->starved |= starved;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->waking);
}

// A snapshot of a large fleet takes seconds of a processor, and nobody waits for it.
#define SNAPSHOT_NICER 5

// Of this thread alone, as Linux has it.
static void be_nicer(void)
{
	errno = 0;
	if (CAN_FAIL(SNAPSHOT_NICE, nice(SNAPSHOT_NICER)) == -1 && errno != 0)
		log_warn("snapshot-priority",
			"error=\"%s\" consequence=\"snapshots take as much of the processors as "
			"others\"",
			error_text(-errno));
}

static void *snapshots_run(void *context)
{
	struct store *s = context;
	be_nicer();
	pthread_mutex_lock(&s->waking);
	while (!s->stop) {
		if (!s->starved && !due(s)) {
			pthread_cond_wait(&s->wake, &s->waking);
			continue;
		}
		s->starved = false;
		pthread_mutex_unlock(&s->waking);
		(void)store_snapshot(s, s->state); // it says and counts its own failure
		pthread_mutex_lock(&s->waking);
	}
	pthread_mutex_unlock(&s->waking);
	return NULL;
}

int store_start_snapshots(struct store *s, struct state *state)
{
	if (s->settings.read_only)
		return -EROFS;
	s->state = state;
	s->stop = false;
	int error =
		-CAN_REFUSE(SNAPSHOT_THREAD, pthread_create(&s->thread, NULL, snapshots_run, s));
	s->running = error == 0;
	if (s->running)
		(void)pthread_setname_np(s->thread, "snapshots");
	return error;
}

void store_stop_snapshots(struct store *s)
{
	if (!s->running)
		return;
	pthread_mutex_lock(&s->waking);
	s->stop = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->waking);
	pthread_join(s->thread, NULL);
	s->running = false;
}
