// Whether and when a failed allocation may be placed anew, by the reschedule policy of its group (rows C24–C26,
// docs/spec/evaluations.md). Pure.
#pragma once
#include "state/records/allocation.h"
#include "state/records/job.h"

// A policy without a limit keeps so many events of its tracker; each attempt adds one.
#define RESCHEDULE_EVENTS_KEPT 5u

// Decides by the group's policy in the job's newest version, for an allocation for which nothing was planned yet.
// failed_ns: when it failed.
bool allocation_may_be_rescheduled(
	const struct allocation *, const struct job *newest, int64_t failed_ns);

// The policy of the version it was placed with; NULL: none.
const struct reschedule_policy *allocation_reschedule_policy(const struct allocation *);
// When the last of its tasks ended; else when it changed last.
int64_t allocation_last_event_ns(const struct allocation *);
// The time between the failure and the next attempt.
int64_t allocation_reschedule_delay_ns(const struct allocation *);
// Whether the policy leaves an attempt for an allocation that failed (or counts as failed) at failed_ns, and when that
// attempt is due.
bool allocation_reschedule_due(const struct allocation *, int64_t failed_ns, int64_t *due_ns);
// The same for an allocation that failed and is not stopped yet.
bool allocation_failure_due(const struct allocation *, int64_t *due_ns);
// Fills the tracker of its replacement: appends reschedule_event to an empty array.
void allocation_track_reschedule(const struct allocation *, int64_t now_ns, struct array *events);
