// What nodes hold once the plan is carried out: the view's allocations that have not ended, less those that this plan
// stops, preempts or replaces, and the planned ones (row A47); and what others claim meanwhile, as one more thing that
// is there. Only nodes that the plan touches cost anything.
#pragma once
#include "placement/scheduler/common/slot_map.h"
#include "placement/scheduler/common/view.h"
#include "state/records/plan.h"

// Small, because a system job touches every node.
struct touched_node {
	uint32_t slot;
	uint32_t gone, fresh; // first in their lists, counted from 1; 0: none
	struct resources freed, added;
	bool detailed; // some of gone and fresh have devices, ports or cores
};

// An allocation of the view that the node no longer holds.
struct gone_allocation {
	const struct allocation *allocation;
	uint32_t next;
	bool withdrawn; // the node holds it after all
};

// An allocation that a node will hold, as the plan has it: a placement, or what an updated allocation becomes.
struct fresh_allocation {
	const struct job *job;             // the version that its group belongs to
	const struct allocation *existing; // NULL: a placement
	uint32_t at;                       // in the plan's placements, or updates
	uint32_t next;                     // the node's next fresh one
};

struct proposed_allocation {
	const struct uuid *id;
	const struct job *job;
	uint32_t group;
	struct resources resources;
	const struct device_set *devices;
	const struct alloc_details *details;
	const struct allocation *existing; // NULL: a placement
};

struct proposal {
	const struct scheduler_view *view;
	const struct plan *plan;
	struct arena *arena;
	struct slot_map touched_at; // place in touched, counted from 1
	uint32_t slots;
	struct touched_node *touched;
	struct gone_allocation *gone;
	struct fresh_allocation *fresh;
	uint32_t touched_count, touched_room, gone_count, gone_room, fresh_count, fresh_room;
};

// All memory is of the arena, and ends with it.
void proposal_begin(
	struct proposal *, const struct scheduler_view *, const struct plan *, struct arena *);

void proposal_remove(struct proposal *, const struct allocation *);
// Undoes a removal; false when there was none.
bool proposal_restore(struct proposal *, const struct allocation *);
// Adds what was appended to the plan last: a placement of a job's group, or an update of an allocation.
void proposal_add_placement(struct proposal *, const struct job *);
void proposal_add_update(struct proposal *, const struct allocation *);
bool proposal_has_removed(const struct proposal *, const struct allocation *);

static inline const struct touched_node *proposal_touched(const struct proposal *p, uint32_t slot)
{
	uint32_t at = slot_map_get(&p->touched_at, slot);
	return at ? &p->touched[at - 1] : NULL;
}

// What the view's node holds, and what others claim of it.
struct node_use proposal_before(const struct proposal *, uint32_t slot);
// The sums of a node. Its allocations are walked only when devices, ports or cores matter.
struct resources proposal_used(const struct proposal *, uint32_t slot);
struct node_use proposal_use(const struct proposal *, uint32_t slot);
// Nothing is on the node once the plan is carried out.
bool proposal_is_idle(const struct proposal *, uint32_t slot);
struct proposed_allocation proposal_fresh(const struct proposal *, uint32_t at);

// Visits every allocation that the node will hold, in no particular order.
typedef bool proposal_visit(const struct proposed_allocation *, void *context);
void proposal_walk(const struct proposal *, uint32_t slot, proposal_visit *, void *context);
// The same and what others claim of devices, ports and cores, which comes without id, job and resources.
void proposal_walk_details(const struct proposal *, uint32_t slot, proposal_visit *, void *context);
