// Whether and when a failed allocation may be placed anew, by the reschedule policy of its group (rows C24–C26,
// semantics §4.11). Pure.
#pragma once
#include "state/records/allocation.h"
#include "state/records/job.h"

// A tracker of a policy without a limit keeps this many events, and gets one more.
#define RESCHEDULE_EVENTS_KEPT 5u

// By the policy of its group in the job's newest version, when nothing was planned for it yet.
// failed_ns: when it failed.
bool allocation_may_be_rescheduled(
	const struct allocation *, const struct job *newest, int64_t failed_ns);

// The policy of the version it was placed with; NULL: none.
const struct reschedule_policy *allocation_reschedule_policy(const struct allocation *);
// When the last of its tasks ended; else when it changed last.
int64_t allocation_last_event_ns(const struct allocation *);
// How long the next attempt waits after the failure.
int64_t allocation_reschedule_delay_ns(const struct allocation *);
// Whether the policy has an attempt left for one that failed, or is taken to have failed, at failed_ns; and when that
// one is due.
bool allocation_reschedule_due(const struct allocation *, int64_t failed_ns, int64_t *due_ns);
// The same of one that did fail and is not stopped yet.
bool allocation_failure_due(const struct allocation *, int64_t *due_ns);
// The tracker of what is placed in its stead: appends reschedule_event to an empty array.
void allocation_track_reschedule(const struct allocation *, int64_t now_ns, struct array *events);
