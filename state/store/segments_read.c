// Reading the segments of a log: their order, the end, and a walk over all batches.
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/listing/listing.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/store/segments_private.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// PREFIX and a number without leading zeros.
static bool numbered_name(const char *name, const char *prefix, uint64_t *number)
{
	char again[40], *end;
	size_t size = strlen(prefix);
	if (strncmp(name, prefix, size) != 0)
		return false;
	errno = 0;
	*number = strtoul(name + size, &end, 10);
	snprintf(again, sizeof again, "%s%lu", prefix, *number);
	return errno == 0 && strcmp(again, name) == 0;
}

static int open_numbered(struct segments *g, uint64_t number, const struct complaint *complaint)
{
	struct segment *s;
	int error = segment_open(g->directory, number, &s, complaint);
	if (error < 0)
		return error;
	segment_list_insert(&g->spare, g->spare.count, s);
	g->opened++;
	g->total_bytes += s->size;
	g->next_number = number >= g->next_number ? number + 1 : g->next_number;
	return 0;
}

static int open_all(struct segments *g, const struct complaint *complaint)
{
	DIR *files = FAILPOINT(LOG_LIST) ? NULL : opendir(g->directory);
	const struct dirent *entry;
	uint64_t number;
	int error = 0, unlisted = files ? 0 : -errno;
	while (files && error == 0 && (entry = LISTING_NEXT(LOG_NEXT, files, &unlisted)) != NULL) {
		if (numbered_name(entry->d_name, "segment-", &number))
			error = open_numbered(g, number, complaint);
		else if (!g->read_only && numbered_name(entry->d_name, "unfinished-", &number))
			(void)unlinkat(dirfd(files), entry->d_name, 0); // its making was cut off
	}
	if (files)
		closedir(files);
	// Without a segment that is there the log would be another one.
	if (unlisted != 0)
		return complain(complaint, unlisted, "cannot read the log %s: %s", g->directory,
			error_text(unlisted));
	return error;
}

static int by_sequence(const void *a, const void *b)
{
	const struct segment *const *x = a, *const *y = b;
	if ((*x)->sequence != (*y)->sequence)
		return (*x)->sequence < (*y)->sequence ? -1 : 1;
	return (*x)->number < (*y)->number ? -1 : 1;
}

// Those whose sequences follow each other up to the newest are live.
static int order_segments(struct segments *g, const struct complaint *complaint)
{
	struct segment_list *spare = &g->spare;
	if (spare->count == 0)
		return 0;
	qsort(spare->items, spare->count, sizeof *spare->items, by_sequence);
	uint64_t newest = spare->items[spare->count - 1]->sequence;
	g->next_sequence = newest + 1;
	while (newest > 0 && spare->count > 0 &&
		spare->items[spare->count - 1]->sequence == newest - g->live.count) {
		struct segment *s = segment_list_remove(spare, spare->count - 1);
		s->end = s->size;
		segment_list_insert(&g->live, 0, s);
		if (s->sequence == 1)
			break;
	}
	const struct segment *rest = spare->count > 0 ? spare->items[spare->count - 1] : NULL;
	if (rest && rest->sequence > 0 && rest->sequence == g->live.items[0]->sequence)
		return complain(complaint, -ERROR_CORRUPT,
			"the log %s has two files for one place: %s and %s; %s", g->directory,
			rest->path, g->live.items[0]->path, JOURNAL_REMEDY);
	return 0;
}

// The last record of the newest segment is where the log ends. A write that was not finished left either its header
// without all of its batch, which shows here, or nothing that could be told from what was there before.
static int find_end(struct segments *g, struct segment *s)
{
	struct record record, last = {0};
	uint64_t last_at = 0;
	int found = 0;
	for (uint64_t at = SEGMENT_BLOCK_BYTES; at < s->size && found >= 0;
		at += SEGMENT_BLOCK_BYTES) {
		found = segment_peek(s, at, &record);
		if (found > 0 && record.sequence == s->sequence) {
			last = record;
			last_at = at;
		}
	}
	s->end = SEGMENT_BLOCK_BYTES;
	int is_whole = found < 0 ? found : last_at ? segment_peek_whole(s, last_at, &last) : 0;
	if (is_whole < 0 || last_at == 0)
		return is_whole;
	g->tail_was_cut = !is_whole;
	g->next_index = last.batch.first_index + (is_whole ? last.batch.entries : 0);
	bool is_batch = is_whole && last.batch.entries > 0;
	s->end = last_at + (is_batch ? record_bytes(last.batch.size) : 0);
	if (!is_whole)
		log_warn("log-tail-cut",
			"file=%s at=%lu index=%lu bytes=%u reason=\"the last write was not "
			"finished, and not acknowledged\"",
			s->path, last_at, last.batch.first_index, last.batch.size);
	return 0;
}

