// Whether a failed allocation may be placed anew (semantics of reschedule policies).
#pragma once
#include "state/allocation.h"
#include "state/job.h"

// By the policy of its group in the job's newest version, when nothing was planned for it yet.
// failed_ns: when it failed.
bool allocation_may_be_rescheduled(
	const struct allocation *, const struct job *newest, int64_t failed_ns);
