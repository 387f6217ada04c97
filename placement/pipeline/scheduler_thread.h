// A scheduler thread (rows B1–B23, docs/spec/evaluations.md): dequeues an evaluation, waits until the state has
// reached its index, runs the scheduler of its type, and answers the broker.
#pragma once
#include "placement/pipeline/pipeline_parts.h"

struct scheduler_thread;

struct scheduler_thread *scheduler_thread_create(struct pipeline *, uint32_t number);
int scheduler_thread_start(struct scheduler_thread *, int cpu); // cpu < 0: not pinned
void scheduler_thread_join(struct scheduler_thread *);
void scheduler_thread_destroy(struct scheduler_thread *);
// Processes one evaluation on the calling thread, if one comes within timeout_ms. False: none came.
bool scheduler_thread_turn(struct scheduler_thread *, uint32_t timeout_ms);
