// The entry of a plan: what of it was committed, all at once. Its bytes are documented at the top of
// entry.c; see plan_check.h for whether it may be, and apply_plan.c for what it does.
#pragma once
#include "state/base/bytes.h"
#include "state/records/plan.h"

// The most allocations that are changed of one plan at once: bounds the time that everybody else waits
// for it. Its scheduler comes again for the rest.
#define PLAN_CHANGES_MAX (1024u * 1024)

struct entry_plan {
	struct uuid eval_id; // zero: of none that is known
	struct array stops,
		preemptions;           // plan_stop; of a slot and a node only its allocation tells
	struct array updates;          // plan_update; the same
	struct array placements;       // plan_placement; its node is the one at its slot
	struct array metrics;          // struct shared_metrics *
	struct deployment *deployment; // as plan.deployment
	struct array deployment_updates; // deployment_update
	bool is_view;                    // the arrays and the deployment belong to somebody else
};

void entry_plan_encode(const void *body, struct bytes_writer *);
int entry_plan_decode(void *body, struct bytes_reader *);
void entry_plan_release(void *body);
