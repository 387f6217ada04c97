// The bytes of a segment of the log (layout in segment_format.c), for writing and reading it.
#pragma once
#include "state/store/journal_batch.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Of the log as a whole; the first version is LMDB's (lmdb_format.h).
#define SEGMENT_VERSION 2u
// Records begin at multiples of it, the first one after the head.
#define SEGMENT_BLOCK_BYTES 4096u
#define SEGMENT_HEAD_BYTES 40u
#define RECORD_HEADER_BYTES 40u

struct segment_head {
	uint32_t version;
	uint64_t salt, size; // of the file
};

void segment_head_write(uint8_t to[static SEGMENT_HEAD_BYTES], const struct segment_head *);
// Returns NULL, or the fault of the head. A version that this program does not know is one.
const char *segment_head_read(const uint8_t from[static SEGMENT_HEAD_BYTES], struct segment_head *);

// Where a record stands: its checksums hold there and nowhere else.
struct record_place {
	uint64_t salt, sequence, offset;
};

struct record {
	uint64_t sequence;
	struct journal_batch
		batch;     // no entries: the log was closed here, and goes on with first_index
	uint32_t checksum; // of the batch
};

// What a batch of so many bytes takes in a segment.
uint64_t record_bytes(uint32_t size);
void record_header_write(uint8_t to[static RECORD_HEADER_BYTES], const struct record_place *,
	const struct journal_batch *);
// Whether a header is whole and was written for this place, whatever its sequence (place.sequence is not looked at).
// batch.data is what follows it, which may lie outside of what the caller has.
bool record_header_read(const uint8_t from[static RECORD_HEADER_BYTES], const struct record_place *,
	struct record *);
// Whether the batch is the one that the header names. batch.data is readable.
bool record_is_whole(const struct record *, const struct record_place *);
