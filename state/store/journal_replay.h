// Replays the log: one thread reads, checks and decodes, and the calling thread applies.
#pragma once
#include "state/apply/replay.h"
#include "state/store/journal.h"

// Applies a batch, whose data is gone; the next one comes after the return.
typedef int journal_apply(void *context, const struct journal_batch *, struct replay_batch *);
// As journal_walk: the same batches in the same order, the same error and sentence, which come when every batch before
// them is applied. An error of apply ends it, and the sentence is the caller's.
// state: the one that apply changes.
int journal_replay(struct journal *, uint64_t index, struct state *, journal_apply *, void *context,
	const struct complaint *);
