// A pipeline's settings.
#pragma once
#include "state/applier/command_queue.h"
#include "state/base/time_source.h"
#include "state/tables/state.h"

#define PIPELINE_THREADS_MAX 64u
// Threads for each that decides. A plan is on its way for some milliseconds, on a slow disk for tens of them, and an
// evaluation of one instance is decided in less than a tenth of one.
#define PIPELINE_THREADS_EACH 16u

static inline uint32_t pipeline_threads_for(uint32_t deciding)
{
	return deciding < PIPELINE_THREADS_MAX / PIPELINE_THREADS_EACH
		       ? deciding * PIPELINE_THREADS_EACH
		       : PIPELINE_THREADS_MAX;
}

struct pipeline_settings {
	struct state *state;
	struct command_queue *queue;
	const struct time_source *time;
	uint64_t seed;    // 0: from the system
	uint32_t threads; // of schedulers; 0: none (tests call pipeline_step)
	// Of them at once, while the others wait for their plans; 0: all. Never more than the processors leave room for
	// beside the applier, and no more threads then than those few need.
	uint32_t deciding;
	uint32_t processors; // that may be used; 0: as many as this process has
	const int *cpus;     // one for each that decides; NULL or negative: not pinned
	int64_t gc_interval_ns, eval_gc_ns, batch_eval_gc_ns, job_gc_ns, node_gc_ns,
		deployment_gc_ns, acl_token_gc_ns; // 0: those of docs/spec/objects.md
	int64_t nack_timeout_ns;                   // of a delivery without progress; 0: 60 s (B30)
	int64_t pass_ns;                           // of a pass over missing instances; 0: 250 ms
	// Without threads: runs the applier on the calling thread (applier_step) while a command is awaited. Every
	// sleep then ends at once.
	void (*step)(void *context);
	void *step_context;
};
