// One evaluation in the hands of a scheduler thread, from dequeue to ack. Nobody waits for what the scheduler stores of
// it: the thread takes up the next evaluation while the outcome of this one becomes durable. Then it is acked, or
// nacked if the applier refused anything of it.
#pragma once
#include "placement/pipeline/pipeline_parts.h"

struct delivery;

struct delivery *delivery_begin(struct pipeline *, const struct uuid *eval, uint64_t token);
// Takes the evaluations over. 0: on their way.
int delivery_store(struct delivery *, struct evaluation **, uint32_t count);
// The thread is done with it: it is acked or nacked once nothing is on its way any more.
void delivery_end(struct delivery *, int error);
