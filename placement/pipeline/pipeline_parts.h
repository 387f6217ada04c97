// Shared by the parts of the pipeline: queues, counters, and a few common calls.
#pragma once
#include "placement/broker/blocked.h"
#include "placement/broker/broker.h"
#include "placement/pipeline/pipeline_settings.h"
#include "placement/pipeline/reschedules.h"
#include "placement/pipeline/submitter.h"
#include "placement/pipeline/timing.h"
#include <pthread.h>
#include <stdatomic.h>

#define PIPELINE_DELIVERY_LIMIT 3u

struct pipeline_counters {
	_Atomic uint64_t processed, nacked, yielded, broken, plans_submitted, plans_partial,
		nodes_rejected;
	struct timing dequeue, send_ack, wait_for_index, submit_plan, update_eval, create_eval,
		reblock_eval, invoke[EVAL_TYPES];
};

struct scheduler_thread;
struct housekeeping;
struct reschedules;
struct claims;
struct desks;

struct pipeline {
	struct pipeline_settings settings; // with defaults of intervals
	struct state_observer observer;
	struct broker *broker;
	struct blocked *blocked;
	struct plan_queue *plans;
	struct submitter *submitter;
	struct housekeeping *housekeeping;
	struct reschedules *reschedules;
	struct claims *claims; // NULL: only one evaluation is in work at a time
	struct desks *desks;
	struct scheduler_thread *threads[PIPELINE_THREADS_MAX];
	uint32_t thread_count; // at least one, also without threads
	uint32_t desk_count;
	pthread_mutex_t mutex; // guards the pause
	pthread_cond_t unpaused;
	bool is_paused;
	pthread_mutex_t enabling;
	bool is_enabled, is_stopped; // under enabling: the broker runs; stopped for good
	struct pipeline_counters counters;
};

// Returns once the scheduler threads are not paused (or the pipeline stops).
void pipeline_await_unpaused(struct pipeline *);

bool pipeline_has(struct pipeline *, const struct uuid *eval); // in the state
// Stores evaluations; takes them over whatever the result.
int pipeline_store(struct pipeline *, struct evaluation **, uint32_t count, bool create_only);
