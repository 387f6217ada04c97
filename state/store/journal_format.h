// The stored values of the log (layout in journal_format.c), for writing, walking and checking it.
#pragma once
#include "state/store/complaint.h"
#include <stddef.h>
#include <stdint.h>

#define JOURNAL_MAGIC 0x474f4c42u // "BLOG"
#define JOURNAL_VERSION 1u
#define JOURNAL_HEADER_BYTES 32u
// Offsets in the header.
#define JOURNAL_VERSION_AT 4u
#define JOURNAL_TRANSACTION_AT 8u

struct journal_batch {
	uint64_t first_index;
	uint32_t entries, size;
	const void *data; // into the map; valid during the call
};

struct journal_value {
	uint32_t version;
	uint64_t transaction;
	struct journal_batch batch; // data points into the value
};

// Returns NULL, or the fault of the value stored under index.
const char *journal_value_read(
	const void *value, size_t size, uint64_t index, struct journal_value *);
void journal_header_write(uint8_t to[static JOURNAL_HEADER_BYTES], uint64_t transaction,
	const struct journal_batch *);
// The refusal of a log that a newer program wrote.
int journal_complain_version(const struct complaint *, const char *path, uint32_t version);
