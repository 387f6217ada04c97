// What nodes hold once the plan is carried out: the allocations of the view, less those that the plan stops,
// preempts or replaces, and the planned ones (row A47). Only nodes that the plan touches cost anything.
#pragma once
#include "placement/scheduler/view.h"
#include "state/plan.h"

struct touched_node {
	uint32_t slot;
	uint32_t gone, fresh; // first in their lists, counted from 1; 0: none
	struct resources freed, added;
	struct device_set devices_freed, devices_added;
	uint32_t details_freed, details_added;
};

// An allocation of the view that the node no longer holds.
struct gone_allocation {
	const struct allocation *allocation;
	uint32_t next;
	bool withdrawn; // it holds it after all
};

// What a node will hold: a placement, or what an updated allocation becomes.
struct proposed_allocation {
	struct uuid id;
	const struct job *job;
	uint32_t group, slot;
	uint32_t next; // of the node's fresh ones
	struct resources resources;
	struct device_set devices;
	const struct alloc_details *details;
	const struct allocation *existing; // NULL: a placement
};

struct proposal {
	const struct scheduler_view *view;
	uint32_t *touched_at; // by slot: place in touched, counted from 1
	uint32_t slots;
	struct touched_node *touched;
	struct gone_allocation *gone;
	struct proposed_allocation *fresh;
	uint32_t touched_count, touched_room, gone_count, gone_room, fresh_count, fresh_room;
};

void proposal_begin(struct proposal *, const struct scheduler_view *);
void proposal_release(struct proposal *);

void proposal_remove(struct proposal *, const struct allocation *);
// Takes a removal back; false when there was none.
bool proposal_restore(struct proposal *, const struct allocation *);
void proposal_add(struct proposal *, const struct proposed_allocation *);
bool proposal_has_removed(const struct proposal *, const struct allocation *);

static inline const struct touched_node *proposal_touched(const struct proposal *p, uint32_t slot)
{
	uint32_t at = slot < p->slots ? p->touched_at[slot] : 0;
	return at ? &p->touched[at - 1] : NULL;
}

// Sums of a node. Nothing is walked.
struct node_use proposal_use(const struct proposal *, uint32_t slot);

// Every allocation that the node will hold; in no particular order.
typedef bool proposal_visit(const struct proposed_allocation *, void *context);
void proposal_walk(const struct proposal *, uint32_t slot, proposal_visit *, void *context);
