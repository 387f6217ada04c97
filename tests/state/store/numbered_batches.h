// Batches whose contents follow from their index, so that a reader can tell whether each is the right one.
#pragma once
#include "state/store/journal.h"

enum { NUMBERED_BYTES_MOST = 40000 };

// Fills a batch; returns its size.
uint32_t numbered_batch(uint64_t index, uint8_t batch[NUMBERED_BYTES_MOST], uint32_t *entries);
// Appends the batch of *index and moves the index behind it. Returns what the append did.
int numbered_append(struct journal *, uint64_t *index);

struct numbered_seen {
	uint64_t batches, last_index;
	bool wrong; // one was not what was appended
};

// Walks from an index; last_index is that one when nothing follows. Returns what the walk did.
int numbered_walk(
	struct journal *, uint64_t index, struct numbered_seen *, const struct complaint *);
