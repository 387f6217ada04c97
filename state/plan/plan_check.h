// Which of a plan's changes may be made to the working state as it is now: node by node, all of a
// node's or none. Nodes were chosen by a scheduler that saw an older state, so everything that
// matters is looked at again; the same look proves an entry that is replayed.
//
// A node with nothing but stops takes them, whatever became of it. A stop of what is gone, a
// preemption of what has ended and an update of what is not to run any more are left out, and no
// reason to reject. What is only noted of an allocation (a follow-up, that it was away) asks nothing of
// its node, and is noted of those that ended, too.
#pragma once
#include "state/log/entry_plan.h"
#include "state/plan/plan_found.h"

struct plan_checker; // keeps its memory from plan to plan

// The state's own; made when it is asked for first, freed with the state.
struct plan_checker *plan_checker_of(const struct state *);
// What it returns is valid until the next call, and while the working state stays as it is.
struct plan_check *plan_check(
	struct plan_checker *, const struct state *, const struct entry_plan *);
// Leaves out of the changes and of what was found about them what may not be made. The arrays become
// the entry's own.
void plan_check_filter(struct plan_checker *, const struct state *, struct entry_plan *);
// Whether an update is nothing but a note.
bool plan_update_is_note(const struct plan_update *, const struct allocation *);
// What plan_check() returned last.
struct plan_check *plan_checked(struct plan_checker *);
