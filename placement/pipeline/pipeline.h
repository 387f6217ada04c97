// Everything between storing an evaluation and committing its plan: broker, blocked evaluations, scheduler threads,
// plan queue, and housekeeping. berthd starts it; it observes the state.
//
//	stored evaluation → broker → scheduler thread: view, scheduler → plan queue → applier → thread → ack
#pragma once
#include "placement/broker/blocked.h"
#include "placement/broker/broker.h"
#include "placement/pipeline/pipeline_settings.h"
#include "placement/pipeline/reschedules.h"
#include "placement/pipeline/timing.h"
#include "state/applier/applier.h"

struct pipeline;

// Before the applier starts; the state tells it of every change from then on.
struct pipeline *pipeline_create(const struct pipeline_settings *);
// Plans by priority, for applier_settings.next_plan.
struct command *pipeline_next_plan(void *context);
// After recovery: takes every pending and blocked evaluation over (B38), starts the threads.
int pipeline_start(struct pipeline *);
// Call in this order: pipeline_stop, applier_stop, pipeline_destroy. pipeline_stop begins no new work, ends every
// wait and returns at once; the applier's last answers and refusals let the threads end, and pipeline_destroy joins
// them.
void pipeline_stop(struct pipeline *);
void pipeline_destroy(struct pipeline *);

// Without threads: does everything due and processes one evaluation, on the calling thread; true when there was any.
bool pipeline_step(struct pipeline *);

void pipeline_pause_threads(struct pipeline *, bool); // B3

struct pipeline_stats {
	struct broker_stats broker;
	struct blocked_stats blocked;
	uint32_t plan_queue_depth;
	// broken: evaluations that failed because an invariant did not hold (check.h).
	// yielded: deliveries that ended after a pass, since another evaluation had its turn.
	uint64_t processed, nacked, yielded, broken, plans_submitted, plans_partial, nodes_rejected;
	struct pipeline_timing dequeue, send_ack, wait_for_index, submit_plan, update_eval,
		create_eval, reblock_eval, invoke[EVAL_TYPES];
};
void pipeline_stats(struct pipeline *, struct pipeline_stats *);
// Like reschedules_read().
uint32_t pipeline_reschedules(struct pipeline *, struct reschedule_gauge gauges[RESCHEDULES_MAX]);
// Like broker_delayed().
uint32_t pipeline_delayed(struct pipeline *, struct broker_delayed *, uint32_t room);
