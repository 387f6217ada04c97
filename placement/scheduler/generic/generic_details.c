// What a new allocation remembers: the allocation whose place it takes, its deployment, how often it was rescheduled
// (row C26), which allocations it preempts.
#include "placement/scheduler/generic/generic_attempt.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/reschedule.h"

static void be_canary(struct alloc_details *details)
{
	CHECK(!details->deployment_status);
	details->deployment_status = memory_take(sizeof *details->deployment_status);
	details->deployment_status->canary = true;
}

static bool has_nothing_to_remember(const struct reconcile_place *wanted,
	const struct stack_option *option, const struct uuid *deployment)
{
	return !wanted->previous && !wanted->canary && !option->preempted_count &&
	       uuid_is_zero(deployment);
}

struct alloc_details *generic_details(const struct generic_attempt *a,
	const struct reconcile_place *wanted, struct stack_option *option,
	const struct uuid *deployment)
{
	CHECK(option->outcome == STACK_FITS);
	CHECK(!wanted->reschedule || wanted->previous);
	struct alloc_details *details = option->details;
	option->details = NULL;
	if (has_nothing_to_remember(wanted, option, deployment))
		return details;
	if (!details)
		details = alloc_details_create();
	details->deployment_id = *deployment;
	if (wanted->previous)
		details->previous_allocation = wanted->previous->id;
	if (wanted->previous && wanted->reschedule)
		allocation_track_reschedule(
			wanted->previous, a->run->settings->now_ns, &details->reschedule_events);
	if (wanted->canary && a->deployment)
		be_canary(details);
	for (uint32_t i = 0; i < option->preempted_count; i++)
		*(struct uuid *)array_append(&details->preempted, sizeof(struct uuid)) =
			option->preempted[i]->id;
	CHECK(!option->details);
	return details;
}
