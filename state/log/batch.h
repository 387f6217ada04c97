// Entries that are made durable and become visible together. The bytes are documented at the top of batch.c.
#pragma once
#include "state/base/bytes.h"

struct batch_header {
	uint64_t first_index;
	uint32_t entries;
	uint32_t indexes; // by which all its entries together advance the state's index
};

#define BATCH_HEADER_BYTES 32u
// Of what a log holds: raised with every change of an entry that the program before it cannot read.
#define LOG_FORMAT 1u

// Fills the header of a batch whose entries follow it in the writer.
void batch_seal(struct bytes_writer *, const struct batch_header *);
// Checks magic, version, size and checksum; leaves the reader at the first entry.
// Returns 0, -ERROR_CORRUPT or -ERROR_VERSION.
int batch_open(struct bytes_reader *, struct batch_header *);
