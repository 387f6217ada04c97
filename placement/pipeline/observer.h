// Tells the pipeline what changes of the state mean: new evaluations, room for blocked ones.
#pragma once
#include "placement/pipeline/pipeline_parts.h"

// state_observer.changed; the context is the pipeline. Applier thread.
void observe_changes(void *context, const struct state_change *, uint32_t count, uint64_t index);
// B38: enqueues every pending evaluation and tracks every blocked one, or enqueues it when room came that it has not
// seen.
void take_over_evaluations(struct pipeline *);
