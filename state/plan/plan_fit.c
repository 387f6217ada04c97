// Whether a node takes its part of a plan: all of it or nothing.
#include "state/plan/plan_check_private.h"
#include "state/records/alloc_details.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/nodes/node_ports_cores.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/nodes/node_room.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <urcu-qsbr.h>

#define NODE_NOT_READY "node is not ready for placements"
#define NODE_DISCONNECTED_INVALID "node is disconnected and contains invalid updates"
#define NODE_NOT_ELIGIBLE "node is not eligible"

// held: by everything on the node until it has ended, which the sum has to hold as well.
struct amount {
	uint32_t capacity, held, counted, freed;
	uint64_t added;
};

static bool exceeds(struct amount a, bool places)
{
	uint64_t proposed = (a.counted > a.freed ? a.counted - a.freed : 0) + a.added;
	bool grows = places ? a.added > 0 : a.added > a.freed;

	return grows && (proposed > a.capacity || a.held + a.added > UINT32_MAX);
}

// Adds the ports or cores that stay on the node, then the new ones. Those that stay may be held twice: by one that is
// to stop, and by the one that took its place.
static bool collides(struct plan_checker *c, const struct node_cell *cell,
	const struct plan_node *n,
	bool (*hold)(struct node_ports_cores *, const struct alloc_details *))
{
	const struct alloc_cell *alloc;
	bool is_free = true;

	node_ports_cores_clear(&c->held);
	if (cell->with_details > 0)
		cds_list_for_each_entry_rcu (alloc, &cell->allocations, on_node)
			if (plan_counts(c, alloc) && !alloc->plan_mark &&
				alloc_details_hold_node(alloc->working->details))
				(void)hold(&c->held, alloc->working->details);
	for (uint32_t at = n->details; at; at = c->details[at - 1].next)
		if (c->details[at - 1].is_held)
			(void)hold(&c->held, c->details[at - 1].details);
	for (uint32_t at = n->details; at && is_free; at = c->details[at - 1].next)
		if (!c->details[at - 1].is_held)
			is_free = hold(&c->held, c->details[at - 1].details);
	return !is_free;
}

static bool asks_for_cores(const struct plan_checker *c, const struct plan_node *n)
{
	for (uint32_t at = n->details; at; at = c->details[at - 1].next)
		if (!c->details[at - 1].is_held && details_hold_cores(c->details[at - 1].details))
			return true;
	return false;
}

static bool lacks_cores(
	struct plan_checker *c, const struct node_cell *cell, const struct plan_node *n)
{
	if (!asks_for_cores(c, n))
		return false;
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

static bool lacks_devices(
	const struct plan_checker *c, const struct node_cell *cell, const struct plan_node *n)
{
	const struct plan_devices *devices = n->devices ? &c->devices[n->devices - 1] : NULL;
	const struct alloc_cell *alloc;
	struct device_set held = {0};

	if (!devices || devices->are_twice)
		return devices != NULL;
	cds_list_for_each_entry_rcu (alloc, &cell->allocations, on_node) {
		if (!plan_counts(c, alloc) || alloc->plan_mark)
			continue;
		for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
			held.groups[i] |= allocation_devices(alloc->working)->groups[i];
	}
	return !node_has_devices(cell->working, &held, &devices->fresh);
}

// In Nomad's order of exhausted resources.
static const char *lacking(
	struct plan_checker *c, const struct node_cell *cell, const struct plan_node *n)
{
	struct resources capacity = node_capacity(cell->working), held = cell->used;
	struct resources counted = c->is_replayed ? node_room_of_living(cell) : held;
	struct amount cpu = {
		capacity.cpu_mhz, held.cpu_mhz, counted.cpu_mhz, n->freed.cpu_mhz, n->cpu_mhz};
	struct amount memory = {capacity.memory_mb, held.memory_mb, counted.memory_mb,
		n->freed.memory_mb, n->memory_mb};
	struct amount disk = {
		capacity.disk_mb, held.disk_mb, counted.disk_mb, n->freed.disk_mb, n->disk_mb};

	if (exceeds(cpu, n->places))
		return "cpu";
	if (n->details && lacks_cores(c, cell, n))
		return "cores";
	if (exceeds(memory, n->places))
		return "memory";
	if (exceeds(disk, n->places))
		return "disk";
	if (n->details && lacks_ports(c, cell, n))
		return "network: port collision";
	return lacks_devices(c, cell, n) ? "device oversubscribed" : NULL;
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
