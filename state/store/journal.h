// The log of batches on LMDB. Format at the top of journal.c.
#pragma once
#include "state/store/complaint.h"
#include "state/store/journal_format.h"
#include <stdbool.h>
#include <stdint.h>

struct journal;

struct journal_settings {
	const char *directory; // exists, or its parent does
	int64_t map_bytes;
	bool read_only, sync;
};

// Checks the structure of what is there before LMDB maps it. *out stays NULL, with success, when
// read_only and there is no log. One process at a time has a log open: the caller sees to that.
int journal_open(const struct journal_settings *, struct journal **out, const struct complaint *);
void journal_close(struct journal *); // NULL is allowed

// As command_log.append. One thread.
int journal_append(
	struct journal *, uint64_t first_index, uint32_t entries, const void *batch, uint32_t size);
// Batches that end at or before index are no longer needed: appends remove them as they go. Any
// thread.
void journal_cut(struct journal *, uint64_t index);
// Bytes that may still be appended before the map or the file system is full. Any thread.
int64_t journal_room_bytes(const struct journal *);
// Bytes that live batches take, and bytes appended since it was opened. Any thread.
uint64_t journal_live_bytes(const struct journal *);
uint64_t journal_appended_bytes(const struct journal *);

// Index of the first batch, 0 when there is none. Before the first append.
uint64_t journal_first_index(struct journal *);

typedef int journal_visit(void *context, const struct journal_batch *);
// Calls back for each batch that ends after index, in order. Refuses with -ERROR_CORRUPT when a
// batch is damaged or one is missing; an error of the visitor ends the walk and is returned as it
// is. Tells the journal which index its next append must have. Before the first append.
int journal_walk(
	struct journal *, uint64_t index, journal_visit *, void *context, const struct complaint *);
