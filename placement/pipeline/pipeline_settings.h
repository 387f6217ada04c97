// A pipeline's settings.
#pragma once
#include "state/applier/command_queue.h"
#include "state/base/time_source.h"
#include "state/tables/state.h"

#define PIPELINE_THREADS_MAX 64u

struct pipeline_settings {
	struct state *state;
	struct command_queue *queue;
	const struct time_source *time;
	uint64_t seed;    // 0: from the system
	uint32_t threads; // of schedulers; 0: none (tests call pipeline_step)
	const int *cpus;  // one per thread; NULL or negative: not pinned
	int64_t gc_interval_ns, eval_gc_ns, batch_eval_gc_ns, job_gc_ns, node_gc_ns,
		deployment_gc_ns; // 0: those of docs/spec/objects.md
	int64_t nack_timeout_ns;  // of a delivery without progress; 0: 60 s (B30)
	int64_t pass_ns;          // of a pass over missing instances; 0: 250 ms
	// Without threads: runs the applier on the calling thread (applier_step) while a command is awaited. Every
	// sleep then ends at once.
	void (*step)(void *context);
	void *step_context;
};
