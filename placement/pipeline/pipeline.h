// Everything between "an evaluation was stored" and "its plan is committed": broker, blocked evaluations, scheduler
// workers, plan queue, and the caretaker that keeps them going. Started by berthd; observes the state.
//
//	stored evaluation → broker → worker: view, scheduler → plan queue → applier → worker → ack
#pragma once
#include "placement/broker/blocked.h"
#include "placement/broker/broker.h"
#include "placement/pipeline/reschedules.h"
#include "state/applier/applier.h"
#include "state/applier/command_queue.h"

struct pipeline;

#define PIPELINE_WORKERS_MAX 64u

struct pipeline_settings {
	struct state *state;
	struct command_queue *queue;
	const struct time_source *time;
	uint64_t seed;    // 0: from the system
	uint32_t workers; // scheduler threads; 0: none (tests call pipeline_step)
	const int *cpus;  // one per worker; NULL or negative: not pinned
	int64_t gc_interval_ns, eval_gc_ns, batch_eval_gc_ns, job_gc_ns, node_gc_ns,
		deployment_gc_ns; // 0: Nomad's (semantics §3)
	// Without threads: lets the applier work on the calling thread (applier_step); called while a command is
	// awaited. Then every sleep ends at once.
	void (*step)(void *context);
	void *step_context;
};

// Before the applier starts; the state tells it of every change from then on.
struct pipeline *pipeline_create(const struct pipeline_settings *);
// Plans in the order of their priority, for applier_settings.next_plan.
struct command *pipeline_next_plan(void *context);
// After recovery: takes every pending and blocked evaluation over (B38), starts the threads.
int pipeline_start(struct pipeline *);
// In this order: pipeline_stop, applier_stop, pipeline_destroy. The first begins no new work, ends every wait and
// returns at once; what the applier then answers or refuses lets the threads end, which the last one awaits.
void pipeline_stop(struct pipeline *);
void pipeline_destroy(struct pipeline *);

// Without threads: everything due done and one evaluation worked off, on the calling thread; true when there was
// something.
bool pipeline_step(struct pipeline *);

void pipeline_pause_workers(struct pipeline *, bool); // B3
// System garbage collection at once, whatever the ages (PUT /v1/system/gc). Waits until it is done.
int pipeline_force_gc(struct pipeline *);

// Powers of two of microseconds, as in applier.h (B23).
struct pipeline_timing {
	uint64_t us[32], us_sum;
};
static inline uint32_t timing_bucket(uint64_t us)
{
	uint32_t bucket = us ? 64 - (uint32_t)__builtin_clzll(us) : 0;
	return bucket < 32 ? bucket : 31;
}
struct pipeline_stats {
	struct broker_stats broker;
	struct blocked_stats blocked;
	uint32_t plan_queue_depth;
	// broken: evaluations that failed because an invariant did not hold (check.h).
	uint64_t processed, nacked, broken, plans_submitted, plans_partial, nodes_rejected;
	struct pipeline_timing dequeue, send_ack, wait_for_index, submit_plan, update_eval,
		create_eval, reblock_eval, invoke[EVAL_TYPES];
};
void pipeline_stats(struct pipeline *, struct pipeline_stats *);
// As reschedules_read().
uint32_t pipeline_reschedules(struct pipeline *, struct reschedule_gauge gauges[RESCHEDULES_MAX]);
// As broker_delayed().
uint32_t pipeline_delayed(struct pipeline *, struct broker_delayed *, uint32_t room);
