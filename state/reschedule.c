#include "state/reschedule.h"
#include "state/alloc_details.h"

static int64_t attempts_since(const struct alloc_details *details, int64_t since_ns)
{
	int64_t attempts = 0;

	for (uint32_t i = 0; details && i < details->reschedule_events.count; i++)
		if (ARRAY_AT(&details->reschedule_events, struct reschedule_event, i)
				->reschedule_time_ns > since_ns)
			attempts++;
	return attempts;
}

bool allocation_may_be_rescheduled(
	const struct allocation *a, const struct job *newest, int64_t failed_ns)
{
	const struct task_group *group =
		ARRAY_AT(&a->job->task_groups, struct task_group, a->group);
	int at = job_group_index(newest, text_of(group->name));
	const struct reschedule_policy *policy =
		at < 0 ? NULL : ARRAY_AT(&newest->task_groups, struct task_group, at)->reschedule;

	if (!policy || (a->details && !uuid_is_zero(&a->details->followup_eval)))
		return false;
	if (policy->unlimited.set && policy->unlimited.value)
		return true;
	return policy->attempts > 0 && policy->interval_ns > 0 &&
	       attempts_since(a->details, failed_ns - policy->interval_ns) < policy->attempts;
}
