// The stored values of a log of the first version (layout in lmdb_format.c), for reading and checking it.
#pragma once
#include "state/store/journal_batch.h"
#include <stddef.h>
#include <stdint.h>

#define LMDB_MAGIC 0x474f4c42u // "BLOG"
#define LMDB_VERSION 1u
#define LMDB_HEADER_BYTES 32u
// Offsets in the header.
#define LMDB_VERSION_AT 4u
#define LMDB_TRANSACTION_AT 8u

struct lmdb_value {
	uint32_t version;
	uint64_t transaction;
	struct journal_batch batch; // data points into the value
};

// Returns NULL, or the fault of the value stored under index.
const char *lmdb_value_read(const void *value, size_t size, uint64_t index, struct lmdb_value *);
// The refusal of a log that a newer program wrote.
int lmdb_complain_version(const struct complaint *, const char *path, uint32_t version);
