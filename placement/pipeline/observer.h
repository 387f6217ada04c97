// Tells the pipeline what changes of the state mean: new evaluations, room for blocked ones.
#pragma once
#include "placement/pipeline/pipeline_parts.h"

// state_observer.changed; the context is the pipeline. Applier thread.
void observe_changes(void *context, const struct state_change *, uint32_t count, uint64_t index);
// A claim on a node was given back without an allocation: what waits for room may have seen none for its sake. Under
// read lock; any thread.
void observe_dropped(struct pipeline *, uint32_t slot);
// B38: enqueues every pending evaluation and tracks every blocked one, or enqueues it when room came that it has not
// seen.
void take_over_evaluations(struct pipeline *);
