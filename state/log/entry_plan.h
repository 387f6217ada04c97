// The entry of a plan: the part of it that was committed, all at once. The bytes are documented at the top of entry.c.
// plan_check.h decides what may be committed; apply_plan.c does it.
#pragma once
#include "state/log/coder.h"
#include "state/records/plan.h"

// The most allocations that one plan changes at once, which bounds how long everybody else waits for it. Its scheduler
// comes again for the rest.
#define PLAN_CHANGES_MAX (1024u * 1024)

struct entry_plan {
	struct uuid eval_id; // zero: of no known evaluation
	struct array stops,
		preemptions;             // plan_stop; slot and node are those of the allocation
	struct array updates;            // plan_update; the same
	struct array placements;         // plan_placement; its node is the one at its slot
	struct array metrics;            // struct shared_metrics *
	struct deployment *deployment;   // as plan.deployment
	struct array deployment_updates; // deployment_update
	bool is_view;                    // somebody else owns the arrays and the deployment
};

coder_function entry_plan_code;
void entry_plan_release(void *body);
