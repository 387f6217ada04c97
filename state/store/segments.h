// The segments of a log. Each is used again when nothing needs what it holds: live ones, in their order, the last of
// which is written to; spare ones, the one that has waited longest next. A thread keeps a spare one ready.
//
//	file segment-NUMBER, in no order; a number is never given again while the log is open
//
// The sequence of a segment's records says where it stands. Those whose sequences follow each other up to the newest
// are the log; what is left of older ones is spare.
#pragma once
#include "state/store/journal_batch.h"
#include <stdbool.h>
#include <stdint.h>

struct segments;

struct segments_settings {
	const char *directory;
	int64_t bytes_max; // of all files
	bool read_only, sync;
};

// Makes the first segment of a new log in a directory of its own.
int segments_create(const struct segments_settings *);
// Opens what the directory has, which may be nothing. Finds the end of the log; a last record that a power cut tore,
// which nobody was told of, is left out.
int segments_open(const struct segments_settings *, struct segments **, const struct complaint *);
void segments_close(struct segments *); // NULL is allowed

uint32_t segments_count(const struct segments *); // files that were there
// Index of the first batch, 0 when there is none. Any thread.
uint64_t segments_first_index(struct segments *);
// Index after the newest batch, 0 when there is none. As append.
uint64_t segments_next_index(const struct segments *);
bool segments_tail_was_cut(const struct segments *);

// Visits each batch from w->expected on, which a batch must begin at or the newest end before. Before the first append.
int segments_walk(struct segments *, struct journal_walker *);

// Like journal_append; one thread. What it takes is added to *taken.
int segments_append(struct segments *, const struct journal_batch *);
// Notes that the log ends before this index and is closed.
void segments_mark_closed(struct segments *, uint64_t next_index);
// Lets go of segments whose batches all end at or before index. Any thread.
void segments_cut(struct segments *, uint64_t index);

// Any thread.
int64_t segments_room_bytes(struct segments *);
uint64_t segments_live_bytes(struct segments *);
uint64_t segments_made_late(const struct segments *); // while a batch waited
