#include "tests/cluster/room.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/nodes/node_ports_cores.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/tables.h"
#include <inttypes.h>
#include <stdio.h>

struct held {
	uint64_t cpu_mhz, memory_mb, disk_mb;
	struct device_set devices;
	struct node_ports_cores ports_cores;
	const char *twice; // what two allocations hold
};

static void hold_devices(struct held *held, const struct node *node, const struct allocation *a)
{
	const struct device_set *devices = allocation_devices(a);

	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++) {
		if ((held->devices.groups[i] | ~node_instances(node, i)) & devices->groups[i])
			held->twice = "a device";
		held->devices.groups[i] |= devices->groups[i];
	}
}

static void hold(struct held *held, const struct node *node, const struct allocation *a)
{
	held->cpu_mhz += a->resources.cpu_mhz;
	held->memory_mb += a->resources.memory_mb;
	held->disk_mb += a->resources.disk_mb;
	// Amounts are shared with what is to stop, and these are not.
	if (allocation_is_terminal(a))
		return;
	hold_devices(held, node, a);
	if (a->details && !node_ports_add(&held->ports_cores, a->details))
		held->twice = "a port";
	if (a->details && !node_cores_add(&held->ports_cores, a->details))
		held->twice = "a core";
}

static bool is_within(const struct held *held, const struct node *node, char *why, size_t size)
{
	struct resources has = node_capacity(node);
	char id[UUID_TEXT_BYTES];

	uuid_format(&node->id, id);
	if (held->twice) {
		snprintf(why, size, "node %s: %s is held twice, or is not there", id, held->twice);
		return false;
	}
	snprintf(why, size,
		"node %s: in use are %" PRIu64 " of %u MHz, %" PRIu64 " of %u MB, %" PRIu64
		" of %u MB of disk",
		id, held->cpu_mhz, has.cpu_mhz, held->memory_mb, has.memory_mb, held->disk_mb,
		has.disk_mb);
	return held->cpu_mhz <= has.cpu_mhz && held->memory_mb <= has.memory_mb &&
	       held->disk_mb <= has.disk_mb;
}

static bool is_on(const struct allocation *a, bool with_stopping)
{
	return allocation_holds_room(a) && (with_stopping || !allocation_is_terminal(a));
}

static bool held_fits(const struct state *state, uint32_t slot, struct held *held,
	bool with_stopping, char *why, size_t size)
{
	const struct node *node = node_working(state, slot);
	const struct alloc_cell *cell;

	if (!node || node->record.deleted)
		return true;
	cds_list_for_each_entry_rcu (cell, &state->cells[slot].allocations, on_node)
		if (is_on(cell->working, with_stopping))
			hold(held, node, cell->working);
	bool fits = is_within(held, node, why, size);
	node_ports_cores_release(&held->ports_cores);
	return fits;
}

bool room_suffices(const struct state *state, uint32_t slot, char *why, size_t why_size)
{
	struct held held = {0};
	return held_fits(state, slot, &held, false, why, why_size);
}

bool room_is_left(const struct state *state, uint32_t slot, const struct resources *more, char *why,
	size_t why_size)
{
	struct held held = {more->cpu_mhz, more->memory_mb, more->disk_mb};
	return held_fits(state, slot, &held, true, why, why_size);
}
