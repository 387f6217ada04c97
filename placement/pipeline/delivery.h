// One evaluation in the hands of a worker, from dequeue to ack. What the scheduler stores of it goes to the applier
// without being waited for: a worker takes up the next evaluation while the outcome of this one becomes durable,
// and only then is it acked. If anything of it was refused, it is nacked.
#pragma once
#include "placement/pipeline/pipeline.h"

struct delivery;

struct delivery *delivery_begin(struct pipeline *, const struct uuid *eval, uint64_t token);
// Takes the evaluations over. 0: on their way.
int delivery_store(struct delivery *, struct evaluation **, uint32_t count);
// The worker is done with it: acked or nacked once nothing is on its way any more.
void delivery_end(struct delivery *, int error);
