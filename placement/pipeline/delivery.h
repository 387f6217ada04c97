// One evaluation at a scheduler thread, from dequeue to ack. The thread does not wait for what the scheduler stores:
// it takes the next evaluation while the outcome of this one becomes durable. Then the evaluation is acked, or nacked
// if the applier refused any of its commands that are needed.
#pragma once
#include "placement/pipeline/pipeline_parts.h"

struct delivery;

struct delivery *delivery_begin(struct pipeline *, const struct evaluation *, uint64_t token);
enum delivery_store {
	DELIVERY_NEEDS = 1,   // without it a refusal is logged and nacks nothing
	DELIVERY_UPDATES = 2, // the outcome of the evaluation is among them: its time is measured
};
// Takes the evaluations over. store: bits of enum delivery_store. 0: they were sent.
int delivery_store(struct delivery *, struct evaluation **, uint32_t count, uint32_t store);
// The thread is done with the evaluation: it is acked or nacked once every command was answered. dropped_seen: claims
// that had been given back in vain when it looked at nodes last (claims.h). If there are more by then and the job waits
// for room, it does so maybe for their sake: it looks again.
void delivery_end(struct delivery *, int error, uint64_t dropped_seen);
