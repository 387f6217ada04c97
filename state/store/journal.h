// The log of batches: segments (segments.h), and before them what the first version wrote (lmdb_log.h). How the files
// are named: at the top of journal.c.
#pragma once
#include "state/store/journal_batch.h"
#include <stdbool.h>
#include <stdint.h>

struct journal;

struct journal_settings {
	const char *directory; // this directory or its parent exists
	int64_t map_bytes;     // largest size of the log
	bool read_only, sync;
	bool may_lag; // store_settings
};

// *out stays NULL, with success, when read_only and there is no log. The caller makes sure that one process at a time
// has the log open.
int journal_open(const struct journal_settings *, struct journal **out, const struct complaint *);
void journal_close(struct journal *); // NULL is allowed

// Like command_log.append. One thread only.
int journal_append(
	struct journal *, uint64_t first_index, uint32_t entries, const void *batch, uint32_t size);
// Batches that end at or before index are no longer needed: their space is used again. Any thread.
void journal_cut(struct journal *, uint64_t index);
// Bytes of one batch that would still find room in the log and on the file system. Any thread.
int64_t journal_room_bytes(const struct journal *);
// Bytes of files that hold live batches, and bytes appended since the log was opened. Any thread.
uint64_t journal_live_bytes(struct journal *);
uint64_t journal_appended_bytes(const struct journal *);
// What a batch of so many bytes takes.
uint64_t journal_batch_bytes(uint32_t size);

// Of this process: ends of the log that were cut off, since their last write was not finished (0 or 1), and segments
// that were made while a batch waited. Any thread.
uint64_t journal_tails_cut(const struct journal *);
uint64_t journal_segments_late(const struct journal *);

// Index of the first batch, 0 when there is none. Before the first append.
uint64_t journal_first_index(struct journal *);
// Visits each batch that ends after index, in order. Refuses with -ERROR_CORRUPT when a batch is damaged or missing;
// returns a visitor's error, which ends the walk, as it is. Sets the index that the next append must have. Call
// before the first append. A log that may lag may also end before index; it goes on behind index then, and the batches
// between are missed by who needs them.
int journal_walk(
	struct journal *, uint64_t index, journal_visit *, void *context, const struct complaint *);
