// The log of batches on LMDB. Format at the top of journal.c.
#pragma once
#include "state/store/complaint.h"
#include "state/store/journal_format.h"
#include <stdbool.h>
#include <stdint.h>

struct journal;

struct journal_settings {
	const char *directory; // this directory or its parent exists
	int64_t map_bytes;
	bool read_only, sync;
};

// Checks the structure of an existing log before LMDB maps it. *out stays NULL, with success, when read_only and
// there is no log. The caller makes sure that one process at a time has the log open.
int journal_open(const struct journal_settings *, struct journal **out, const struct complaint *);
void journal_close(struct journal *); // NULL is allowed

// Like command_log.append. One thread only.
int journal_append(
	struct journal *, uint64_t first_index, uint32_t entries, const void *batch, uint32_t size);
// Batches that end at or before index are no longer needed; later appends remove them. Any thread.
void journal_cut(struct journal *, uint64_t index);
// Bytes that may still be appended before the map or the file system is full. Any thread.
int64_t journal_room_bytes(const struct journal *);
// Bytes of live batches, and bytes appended since the log was opened. Any thread.
uint64_t journal_live_bytes(const struct journal *);
uint64_t journal_appended_bytes(const struct journal *);

// Index of the first batch, 0 when there is none. Before the first append.
uint64_t journal_first_index(struct journal *);

typedef int journal_visit(void *context, const struct journal_batch *);
// Visits each batch that ends after index, in order. Refuses with -ERROR_CORRUPT when a batch is damaged or missing;
// returns a visitor's error, which ends the walk, as it is. Sets the index that the next append must have. Call
// before the first append.
int journal_walk(
	struct journal *, uint64_t index, journal_visit *, void *context, const struct complaint *);