int segments_read_all(struct segments *g, const struct complaint *complaint)
{
	g->next_sequence = 1;
	int error = open_all(g, complaint);
	if (error == 0)
		error = order_segments(g, complaint);
	if (error < 0 || g->live.count == 0)
		return error;
	struct segment *newest = g->live.items[g->live.count - 1];
	error = segment_wake(newest, g->read_only);
	if (error == 0)
		error = find_end(g, newest);
	if (error < 0)
		complain(complaint, error, "cannot read the log %s: %s", newest->path,
			error_text(error));
	return error;
}

static bool is_newest(const struct segments *g, const struct segment *s)
{
	return s == g->live.items[g->live.count - 1];
}

// What is wrong with the record at an offset, where the batch of the expected index should be; NULL: it is that one.
static const char *record_fault(const struct segment *s, const struct segment_content *content,
	uint64_t at, uint64_t expected, struct record *record)
{
	if (!segment_record(s, content, at, record))
		return "there is none where it should begin";
	if (record->batch.entries == 0)
		return "the log was closed before it, and yet goes on";
	if (record->batch.first_index != expected)
		return "another one is in its place";
	return segment_record_is_whole(s, record, at) ? NULL : "its checksum does not match";
}

// Visits the batches of one segment up to the one that the next segment begins with.
static int walk_segment(struct segments *g, uint32_t which, const struct segment_content *content,
	uint64_t at, struct journal_walker *w)
{
	const struct segment *s = g->live.items[which];
	uint64_t end_index = is_newest(g, s) ? UINT64_MAX : g->live.items[which + 1]->first_index;
	struct record record;
	while (w->expected < end_index && at < s->end) {
		const char *wrong = record_fault(s, content, at, w->expected, &record);
		if (wrong)
			return journal_complain_damaged(w, w->expected, wrong);
		w->expected += record.batch.entries;
		at += record_bytes(record.batch.size);
		int error = w->visit(w->context, &record.batch);
		if (error < 0)
			return error;
	}
	return 0;
}

// The offset of the record that begins with the expected index, 0 when there is none.
static uint64_t find_record(
	const struct segment *s, const struct segment_content *content, uint64_t expected)
{
	struct record record;
	for (uint64_t at = SEGMENT_BLOCK_BYTES; at < s->end; at += SEGMENT_BLOCK_BYTES)
		if (segment_record(s, content, at, &record) &&
			record.batch.first_index == expected && record.batch.entries > 0)
			return at;
	return 0;
}

static int read_segment(struct segments *g, uint32_t which, struct segment_content *content,
	const struct journal_walker *w)
{
	struct segment *s = g->live.items[which];
	int error = segment_wake(s, true);
	if (which + 1 < g->live.count)
		segment_will_be_read(g->live.items[which + 1]);
	if (error == 0)
		error = segment_read(s, content);
	if (error < 0)
		return complain(w->complaint, error, "cannot read the log %s: %s", s->path,
			error_text(error));
	if (!is_newest(g, s))
		segment_rest(s);
	return 0;
}

static int walk_from(struct segments *g, uint32_t which, struct segment_content *content,
	struct journal_walker *w)
{
	int error = read_segment(g, which, content, w);
	if (error < 0)
		return error;
	uint64_t at = find_record(g->live.items[which], content, w->expected);
	if (at == 0)
		return complain(w->complaint, -ERROR_CORRUPT,
			"the log %s has no batch of index %lu and does not end there: the index "
			"after its newest is %lu; %s",
			w->path, w->expected, g->next_index, JOURNAL_REMEDY);
	error = walk_segment(g, which, content, at, w);
	while (error == 0 && ++which < g->live.count) {
		error = read_segment(g, which, content, w);
		if (error == 0)
			error = walk_segment(g, which, content, SEGMENT_BLOCK_BYTES, w);
	}
	return error;
}

int segments_walk(struct segments *g, struct journal_walker *w)
{
	struct segment_content content = {0};
	uint32_t which = 0;
	if (g->next_index == 0 || w->expected == g->next_index)
		return 0;
	if (w->expected < g->live.items[0]->first_index)
		return journal_complain_gap(w, g->live.items[0]->first_index);
	while (which + 1 < g->live.count && g->live.items[which + 1]->first_index <= w->expected)
		which++;
	int error = walk_from(g, which, &content, w);
	free(content.data);
	return error;
}
