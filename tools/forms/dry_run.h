// What the schedulers would do if a job were registered now: runs the daemon's own scheduler over the present state
// with the job as its newest version. Nothing is stored.
#pragma once
#include "state/base/prng.h"
#include "state/records/evaluation.h"
#include "state/records/plan.h"
#include "state/tables/state.h"

struct dry_run {
	struct array updates;       // desired_updates, by group
	struct array preempted;     // struct uuid
	struct array created;       // struct evaluation *: evaluations that would wait
	struct array failed_groups; // failed_group
};

// job: derived, with the version and indexes that it would have, and a type that has a scheduler. Takes the read lock.
void dry_run(
	struct state *, const struct job *, struct prng *, int64_t now_ns, struct dry_run *out);
void dry_run_release(struct dry_run *);
