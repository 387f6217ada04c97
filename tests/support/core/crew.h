// Schedulers and watchers beside a core, with or without threads, put together in the daemon's order: crew_create,
// core_open, core_start, crew_start; crew_stop, core_stop, crew_destroy.
#pragma once
#include "placement/pipeline/pipeline.h"
#include "placement/watch/watchers.h"
#include "tests/support/core/core.h"

struct crew {
	struct pipeline *pipeline; // NULL: none
	struct watchers *watchers; // NULL: none
};

struct crew_settings {
	uint64_t seed;           // 0: from the system
	bool schedules;          // has a pipeline
	uint32_t schedulers;     // its threads; 0: the caller calls pipeline_step
	uint32_t deciding;       // as in pipeline_settings
	uint32_t processors;     // as in pipeline_settings
	const int *cpus;         // as in pipeline_settings
	int64_t nack_timeout_ns; // as in pipeline_settings
	bool watches;            // has watchers
	int64_t node_ttl_ns;     // for watchers
	void (*step)(
		void *); // lets the applier work while a command is awaited; NULL: it has threads
	void *step_context;
	void (*watch_step)(void *); // the same for watchers without a thread
};

// The crew uses the core's clock.
void crew_create(struct crew *, struct core *, const struct crew_settings *);
void crew_start(struct crew *);
void crew_stop(struct crew *);
void crew_destroy(struct crew *);
// For applier_settings.next_plan; the crew may be created later.
struct command *crew_next_plan(void *crew);
