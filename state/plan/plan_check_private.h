// The inside of a plan's check. For plan_*.c only.
#pragma once
#include "state/plan/plan_check.h"
#include "state/plan/plan_names.h"
#include "state/tables/alloc_cell.h"

// Instances of a node's device groups that the plan gives out there.
struct plan_devices {
	struct device_set added, fresh; // all, and those that their allocation did not hold before
	bool are_twice;                 // two allocations were given the same instance
};

// Ports and cores that are added on a node.
struct plan_details {
	const struct alloc_details *details;
	uint32_t next; // index + 1 of the node's next; 0: none
	bool is_held;  // an allocation that continues holds them
};

struct plan_checker {
	struct plan_check check;
	// By slot: index + 1 of the plan's node there. All 0 between plans.
	uint32_t *node_at;
	uint32_t slots_max;
	uint32_t node_capacity, missing_capacity;
	struct plan_devices *devices;
	uint32_t device_count, device_capacity;
	struct plan_details *details;
	uint32_t details_count, details_capacity;
	uint32_t stop_capacity, preemption_capacity, update_capacity, placement_capacity;
	// An entry that is read again: it was decided, maybe before allocations that are to stop held their room.
	bool is_replayed;
	struct plan_names *names;
	struct node_ports_cores held;
	// The last versions looked up, for updates and for placements: most are of one.
	struct known_version {
		uint64_t modify_index; // 0: none was
		struct job *job;       // NULL: not found
	} of_updates, of_placements;
};

// Whether what the allocation holds of its node counts against the plan.
static inline bool plan_counts(const struct plan_checker *c, const struct alloc_cell *cell)
{
	return cell->room == ROOM_LIVING || (cell->room == ROOM_STOPPING && !c->is_replayed);
}

// Why the node takes none of its complete part, or NULL.
const char *plan_node_lacks(struct plan_checker *, const struct state *, const struct plan_node *);
