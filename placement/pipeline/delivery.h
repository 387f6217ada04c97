// One evaluation at a scheduler thread, from dequeue to ack. The thread does not wait for what the scheduler stores:
// it takes the next evaluation while the outcome of this one becomes durable. Then the evaluation is acked, or nacked
// if the applier refused any of its commands that are needed.
#pragma once
#include "placement/pipeline/pipeline_parts.h"

struct delivery;

struct delivery *delivery_begin(struct pipeline *, const struct evaluation *, uint64_t token);
// Takes the evaluations over. 0: they were sent. If they are not needed, a refusal is logged and nacks nothing.
int delivery_store(struct delivery *, struct evaluation **, uint32_t count, bool are_needed);
// The thread is done with the evaluation: it is acked or nacked once every command was answered.
void delivery_end(struct delivery *, int error);
