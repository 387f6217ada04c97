#include "tests/cluster/log_source.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/store/files.h"
#include "state/store/journal.h"
#include "state/store/store_private.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAP_BYTES (16ll << 30)

void log_source_add(struct log_source *s, struct logged_batch batch)
{
	CHECK(s->count == 0 || batch.first_index > logged_batch_last(&s->batches[s->count - 1]));
	s->batches = memory_one_more(s->batches, s->count, &s->capacity, sizeof s->batches[0]);
	s->batches[s->count++] = batch;
}

void log_source_drop_last(struct log_source *s)
{
	CHECK(s->count > 0);
	free(s->batches[--s->count].bytes);
}

void log_source_free(struct log_source *s)
{
	while (s->count > 0)
		log_source_drop_last(s);
	free(s->batches);
	free(s->snapshot);
	*s = (struct log_source){0};
}

uint32_t log_source_after(const struct log_source *s, uint64_t index)
{
	uint32_t low = 0, high = s->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (logged_batch_last(&s->batches[middle]) > index)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

uint64_t log_source_last(const struct log_source *s)
{
	return s->count > 0 ? logged_batch_last(&s->batches[s->count - 1]) : s->snapshot_index;
}

static int keep_batch(void *context, const struct journal_batch *batch)
{
	struct logged_batch kept = {.first_index = batch->first_index,
		.indexes = batch->entries,
		.size = batch->size,
		.bytes = memory_resize(NULL, batch->size)};

	memcpy(kept.bytes, batch->data, batch->size);
	log_source_add(context, kept);
	return 0;
}

// The oldest snapshot that the log goes on from.
static int choose_beginning(
	struct log_source *s, const char *directory, const struct complaint *complaint)
{
	struct snapshot_list list;
	uint64_t first = s->count > 0 ? s->batches[0].first_index : UINT64_MAX;

	if (first == 1)
		return 0;
	int error = snapshot_list_read(directory, &list);
	if (error != 0)
		return complain(complaint, error, "%s: %s", directory, error_text(error));
	for (uint32_t i = list.count; i-- > 0 && s->snapshot_index == 0;)
		if (list.indexes[i] + 1 >= first || i == 0)
			s->snapshot_index = list.indexes[i];
	free(list.indexes);
	if (s->snapshot_index == 0)
		return s->count == 0 ? 0
				     : complain(complaint, -ERROR_CORRUPT,
					       "there is no snapshot before index %lu", first);
	char name[40];
	snprintf(name, sizeof name, "snapshot-%lu", s->snapshot_index);
	s->snapshot = path_of(directory, name);
	return 0;
}

// A walk begins where it is told to, so what the log has left is asked for.
static int walk_whole(
	struct log_source *s, struct journal *journal, const struct complaint *complaint)
{
	uint64_t first = journal_first_index(journal);

	return first == 0 ? 0 : journal_walk(journal, first - 1, keep_batch, s, complaint);
}

int log_source_read(struct log_source *s, const char *directory, const struct complaint *complaint)
{
	struct journal_settings settings = {
		.directory = directory, .map_bytes = MAP_BYTES, .read_only = true};
	struct journal *journal;
	int error = journal_open(&settings, &journal, complaint);

	CHECK(s->count == 0);
	if (error != 0)
		return error;
	if (journal)
		error = walk_whole(s, journal, complaint);
	journal_close(journal);
	return error != 0 ? error : choose_beginning(s, directory, complaint);
}
