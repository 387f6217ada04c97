// Whether a node takes its part of a plan: all of it or nothing.
#include "state/plan/plan_check_private.h"
#include "state/records/alloc_details.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/nodes/node_ports_cores.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <urcu-qsbr.h>

#define NODE_NOT_READY "node is not ready for placements"
#define NODE_DISCONNECTED_INVALID "node is disconnected and contains invalid updates"
#define NODE_NOT_ELIGIBLE "node is not eligible"

static bool exceeds(uint32_t capacity, uint32_t used, uint32_t freed, uint64_t added, bool places)
{
	uint64_t proposed = (used > freed ? used - freed : 0) + added;
	bool grows = places ? added > 0 : added > freed;

	return grows && proposed > capacity;
}

// Adds the ports or cores that stay on the node, then the new ones.
static bool collides(struct plan_checker *c, const struct node_cell *cell,
	const struct plan_node *n,
	bool (*hold)(struct node_ports_cores *, const struct alloc_details *))
{
	const struct alloc_cell *alloc;
	bool is_free = true;

	node_ports_cores_clear(&c->held);
	if (cell->with_details > 0)
		cds_list_for_each_entry_rcu (alloc, &cell->allocations, on_node)
			if (alloc_cell_is_living(alloc) && !alloc->plan_mark &&
				alloc_details_hold_node(alloc->working->details))
				(void)hold(&c->held, alloc->working->details);
	for (uint32_t at = n->details; at && is_free; at = c->details[at - 1].next)
		is_free = hold(&c->held, c->details[at - 1].details);
	return !is_free;
}

static bool lacks_cores(
	struct plan_checker *c, const struct node_cell *cell, const struct plan_node *n)
{
	if (collides(c, cell, n, node_cores_add))
		return true;
	for (uint32_t at = n->details; at; at = c->details[at - 1].next)
		if (!c->details[at - 1].is_held &&
			!node_has_cores(cell->working, c->details[at - 1].details))
			return true;
	return false;
}

static bool lacks_ports(
	struct plan_checker *c, const struct node_cell *cell, const struct plan_node *n)
{
	if (collides(c, cell, n, node_ports_add))
		return true;
	for (uint32_t at = n->details; at; at = c->details[at - 1].next)
		if (!c->details[at - 1].is_held &&
			node_keeps_port_back(cell->working, c->details[at - 1].details))
			return true;
	return false;
}

// In Nomad's order of exhausted resources.
static const char *lacking(
	struct plan_checker *c, const struct node_cell *cell, const struct plan_node *n)
{
	struct resources capacity = node_capacity(cell->working), used = cell->used;

	if (exceeds(capacity.cpu_mhz, used.cpu_mhz, n->freed.cpu_mhz, n->cpu_mhz, n->places))
		return "cpu";
	if (n->details && lacks_cores(c, cell, n))
		return "cores";
	if (exceeds(capacity.memory_mb, used.memory_mb, n->freed.memory_mb, n->memory_mb,
		    n->places))
		return "memory";
	if (exceeds(capacity.disk_mb, used.disk_mb, n->freed.disk_mb, n->disk_mb, n->places))
		return "disk";
	if (n->details && lacks_ports(c, cell, n))
		return "network: port collision";
	return n->devices && c->devices[n->devices - 1].are_taken ? "device oversubscribed" : NULL;
}

const char *plan_node_lacks(
	struct plan_checker *c, const struct state *state, const struct plan_node *n)
{
	const struct node_cell *cell = &state->cells[n->slot];
	const struct node *node = cell->working;

	if (n->reason || (!n->places && !n->updates))
		return n->reason;
	if (node->status == NODE_DISCONNECTED)
		return n->not_only_unknown ? NODE_DISCONNECTED_INVALID : NULL;
	if (node->status != NODE_READY)
		return NODE_NOT_READY;
	if (n->places && (node->eligibility != NODE_ELIGIBLE || node->drain ||
				 standing_of(&node->standing) != NODE_HEALTHY))
		return NODE_NOT_ELIGIBLE;
	return n->takes_more ? lacking(c, cell, n) : NULL;
}
