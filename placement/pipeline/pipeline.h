// Everything between "an evaluation was stored" and "its plan is committed": broker, blocked evaluations, scheduler
// workers, plan queue, and the watcher that keeps them going. Started by berthd; observes the state.
//
//	stored evaluation → broker → worker: view, scheduler → plan queue → applier → worker → ack
#pragma once
#include "placement/pipeline/blocked.h"
#include "placement/pipeline/broker.h"
#include "state/applier.h"
#include "state/command_queue.h"

struct pipeline;

struct pipeline_settings {
	struct state *state;
	struct command_queue *queue;
	const struct time_source *time;
	uint64_t seed;    // 0: from the system
	uint32_t workers; // scheduler threads; 0: none (tests call pipeline_step)
	const int *cpus;  // one per worker; NULL or negative: not pinned
	int64_t gc_interval_ns, eval_gc_ns, batch_eval_gc_ns, job_gc_ns,
		node_gc_ns; // 0: Nomad's (semantics §3)
};

struct pipeline *pipeline_create(const struct pipeline_settings *);
// Plans in the order of their priority, for applier_settings.next_plan.
struct command *pipeline_next_plan(void *context);
// After recovery: takes every pending and blocked evaluation over (B38), starts the threads.
int pipeline_start(struct pipeline *);
void pipeline_stop(struct pipeline *);
void pipeline_destroy(struct pipeline *);

// Without threads: one evaluation worked off and everything due done, on the calling thread; true when there was
// something. Tests call applier_step between.
bool pipeline_step(struct pipeline *);

void pipeline_pause_workers(struct pipeline *, bool); // B3
// System garbage collection at once, whatever the ages (PUT /v1/system/gc). Waits until it is done.
int pipeline_force_gc(struct pipeline *);

struct pipeline_stats {
	struct broker_stats broker;
	struct blocked_stats blocked;
	uint32_t plan_queue_depth;
	uint64_t processed, nacked, plans_submitted, plans_partial, nodes_rejected;
	// Histograms, powers of two of microseconds, as in applier.h (B23).
	uint64_t dequeue_us[32], invoke_us[EVAL_TYPES][32], submit_plan_us[32],
		wait_for_index_us[32];
};
void pipeline_stats(struct pipeline *, struct pipeline_stats *);
