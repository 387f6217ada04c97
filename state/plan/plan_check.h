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
#include "state/tables/node_ports_cores.h"
#include "state/tables/tables.h"

// What a plan does to an allocation that is there (alloc_cell.plan_mark).
#define PLAN_MARK_STOP 1u
#define PLAN_MARK_UPDATE 2u

// Why the changes of a node that is not there are left out.
#define PLAN_NODE_MISSING "node does not exist"

// One node's part in a plan.
struct plan_node {
	uint32_t slot;
	const char *reason; // it takes nothing; NULL: it takes all
	bool places, updates, not_only_unknown, takes_more;
	struct resources freed;
	uint64_t cpu_mhz, memory_mb, disk_mb; // added
	uint32_t devices;                     // index + 1 of plan_devices; 0: none change
	uint32_t details;                     // index + 1 of the newest plan_details; 0: none
};

struct plan_check {
	// Of the items in order: what they are about; NULL: left out.
	struct alloc_cell **stops, **preemptions, **updates;
	struct job **update_jobs; // the version after it
	uint16_t *update_groups;
	struct job **placement_jobs; // NULL: left out
	struct job_cell *job_cell;   // of all placements
	struct plan_node *nodes;
	uint32_t node_count;
	struct uuid *missing; // nodes that are not there
	uint32_t missing_count;
	bool is_stale;    // its deployment cannot begin: nothing of it may be made
	bool is_complete; // nothing is left out
};

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
