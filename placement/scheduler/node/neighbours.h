// What a job has on nodes. Where many nodes are in question it is counted in one walk over the job's allocations: to
// look at each node would be to read everything that is there.
#pragma once
#include "placement/scheduler/common/slot_map.h"
#include "placement/scheduler/node/stack_state.h"

// How many allocations of the job, and of the same group, a node will hold.
struct neighbours {
	uint32_t of_job, of_group;
};
struct neighbours stack_neighbours(const struct stack *, const struct group_rules *, uint32_t slot);

struct neighbour_count {
	uint32_t slot;
	struct neighbours near;
};

struct neighbour_counts {
	struct slot_map at; // by slot: index + 1
	struct neighbour_count *items;
	uint32_t count, room;
};

// Counts what holds room of its node, as if there were no plan.
// They end with the stack's job.
struct neighbour_counts *neighbour_counts_create(struct stack *, const struct group_rules *);
// What the node will hold by the counts and by the plan.
struct neighbours neighbour_counts_of(const struct neighbour_counts *, const struct stack *,
	const struct group_rules *, uint32_t slot);
