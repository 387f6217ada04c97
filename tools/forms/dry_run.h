// What the schedulers would do with a job if it were registered now: the daemon's own scheduler over
// the state as it is, with the job as the newest version. Nothing is stored.
#pragma once
#include "state/base/prng.h"
#include "state/records/evaluation.h"
#include "state/records/plan.h"
#include "state/tables/state.h"

struct dry_run {
	struct array updates;       // desired_updates, by group
	struct array preempted;     // struct uuid
	struct array created;       // struct evaluation *: what would wait, and for what
	struct array failed_groups; // failed_group
};

// job: with its version and indexes as they would be, derived. Takes the read lock. Returns 0, or
// what the scheduler failed with; *out is to be released in any case.
int dry_run(struct state *, const struct job *, struct prng *, int64_t now_ns, struct dry_run *out);
void dry_run_release(struct dry_run *);
