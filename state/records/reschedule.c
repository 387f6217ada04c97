#include "state/records/reschedule.h"
#include "state/records/alloc_details.h"

#define DELAY_MAX (INT64_MAX / 4)

static int64_t attempts_since(const struct alloc_details *details, int64_t since_ns)
{
	int64_t attempts = 0;

	for (uint32_t i = 0; details && i < details->reschedule_events.count; i++)
		if (ARRAY_AT(&details->reschedule_events, struct reschedule_event, i)
				->reschedule_time_ns > since_ns)
			attempts++;
	return attempts;
}

static bool is_unlimited(const struct reschedule_policy *policy)
{
	return policy->unlimited.set && policy->unlimited.value;
}

bool allocation_may_be_rescheduled(
	const struct allocation *a, const struct job *newest, int64_t failed_ns)
{
	const struct task_group *group = allocation_group(a);
	int at = job_group_index(newest, text_of(group->name));
	const struct reschedule_policy *policy =
		at < 0 ? NULL : ARRAY_AT(&newest->task_groups, struct task_group, at)->reschedule;

	if (!policy || (a->details && !uuid_is_zero(&a->details->followup_eval)))
		return false;
	if (is_unlimited(policy))
		return true;
	return policy->attempts > 0 && policy->interval_ns > 0 &&
	       attempts_since(a->details, failed_ns - policy->interval_ns) < policy->attempts;
}

const struct reschedule_policy *allocation_reschedule_policy(const struct allocation *a)
{
	return allocation_group(a)->reschedule;
}

int64_t allocation_last_event_ns(const struct allocation *a)
{
	int64_t last_ns = 0;

	struct alloc_report_room room;
	const struct alloc_report *report = alloc_report_open(a->report, &room);
	for (uint32_t i = 0; report && i < report->task_states.count; i++) {
		const struct task_state *task =
			ARRAY_AT(&report->task_states, struct task_state, i);
		if (task->finished_at_ns > last_ns)
			last_ns = task->finished_at_ns;
	}
	alloc_report_close(&room);
	return last_ns ? last_ns : a->modify_time_ns;
}

static uint32_t event_count(const struct allocation *a)
{
	return a->details ? a->details->reschedule_events.count : 0;
}

static const struct reschedule_event *event_at(const struct allocation *a, uint32_t i)
{
	return ARRAY_AT(&a->details->reschedule_events, struct reschedule_event, i);
}

static int64_t delay_sum(int64_t a_ns, int64_t b_ns)
{
	int64_t sum_ns;
	bool too_long = __builtin_add_overflow(a_ns, b_ns, &sum_ns) || sum_ns > DELAY_MAX;
	return too_long ? DELAY_MAX : sum_ns;
}

// A series that was reset begins with the ceiling and the first delay; it is not their sum that follows.
static int64_t fibonacci_delay(const struct allocation *a, const struct reschedule_policy *policy)
{
	uint32_t count = event_count(a);
	if (count < 2)
		return policy->delay_ns;
	int64_t last_ns = event_at(a, count - 1)->delay_ns;
	int64_t before_ns = event_at(a, count - 2)->delay_ns;
	if (before_ns == policy->max_delay_ns && last_ns == policy->delay_ns)
		return last_ns;
	return delay_sum(last_ns, before_ns);
}

// The ceiling; or the first delay again, when the last attempt lived for longer than the ceiling.
static int64_t delay_within(
	const struct allocation *a, const struct reschedule_policy *policy, int64_t delay_ns)
{
	const struct reschedule_event *last = event_at(a, event_count(a) - 1);
	if (policy->max_delay_ns <= 0 || delay_ns <= policy->max_delay_ns)
		return delay_ns;
	int64_t lived_ns = allocation_last_event_ns(a) - last->reschedule_time_ns;
	return lived_ns > policy->max_delay_ns ? policy->delay_ns : policy->max_delay_ns;
}

int64_t allocation_reschedule_delay_ns(const struct allocation *a)
{
	const struct reschedule_policy *policy = allocation_reschedule_policy(a);
	uint32_t count = event_count(a);
	if (!policy)
		return 0;
	const char *function = policy->delay_function ? policy->delay_function : "";
	if (count > 0 && strcmp(function, "exponential") == 0) {
		int64_t last_ns = event_at(a, count - 1)->delay_ns;
		return delay_within(a, policy, delay_sum(last_ns, last_ns));
	}
	if (count > 0 && strcmp(function, "fibonacci") == 0)
		return delay_within(a, policy, fibonacci_delay(a, policy));
	return policy->delay_ns;
}

static bool has_attempt(const struct allocation *a, const struct reschedule_policy *policy,
	int64_t failed_ns, int64_t delay_ns)
{
	if (is_unlimited(policy))
		return true;
	if (policy->attempts <= 0)
		return false;
	if (event_count(a) == 0)
		return true;
	return attempts_since(a->details, failed_ns - policy->interval_ns) < policy->attempts &&
	       delay_ns < policy->interval_ns;
}

bool allocation_reschedule_due(const struct allocation *a, int64_t failed_ns, int64_t *due_ns)
{
	const struct reschedule_policy *policy = allocation_reschedule_policy(a);
	int64_t delay_ns = allocation_reschedule_delay_ns(a);
	if (!policy)
		return false;
	if (__builtin_add_overflow(failed_ns, delay_ns, due_ns))
		*due_ns = INT64_MAX;
	return has_attempt(a, policy, failed_ns, delay_ns);
}

bool allocation_failure_due(const struct allocation *a, int64_t *due_ns)
{
	return a->desired != ALLOC_STOP && a->client_status == ALLOC_FAILED &&
	       allocation_reschedule_due(a, allocation_last_event_ns(a), due_ns);
}

static bool is_kept(const struct reschedule_policy *policy, const struct reschedule_event *event,
	uint32_t after, int64_t now_ns)
{
	if (policy->attempts > 0)
		return policy->interval_ns > 0 &&
		       now_ns - event->reschedule_time_ns <= policy->interval_ns;
	return after < RESCHEDULE_EVENTS_KEPT;
}

void allocation_track_reschedule(const struct allocation *a, int64_t now_ns, struct array *events)
{
	const struct reschedule_policy *policy = allocation_reschedule_policy(a);
	uint32_t count = event_count(a);
	for (uint32_t i = 0; policy && i < count; i++)
		if (is_kept(policy, event_at(a, i), count - 1 - i, now_ns))
			*(struct reschedule_event *)array_append(
				events, sizeof(struct reschedule_event)) = *event_at(a, i);
	*(struct reschedule_event *)array_append(events, sizeof(struct reschedule_event)) =
		(struct reschedule_event){
			now_ns, a->id, a->node_id, allocation_reschedule_delay_ns(a)};
}
