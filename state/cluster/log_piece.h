// A piece of a batch as the value of a key of the log. Little-endian:
//
//	u32 magic, u16 version, u16 pieces of the batch, u64 index of the batch's first entry, u32 indexes that
//	it takes, u32 bytes of the batch, u32 bytes of all its pieces, u64 epoch, u64 leadership that wrote it,
//	u64 index that the check is of (0: none), u64 check, then the bytes of this piece: all have the size of the
//	first, but the last
//
// Where all pieces have fewer bytes than the batch, it is packed (packing.h).
//
// A batch is cut because etcd takes no request of any size, and carries out several small ones sooner than a large one.
#pragma once
#include "state/base/limits.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_PIECE_BYTES (64u * 1024)
#define LOG_PIECE_HEADER_BYTES 60u
// No batch comes near it: what a damaged value can make a reader take.
#define LOG_BATCH_BYTES_MAX (64 * BATCH_BYTES_MAX)

struct log_piece {
	uint16_t pieces;
	uint64_t first_index;
	uint32_t indexes;
	uint32_t batch_bytes;
	uint32_t kept_bytes; // of all pieces
	uint64_t epoch, leadership;
	uint64_t check_index, check; // of the state before the batch
};

uint32_t log_pieces_of(uint32_t kept_bytes);
// Where a piece lies in what is kept of its batch.
size_t log_piece_at(uint32_t piece);
size_t log_piece_size(uint32_t kept_bytes, uint32_t piece);
// Writes the value of a piece, of LOG_PIECE_HEADER_BYTES + LOG_PIECE_BYTES at most; returns its size.
uint32_t log_piece_write(
	const struct log_piece *, uint32_t piece, const void *kept, uint8_t *value);
// Reads the value of a piece; *bytes points into it. Returns 0, -ERROR_CORRUPT or -ERROR_VERSION.
int log_piece_read(const void *value, uint32_t size, uint32_t piece, struct log_piece *,
	const uint8_t **bytes);
