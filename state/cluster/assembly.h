// Pieces of batches that came, in any order, until their batches are whole and it is their turn. One thread.
#pragma once
#include "state/cluster/log_piece.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assembly;

struct assembly *assembly_create(void);
void assembly_destroy(struct assembly *); // NULL is allowed
// Takes a copy of a piece. One that is there already is replaced: its leader's log was cut off before it.
void assembly_put(
	struct assembly *, const struct log_piece *, uint32_t piece, const uint8_t *bytes);
// The piece was deleted: its leader ended before the batch was whole.
void assembly_drop(struct assembly *, uint64_t first_index, uint32_t piece);
void assembly_clear(struct assembly *);
size_t assembly_bytes(const struct assembly *);
// What is kept of the batch of this index, if it is whole: valid until the next call. Forgets all that is before it.
const uint8_t *assembly_take(struct assembly *, uint64_t first_index, struct log_piece *);
