// A view over another view: one node has another record, and plans count as carried out. Holds only the differences;
// the view below must stay open as long as this one is used.
#pragma once
#include "placement/broker/lookup.h"
#include "placement/scheduler/common/view.h"
#include "state/records/plan.h"

struct altered_view {
	struct scheduler_view below;
	const struct node *node;   // record it might get
	struct lookup allocations; // by id: changed ones, and new ones
	struct lookup uses;        // by slot: changes of what nodes hold
	struct array added;        // struct altered_allocation *: new ones, oldest first
};

// as: the record that the node gets; the caller owns it.
void altered_view_init(
	struct altered_view *, const struct scheduler_view *below, const struct node *as);
void altered_view_release(struct altered_view *);
// The view for schedulers.
struct scheduler_view altered_view_of(struct altered_view *);

// Tells the allocation to leave its node.
void altered_view_flag(struct altered_view *, const struct allocation *);
// Carries out the whole plan. Placements are of `job` unless they name another version.
void altered_view_apply(struct altered_view *, const struct plan *, const struct job *);
