// Finds which changes of a plan may be made to the present working state: node by node, all of a node's or none. The
// scheduler chose nodes by an older state, so every condition is checked again; an entry that is replayed is proved in
// the same way.
//
// A node with nothing but stops takes them, whatever its status. These are left out without a rejection: a stop of an
// allocation that is gone, a preemption of one that holds nothing any more, an update of one that is to stop. A mere
// note on an allocation (a follow-up, that it was away) asks nothing of its node, and is also taken for ended ones.
#pragma once
#include "state/log/entry_plan.h"
#include "state/plan/plan_found.h"

// How many nodes ahead a plan fetches their records, and half as far as their cells.
#define PLAN_NODES_AHEAD 8u

struct plan_checker; // keeps its memory from plan to plan

// The checker of this state; made on first use, freed with the state.
struct plan_checker *plan_checker_of(const struct state *);
// The result is valid until the next call and while the working state does not change.
struct plan_check *plan_check(
	struct plan_checker *, const struct state *, const struct entry_plan *);
// The same for an entry that is read again. It may be of a time when an allocation that was to stop held nothing any
// more, so only living allocations count against it.
struct plan_check *plan_check_again(
	struct plan_checker *, const struct state *, const struct entry_plan *);
// Leaves out of the entry and of the check what may not be made. The arrays become the entry's own.
void plan_check_filter(struct plan_checker *, const struct state *, struct entry_plan *);
// Whether an update is nothing but a note.
bool plan_update_is_note(const struct plan_update *, const struct allocation *);
// The last result of plan_check().
struct plan_check *plan_checked(struct plan_checker *);
