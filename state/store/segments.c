#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "state/store/segments_private.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

// Sizes of new segments: a small log stays small, a large one has few files.
#define SEGMENT_BYTES_LEAST (1ull << 20)
#define SEGMENT_BYTES_MOST (16ull << 20)
#define SEGMENTS_LEAST 16u // that fit the largest size of the log
// Head, and the mark of a closed log.
#define SEGMENT_OVERHEAD_BYTES (2ull * SEGMENT_BLOCK_BYTES)

void segment_list_insert(struct segment_list *list, uint32_t at, struct segment *s)
{
	list->items = memory_resize(list->items, (list->count + 1) * sizeof(struct segment *));
	memmove(&list->items[at + 1], &list->items[at],
		(list->count - at) * sizeof(struct segment *));
	list->items[at] = s;
	list->count++;
}

struct segment *segment_list_remove(struct segment_list *list, uint32_t at)
{
	struct segment *s = list->items[at];
	list->count--;
	memmove(&list->items[at], &list->items[at + 1],
		(list->count - at) * sizeof(struct segment *));
	return s;
}

static void segment_list_close(struct segment_list *list)
{
	while (list->count > 0)
		segment_close(segment_list_remove(list, list->count - 1));
	free(list->items);
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

// Doubles the log until segments are large.
static uint64_t segment_bytes_wanted(const struct segments *g)
{
	uint64_t bytes =
		g->total_bytes > SEGMENT_BYTES_LEAST ? g->total_bytes : SEGMENT_BYTES_LEAST;
	bytes = least_of(bytes, least_of(SEGMENT_BYTES_MOST, g->bytes_max / SEGMENTS_LEAST));
	bytes = least_of(bytes, segment_file_bytes_max());
	return bytes / SEGMENT_BLOCK_BYTES * SEGMENT_BLOCK_BYTES;
}

int segments_create(const struct segments_settings *settings)
{
	struct segments g = {.bytes_max = (uint64_t)settings->bytes_max};
	struct segment *s;
	int error = segment_create(&(struct segment_settings){.directory = settings->directory,
					   .number = 1,
					   .size = segment_bytes_wanted(&g),
					   .prewrite = settings->sync,
					   .sync = settings->sync},
		&s);
	segment_close(s);
	return error;
}

// Makes a segment, without the lock meanwhile. Under the lock.
static int make_segment(struct segments *g, uint64_t size, bool prewrite, struct segment **out)
{
	struct segment_settings settings = {.directory = g->directory,
		.number = g->next_number++,
		.size = size,
		.prewrite = prewrite && g->sync,
		.sync = g->sync};
	*out = NULL;
	if (g->total_bytes + size > g->bytes_max || size > segment_file_bytes_max())
		return -ENOSPC;
	g->total_bytes += size;
	pthread_mutex_unlock(&g->lock);
	int error = segment_create(&settings, out);
	pthread_mutex_lock(&g->lock);
	if (error < 0)
		g->total_bytes -= size;
	return error;
}

// Whether there is a spare segment that most batches fit in. Under the lock.
static bool one_is_ready(const struct segments *g)
{
	uint64_t least = least_of(segment_bytes_wanted(g), SEGMENT_BYTES_LEAST);
	bool is_ready = false;
	for (uint32_t i = 0; i < g->spare.count; i++)
		is_ready |= g->spare.items[i]->size >= least;
	return is_ready;
}

// Under the lock. A failure is no loss: who needs a segment makes one, or says that there is no room.
static void keep_one_ready(struct segments *g)
{
	struct segment *s;
	g->is_wanted = false;
	if (one_is_ready(g))
		return;
	g->is_making = true;
	if (make_segment(g, segment_bytes_wanted(g), true, &s) == 0)
		segment_list_insert(&g->spare, g->spare.count, s);
	g->is_making = false;
	pthread_cond_broadcast(&g->changed);
}

static void *keeper_run(void *context)
{
	struct segments *g = context;
	pthread_mutex_lock(&g->lock);
	while (!g->is_stopping) {
		if (g->is_wanted)
			keep_one_ready(g);
		else
			pthread_cond_wait(&g->changed, &g->lock);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

static int keeper_start(struct segments *g)
{
	int error = -CAN_REFUSE(LOG_THREAD, pthread_create(&g->keeper, NULL, keeper_run, g));
	g->has_keeper = error == 0;
	if (g->has_keeper)
		(void)pthread_setname_np(g->keeper, "segments");
	return error;
}

int segments_open(const struct segments_settings *settings, struct segments **out,
	const struct complaint *complaint)
{
	struct segments *g = memory_take(sizeof *g);
	g->directory = text_copy(text_of(settings->directory));
	g->directory_fd = open(settings->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	g->bytes_max = (uint64_t)settings->bytes_max;
	g->read_only = settings->read_only;
	g->sync = settings->sync;
	g->next_number = 1;
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->changed, NULL);
	int error = segments_read_all(g, complaint);
	if (error == 0 && !g->read_only) {
		error = keeper_start(g);
		if (error < 0)
			complain(complaint, error, "cannot start the thread of the log %s: %s",
				g->directory, error_text(error));
	}
	if (error < 0)
		segments_close(g);
	*out = error < 0 ? NULL : g;
	return error;
}

void segments_close(struct segments *g)
{
	if (!g)
		return;
	if (g->has_keeper) {
		pthread_mutex_lock(&g->lock);
		g->is_stopping = true;
		pthread_cond_broadcast(&g->changed);
		pthread_mutex_unlock(&g->lock);
		CHECK(pthread_join(g->keeper, NULL) == 0);
	}
	segment_list_close(&g->live);
	segment_list_close(&g->spare);
	pthread_cond_destroy(&g->changed);
	pthread_mutex_destroy(&g->lock);
	if (g->directory_fd >= 0)
		close(g->directory_fd);
	free(g->directory);
	free(g);
}

// The spare segment that has waited longest of those that fit. Under the lock.
static struct segment *take_spare(struct segments *g, uint64_t bytes)
{
	for (uint32_t i = 0; i < g->spare.count; i++) {
		g->spare.items[i]->end = SEGMENT_BLOCK_BYTES;
		if (segment_fits(g->spare.items[i], bytes))
			return segment_list_remove(&g->spare, i);
	}
	return NULL;
}

// Gives the space of a spare segment back to the file system, for one that is larger. Under the lock.
static bool drop_spare(struct segments *g)
{
	if (g->spare.count == 0)
		return false;
	struct segment *s = segment_list_remove(&g->spare, 0);
	int error = unlink(s->path) < 0 ? -errno : 0;
	g->total_bytes -= error == 0 ? s->size : 0;
	segment_close(s);
	return error == 0;
}

// A spare segment, or one that is made at once, not written before: the file system's metadata then change with each
// append. Under the lock.
static int begin_segment(struct segments *g, uint64_t bytes, struct segment **out)
{
	uint64_t size = segment_bytes_wanted(g), least = bytes + SEGMENT_OVERHEAD_BYTES;
	size = size > least ? size : least;
	for (;;) {
		*out = take_spare(g, bytes);
		if (*out)
			return segment_wake(*out, false);
		int error = make_segment(g, size, false, out);
		if (error == 0)
			atomic_fetch_add(&g->made_late, 1);
		if (error != -ENOSPC)
			return error;
		if (size > least) // what room is left may be enough for a smaller one
			size = size / 2 / SEGMENT_BLOCK_BYTES * SEGMENT_BLOCK_BYTES;
		else if (g->is_making)
			pthread_cond_wait(&g->changed, &g->lock);
		else if (!drop_spare(g))
			return -ENOSPC;
		size = size > least ? size : least;
	}
}

// The segment that the next record goes to; is_new: it has none yet, and is in no list.
static int choose_segment(struct segments *g, uint64_t bytes, struct segment **out, bool *is_new)
{
	int error = 0;
	pthread_mutex_lock(&g->lock);
	*out = g->live.count > 0 ? g->live.items[g->live.count - 1] : NULL;
	*is_new = !*out || !segment_fits(*out, bytes);
	if (*is_new)
		error = begin_segment(g, bytes, out);
	pthread_mutex_unlock(&g->lock);
	return error;
}

// The keeper rests until the first append: until then it is not known what may be used again.
static void wake_keeper(struct segments *g)
{
	pthread_mutex_lock(&g->lock);
	g->is_wanted = true;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

// A segment that the first append failed on waits at the front, so that another try goes to the same place.
static void keep_segment(struct segments *g, struct segment *s, bool has_record)
{
	pthread_mutex_lock(&g->lock);
	if (has_record && g->live.count > 0)
		segment_rest(g->live.items[g->live.count - 1]);
	if (has_record)
		segment_list_insert(&g->live, g->live.count, s);
	else
		segment_list_insert(&g->spare, 0, s);
	pthread_mutex_unlock(&g->lock);
	wake_keeper(g);
}

int segments_append(struct segments *g, const struct journal_batch *batch)
{
	struct segment *s;
	bool is_new, is_begun = g->was_appended;
	int error = choose_segment(g, record_bytes(batch->size), &s, &is_new);
	if (error < 0) {
		if (s)
			keep_segment(g, s, false);
		return error;
	}
	if (is_new) {
		s->sequence = g->next_sequence;
		s->first_index = batch->first_index;
		s->end = SEGMENT_BLOCK_BYTES;
	}
	error = segment_append(s, batch, g->sync);
	if (error == 0) {
		g->next_index = batch->first_index + batch->entries;
		g->next_sequence += is_new;
		g->was_appended = true;
	}
	if (is_new)
		keep_segment(g, s, error == 0);
	else if (!is_begun)
		wake_keeper(g);
	return error;
}

void segments_mark_closed(struct segments *g, uint64_t next_index)
{
	const struct journal_batch mark = {.first_index = next_index};
	struct segment *s = g->live.count > 0 ? g->live.items[g->live.count - 1] : NULL;
	int error = s ? segment_append(s, &mark, g->sync) : 0;
	if (error < 0) // it only tells a damaged end of the log from a torn one
		log_warn("log-not-closed", "index=%lu error=\"%s\"", next_index, error_text(error));
}

void segments_cut(struct segments *g, uint64_t index)
{
	pthread_mutex_lock(&g->lock);
	while (g->live.count > 1 && g->live.items[1]->first_index <= index + 1 &&
		g->live.items[1]->end > SEGMENT_BLOCK_BYTES)
		segment_list_insert(&g->spare, g->spare.count, segment_list_remove(&g->live, 0));
	pthread_mutex_unlock(&g->lock);
}

uint32_t segments_count(const struct segments *g)
{
	return g->opened;
}

uint64_t segments_first_index(struct segments *g)
{
	pthread_mutex_lock(&g->lock);
	const struct segment *s = g->live.count > 0 ? g->live.items[0] : NULL;
	uint64_t index = s && s->end > SEGMENT_BLOCK_BYTES ? s->first_index : 0;
	pthread_mutex_unlock(&g->lock);
	return index;
}

uint64_t segments_next_index(const struct segments *g)
{
	return g->next_index;
}

bool segments_tail_was_cut(const struct segments *g)
{
	return g->tail_was_cut;
}

uint64_t segments_made_late(const struct segments *g)
{
	return atomic_load_explicit(&g->made_late, memory_order_relaxed);
}

static uint64_t list_bytes(const struct segment_list *list)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < list->count; i++)
		bytes += list->items[i]->size;
	return bytes;
}

uint64_t segments_live_bytes(struct segments *g)
{
	pthread_mutex_lock(&g->lock);
	uint64_t bytes = list_bytes(&g->live);
	if (g->live.count > 0) {
		const struct segment *s = g->live.items[g->live.count - 1];
		bytes -= s->size - s->end;
	}
	pthread_mutex_unlock(&g->lock);
	return bytes;
}

int64_t segments_room_bytes(struct segments *g)
{
	struct statvfs fs;
	pthread_mutex_lock(&g->lock);
	uint64_t live = list_bytes(&g->live), spare = list_bytes(&g->spare);
	pthread_mutex_unlock(&g->lock);
	int64_t room = (int64_t)g->bytes_max - (int64_t)live;
	int64_t file = (int64_t)segment_file_bytes_max();
	room = file < room ? file : room;
	if (fstatvfs(g->directory_fd, &fs) == 0) {
		int64_t disk = (int64_t)(fs.f_bavail * fs.f_frsize + spare);
		room = disk < room ? disk : room;
	}
	room -= (int64_t)(SEGMENT_OVERHEAD_BYTES + SEGMENT_BLOCK_BYTES);
	return room > 0 ? room : 0;
}
