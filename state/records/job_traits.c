#include "state/records/job_traits.h"
#include "state/records/evaluation.h"
#include "state/records/scheduler_config.h"
#include <stddef.h>

const char *const job_type_names[] = {"service", "batch", "system", "sysbatch", "direct", NULL};
const char *const eval_type_names[] = {"service", "batch", "system", "sysbatch", "_core", NULL};

#define PREEMPTION(type) (uint32_t) offsetof(struct preemption_config, type)

const struct job_traits job_traits[JOB_TYPES] = {
	[JOB_SERVICE] = {.is_scalable = true,
		.has_rollouts = true,
		.drain = DRAIN_MIGRATES,
		.preemption = PREEMPTION(service)},
	[JOB_BATCH] = {.runs_to_end = true, .is_scalable = true, .preemption = PREEMPTION(batch)},
	[JOB_SYSTEM] = {.is_on_every_node = true,
		.follows_nodes = true,
		.drain = DRAIN_LAST,
		.preemption = PREEMPTION(system)},
	[JOB_SYSBATCH] = {.is_on_every_node = true,
		.runs_to_end = true,
		.is_scalable = true,
		.preemption = PREEMPTION(sysbatch)},
	[JOB_DIRECT] = {.is_direct = true},
};

_Static_assert((int)EVAL_SERVICE == JOB_SERVICE && (int)EVAL_BATCH == JOB_BATCH &&
		       (int)EVAL_SYSTEM == JOB_SYSTEM && (int)EVAL_SYSBATCH == JOB_SYSBATCH &&
		       (int)EVAL_CORE == JOB_DIRECT && (int)EVAL_TYPES == JOB_TYPES,
	"evaluations have the numbers of their jobs");

static int64_t group_instances(const struct job *job, uint32_t group, uint32_t nodes)
{
	int64_t product, count = ARRAY_AT(&job->task_groups, struct task_group, group)->count;

	if (!job_traits_of(job)->is_on_every_node || count <= 1 || nodes <= 1)
		return count;
	return __builtin_mul_overflow(count, nodes, &product) ? INT64_MAX : product;
}

int64_t job_instances(const struct job *job, uint32_t nodes)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < job->task_groups.count; i++)
		if (__builtin_add_overflow(sum, group_instances(job, i, nodes), &sum))
			return INT64_MAX;
	return sum;
}
