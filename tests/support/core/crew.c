#include "tests/support/core/crew.h"
#include "state/base/check.h"

// Each thread of the pipeline takes the next seed; no two threads may give the same ids.
#define WATCHERS_SEED 500u
_Static_assert(WATCHERS_SEED > PIPELINE_THREADS_MAX, "the watchers' ids are their own");

void crew_create(struct crew *crew, struct core *core, const struct crew_settings *settings)
{
	*crew = (struct crew){0};
	if (settings->schedules) {
		crew->pipeline = pipeline_create(&(struct pipeline_settings){.state = core->state,
			.queue = core->queue,
			.time = core->time,
			.seed = settings->seed,
			.threads = settings->schedulers,
			.deciding = settings->deciding,
			.processors = settings->processors,
			.cpus = settings->cpus,
			.nack_timeout_ns = settings->nack_timeout_ns,
			.step = settings->step,
			.step_context = settings->step_context});
		CHECK(crew->pipeline);
	}
	if (settings->watches) {
		crew->watchers = watchers_create(&(struct watchers_settings){.state = core->state,
			.queue = core->queue,
			.time = core->time,
			.seed = settings->seed ? settings->seed + WATCHERS_SEED : 0,
			.node_ttl_ns = settings->node_ttl_ns,
			.step = settings->watch_step,
			.step_context = settings->step_context});
		CHECK(crew->watchers);
	}
}

void crew_start(struct crew *crew)
{
	CHECK(!crew->pipeline || pipeline_start(crew->pipeline) == 0);
	CHECK(!crew->watchers || watchers_start(crew->watchers) == 0);
}

void crew_stop(struct crew *crew)
{
	if (crew->watchers)
		watchers_stop(crew->watchers);
	if (crew->pipeline)
		pipeline_stop(crew->pipeline);
}

void crew_destroy(struct crew *crew)
{
	if (crew->watchers)
		watchers_destroy(crew->watchers);
	if (crew->pipeline)
		pipeline_destroy(crew->pipeline);
	*crew = (struct crew){0};
}

struct command *crew_next_plan(void *context)
{
	const struct crew *crew = context;
	return crew->pipeline ? pipeline_next_plan(crew->pipeline) : NULL;
}
