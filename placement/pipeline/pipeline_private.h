// What the parts of the pipeline know of each other.
#pragma once
#include "placement/pipeline/pipeline.h"
#include "placement/pipeline/submitter.h"
#include <pthread.h>
#include <stdatomic.h>

#define PIPELINE_DELIVERY_LIMIT 3u

struct timing {
	_Atomic uint64_t us[32], us_sum;
};
void timing_add(struct timing *, const struct time_source *, uint64_t began_ns);

struct pipeline_counters {
	_Atomic uint64_t processed, nacked, broken, plans_submitted, plans_partial, nodes_rejected;
	struct timing dequeue, send_ack, wait_for_index, submit_plan, update_eval, create_eval,
		reblock_eval, invoke[EVAL_TYPES];
};

struct worker;
struct caretaker;
struct reschedules;

struct pipeline {
	struct pipeline_settings settings; // intervals filled in
	struct state_observer observer;
	struct broker *broker;
	struct blocked *blocked;
	struct plan_queue *plans;
	struct submitter *submitter;
	struct caretaker *caretaker;
	struct reschedules *reschedules;
	struct worker *workers[PIPELINE_WORKERS_MAX];
	uint32_t worker_count; // at least one, also without threads
	pthread_mutex_t mutex; // of the pause
	pthread_cond_t unpaused;
	bool is_paused;
	pthread_mutex_t enabling;
	bool is_enabled, is_stopped; // under enabling: the broker; for good
	struct pipeline_counters counters;
};

// Enables the broker, unless an operator has paused it, or disables it: enabled, everything that is stored is taken
// over; disabled, everything is forgotten. True when that changed something.
bool pipeline_follow_config(struct pipeline *);
// Returns when the workers are not paused (or the pipeline stops).
void pipeline_await_unpaused(struct pipeline *);

bool pipeline_has(struct pipeline *, const struct uuid *eval); // in the state
// Stores evaluations, which are taken over whatever the result.
int pipeline_store(struct pipeline *, struct evaluation **, uint32_t count, bool create_only);
