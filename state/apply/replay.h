// Replay: the batches that the log has, decoded and then applied. Decoding needs no state, so that a thread can be
// ahead with it.
#pragma once
#include "state/tables/state.h"
#include <stddef.h>
#include <stdint.h>

struct replay_batch;

// Takes a copy of a stored batch, and opens it. Any thread.
struct replay_batch *replay_batch_open(const void *batch, uint32_t size);
// Decodes it as far as it can be; whoever applies it hears of what is wrong. Once. Any thread.
void replay_batch_decode(struct replay_batch *);
// Backs memory for the nodes of a batch that is decoded; slots_backed: how many were so far. Any thread.
void replay_batch_back(const struct replay_batch *, const struct state *, uint32_t *slots_backed);
// Whether it was applied or not.
void replay_batch_free(struct replay_batch *);
size_t replay_batch_bytes(const struct replay_batch *); // of memory

// Checks, applies and publishes a batch, which is in the log under this index; decodes it first if nobody has. Skips a
// batch that the state already has. Once; after an error the state may only be destroyed. Returns 0, -ERROR_CORRUPT,
// -ERROR_VERSION or -ERROR_TABLE_FULL: of the first entry that cannot be decoded or applied.
int replay_batch_apply(struct replay_batch *, struct state *, uint64_t first_index);
