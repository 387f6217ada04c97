// The result of a plan's check: the plan's items in the tables, and each node's part.
#pragma once
#include "state/tables/nodes/node_ports_cores.h"
#include "state/tables/tables.h"

// What a plan does to an existing allocation (alloc_cell.plan_mark).
#define PLAN_MARK_STOP 1u
#define PLAN_MARK_UPDATE 2u

// Why changes on a missing node are left out.
#define PLAN_NODE_MISSING "node does not exist"

// One node's part in a plan.
struct plan_node {
	uint32_t slot;
	const char *reason; // why it takes nothing; NULL: it takes all
	bool places, updates, not_only_unknown, takes_more;
	struct resources freed;
	uint64_t cpu_mhz, memory_mb, disk_mb; // added
	uint32_t devices;                     // index + 1 of plan_devices; 0: none change
	uint32_t details;                     // index + 1 of the newest plan_details; 0: none
};

struct plan_check {
	// In the order of the items: the item's cell; NULL: left out.
	struct alloc_cell **stops, **preemptions, **updates;
	struct job **update_jobs; // version after the update
	uint16_t *update_groups;
	struct job **placement_jobs; // NULL: left out
	struct job_cell *job_cell;   // job of all placements
	struct plan_node *nodes;
	uint32_t node_count;
	struct uuid *missing; // nodes that are not there
	uint32_t missing_count;
	bool is_stale;    // its deployment cannot begin: no change may be made
	bool is_complete; // nothing is left out
};
