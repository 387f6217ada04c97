#include "placement/scheduler/system/system_attempt.h"
#include "state/base/check.h"
#include <stdlib.h>

struct desired_updates *system_annotation(struct system_attempt *a, const char *group)
{
	CHECK(a->plan);
	return a->plan->annotate ? map_item(&a->plan->annotations, sizeof(struct desired_updates),
					   group ? group : "")
				 : NULL;
}

void system_add_available(const struct system_attempt *a, struct alloc_metrics *m)
{
	for (uint32_t i = 0; i < a->available.nodes_available.count; i++) {
		const struct named_count *count =
			ARRAY_AT(&a->available.nodes_available, struct named_count, i);
		count_add(&m->nodes_available, count->name, count->count);
	}
	m->nodes_in_pool = a->available.nodes_in_pool;
}

uint32_t system_keep_metrics(
	struct system_attempt *a, uint32_t group, const struct stack_option *option)
{
	CHECK(group < a->job->task_groups.count);
	uint32_t *plain = &a->groups[group].metrics, number = a->plan->metrics.count;
	bool is_plain = stack_option_is_plain(option);
	if (is_plain && *plain != PLAN_NO_METRICS)
		return *plain;
	struct alloc_metrics metrics = {0};
	if (is_plain)
		metrics.nodes_evaluated = 1;
	else
		stack_count(option, &metrics);
	system_add_available(a, &metrics);
	if (a->looking_since_ns)
		metrics.allocation_time_ns =
			scheduler_clock_ns(a->run->settings) - a->looking_since_ns;
	struct shared_metrics *shared = shared_metrics_create(&metrics, NULL);
	*(struct shared_metrics **)array_append(&a->plan->metrics, sizeof shared) = shared;
	metrics_release(&metrics);
	if (is_plain)
		*plain = number;
	CHECK(number < a->plan->metrics.count);
	return number;
}
