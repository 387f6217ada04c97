// Another view, altered: one node is as it might become, and plans count as carried out. This view holds only the
// differences; the view below must stay open as long as it is used.
#pragma once
#include "placement/broker/lookup.h"
#include "placement/scheduler/common/view.h"
#include "state/records/plan.h"

struct altered_view {
	struct scheduler_view below;
	const struct node *node;   // as it might become
	struct lookup allocations; // by id: changed ones, and new ones
	struct lookup uses;        // by slot: what changed of what nodes hold
	struct array added;        // struct altered_allocation *: new ones, oldest first
};

// One node: with this record, which stays the caller's.
void altered_view_init(
	struct altered_view *, const struct scheduler_view *below, const struct node *as);
void altered_view_release(struct altered_view *);
// What schedulers are shown.
struct scheduler_view altered_view_of(struct altered_view *);

// The allocation is told to leave its node.
void altered_view_flag(struct altered_view *, const struct allocation *);
// Carries a plan out, as if all of it were committed. Placements are of `job` unless they name another version.
void altered_view_apply(struct altered_view *, const struct plan *, const struct job *);
