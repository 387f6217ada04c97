// Plans that wait for the applier (row B40): by priority, then by age. Thread-safe. A plan is a command; its `done`
// is called by the applier, or at once when the queue is disabled.
#pragma once
#include "state/applier/command_queue.h"

struct plan_queue;

// Wakes the applier through the command queue. Created disabled.
struct plan_queue *plan_queue_create(struct command_queue *);
void plan_queue_destroy(struct plan_queue *);
// Disabling finishes waiting plans with OUTCOME_STOPPING.
void plan_queue_set_enabled(struct plan_queue *, bool);

// The caller owns the command until its `done`. Returns 0, or -ERROR_PLANS_OFF.
int plan_queue_push(struct plan_queue *, struct command *);
struct command *plan_queue_take(struct plan_queue *); // NULL: no plan waits
uint32_t plan_queue_depth(struct plan_queue *);
