#include "placement/scheduler/generic/generic_attempt.h"
#include "state/base/check.h"
#include "state/records/reschedule.h"

// How often the allocation was rescheduled within the interval of its policy, and how often it may be.
static void count_attempts(struct reschedule_note *note)
{
	CHECK(note->attempted == 0 && note->limit == 0);
	const struct allocation *a = note->allocation;
	const struct reschedule_policy *policy = allocation_reschedule_policy(a);
	if (!policy || policy->attempts <= 0)
		return;
	note->limit = policy->attempts;
	for (uint32_t i = 0; a->details && i < a->details->reschedule_events.count; i++) {
		const struct reschedule_event *event =
			ARRAY_AT(&a->details->reschedule_events, struct reschedule_event, i);
		note->attempted += allocation_last_event_ns(a) - event->reschedule_time_ns <
				   policy->interval_ns;
	}
	CHECK(note->limit > 0);
}

static void note_reschedule(const struct generic_attempt *a, const struct allocation *failed,
	const struct evaluation *follow_up)
{
	CHECK(failed);
	struct reschedule_note note = {.allocation = failed, .follow_up = follow_up};
	count_attempts(&note);
	scheduler_run_note(a->run, &note);
}

static const struct evaluation *find_follow_up(
	const struct generic_attempt *a, const struct uuid *id)
{
	for (uint32_t i = 0; i < a->found.follow_ups.count; i++) {
		const struct evaluation *eval =
			*ARRAY_AT(&a->found.follow_ups, struct evaluation *, i);
		if (uuid_equal(&eval->id, id))
			return eval;
	}
	return NULL;
}

void generic_note_reschedules(const struct generic_attempt *a)
{
	CHECK(a->run->in_view);
	if (!a->run->settings->rescheduled)
		return;
	for (uint32_t i = 0; i < a->found.place.count; i++) {
		const struct reconcile_place *place =
			ARRAY_AT(&a->found.place, struct reconcile_place, i);
		if (place->reschedule && place->previous)
			note_reschedule(a, place->previous, NULL);
	}
	for (uint32_t i = 0; i < a->found.attribute_updates.count; i++) {
		const struct reconcile_update *update =
			ARRAY_AT(&a->found.attribute_updates, struct reconcile_update, i);
		const struct evaluation *later = find_follow_up(a, &update->followup_eval);
		if (later)
			note_reschedule(a, update->allocation, later);
	}
}
