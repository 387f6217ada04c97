// A scheduler thread (rows B1–B23, semantics §5.1): dequeues an evaluation, waits until the state is as new as it,
// lets the scheduler of its type work on it, and answers the broker.
#pragma once
#include "placement/pipeline/pipeline.h"

struct worker;

struct worker *worker_create(struct pipeline *, uint32_t number);
int worker_start(struct worker *, int cpu); // cpu < 0: not pinned
void worker_join(struct worker *);
void worker_destroy(struct worker *);
// One evaluation, on the calling thread, if one comes within timeout_ms. False: none came.
bool worker_turn(struct worker *, uint32_t timeout_ms);
