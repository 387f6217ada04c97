// Checks nodes: their use, their classes, free slots. No node is over-committed in any dimension by living allocations,
// with one exception: a node that registered again with less than before keeps its allocations; then everything that
// takes of the short dimension was placed before that registration. Beside the living ones there may be allocations
// that are to stop: they count as use until they have ended.
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/records/job_traits.h"
#include "state/records/nodes/node_metadata.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/kind.h"
#include "state/tables/node_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/nodes/node_slots.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include "state/tables/vms/vm_table.h"
#include "state/verify/verifier.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

struct use {
	uint64_t cpu_mhz, memory_mb, disk_mb;
	uint64_t newest_cpu, newest_memory,
		newest_disk; // index since which the newest user takes some
	struct device_set devices;
	bool has_device_twice;
	uint32_t direct, with_details, living; // how many
};

// What allocations of a node hold that are to stop.
struct stopping_use {
	struct resources resources;
	struct device_set devices;
	uint32_t with_details;
};

static void add_dimension(uint64_t *sum, uint64_t *newest, uint32_t amount, uint64_t since_index)
{
	*sum += amount;
	if (amount > 0 && since_index > *newest)
		*newest = since_index;
}

static void add_resources(struct use *use, struct resources r, uint64_t since_index)
{
	add_dimension(&use->cpu_mhz, &use->newest_cpu, r.cpu_mhz, since_index);
	add_dimension(&use->memory_mb, &use->newest_memory, r.memory_mb, since_index);
	add_dimension(&use->disk_mb, &use->newest_disk, r.disk_mb, since_index);
}

static void add_use(struct use *use, const struct allocation *a)
{
	use->direct += job_is_direct(a->job);
	use->with_details += alloc_details_hold_node(a->details);
	use->living++;
	add_resources(use, a->resources, a->record.create_index);
	const struct device_set *held = allocation_devices(a);
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++) {
		use->has_device_twice |= (use->devices.groups[i] & held->groups[i]) != 0;
		use->devices.groups[i] |= held->groups[i];
	}
}

static void add_stopping(struct stopping_use *use, const struct allocation *a)
{
	use->with_details += alloc_details_hold_node(a->details);
	use->resources = resources_plus(use->resources, a->resources);
	device_set_add(&use->devices, allocation_devices(a));
}

// Adds what machines hold of the node, if it is a worker.
static void add_machines(struct verifier *v, const struct node_cell *cell, struct use *use)
{
	const struct vm_worker_cell *worker = vm_worker_cell_of_node(v->state, &cell->working->id);
	const struct vm_cell *vm;

	if (worker)
		cds_list_for_each_entry (vm, &worker->machines, of_worker)
			add_resources(use, vm->working->holds, vm->working->holds_index);
}

static void check_capacity(struct verifier *v, const struct node_cell *cell, const struct use *use)
{
	const struct node *n = cell->working;
	struct resources capacity = node_capacity(n);
	char id[UUID_TEXT_BYTES];

	uuid_format(&n->id, id);
	expect(v, use->cpu_mhz <= capacity.cpu_mhz || use->newest_cpu < n->register_index,
		"node %s: cpu over-committed: %lu of %u", id, use->cpu_mhz, capacity.cpu_mhz);
	expect(v, use->memory_mb <= capacity.memory_mb || use->newest_memory < n->register_index,
		"node %s: memory over-committed: %lu of %u", id, use->memory_mb,
		capacity.memory_mb);
	expect(v, use->disk_mb <= capacity.disk_mb || use->newest_disk < n->register_index,
		"node %s: disk over-committed: %lu of %u", id, use->disk_mb, capacity.disk_mb);
	expect(v, !use->has_device_twice, "node %s: a device instance is given twice", id);
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		expect(v, (use->devices.groups[i] & ~node_instances(n, i)) == 0,
			"node %s: device group %u: an instance that is not there is given", id, i);
}

static struct resources held_by_machines(const struct verifier *v, const struct node_cell *cell)
{
	const struct vm_worker_cell *worker = vm_worker_cell_of_node(v->state, &cell->working->id);
	const struct vm_cell *vm;
	struct resources sum = {0};

	if (worker)
		cds_list_for_each_entry (vm, &worker->machines, of_worker)
			sum = resources_plus(sum, vm->working->holds);
	return sum;
}

// Everything is published, so both uses are of the same allocations and machines.
static void check_published_use(struct verifier *v, const struct node_cell *cell, uint32_t slot)
{
	struct node_use use = state_node_use(v->state, slot);
	struct resources machines = held_by_machines(v, cell);

	expect(v,
		memcmp(&use.used, &cell->used, sizeof use.used) == 0 &&
			memcmp(&use.machines, &machines, sizeof machines) == 0 &&
			memcmp(&use.devices, node_devices_used(cell), sizeof use.devices) == 0 &&
			use.with_details == cell->with_details && use.living == cell->living,
		"slot %u: readers see another use than there is", slot);
}

static void check_sums(struct verifier *v, const struct node_cell *cell, const struct use *use,
	const struct stopping_use *stopping)
{
	struct resources used = cell->used, stops = stopping->resources;
	uint32_t slot = cell->working->slot, with_details = use->with_details;
	struct device_set devices = use->devices;

	device_set_add(&devices, &stopping->devices);
	with_details += stopping->with_details;
	expect(v,
		use->cpu_mhz + stops.cpu_mhz == used.cpu_mhz &&
			use->memory_mb + stops.memory_mb == used.memory_mb &&
			use->disk_mb + stops.disk_mb == used.disk_mb &&
			memcmp(&stops, &cell->stopping, sizeof stops) == 0,
		"slot %u: use does not add up", slot);
	expect(v, memcmp(&devices, node_devices_used(cell), sizeof devices) == 0,
		"slot %u: use of devices does not add up", slot);
	expect(v, with_details == cell->with_details,
		"slot %u: %u allocations hold ports, devices or cores, %u counted", slot,
		with_details, cell->with_details);
}

static void check_use(struct verifier *v, const struct node_cell *cell)
{
	const struct alloc_cell *alloc;
	struct use use = {0};
	struct stopping_use stopping = {0};
	uint32_t count = 0, slot = cell->working->slot;

	cds_list_for_each_entry_rcu (alloc, &cell->allocations, on_node) {
		const struct allocation *a = alloc->working;
		count++;
		expect(v, a->node_slot == slot && uuid_equal(&a->node_id, &cell->working->id),
			"slot %u: an allocation of another node is on its list", slot);
		if (allocation_holds_room(a) && allocation_is_terminal(a))
			add_stopping(&stopping, a);
		else if (allocation_holds_room(a))
			add_use(&use, a);
	}
	add_machines(v, cell, &use);
	check_sums(v, cell, &use, &stopping);
	expect(v, count == cell->allocation_count,
		"slot %u: %u allocations on the list, %u counted", slot, count,
		cell->allocation_count);
	expect(v, use.living == cell->living, "slot %u: %u allocations are living, %u counted",
		slot, use.living, cell->living);
	check_published_use(v, cell, slot);
	verify_ports_cores(v, cell);
	check_capacity(v, cell, &use);
	expect(v, cell->working->status == NODE_READY || use.direct == 0,
		"slot %u: a node that is not ready has living allocations of direct jobs", slot);
}

static void check_node(struct verifier *v, uint32_t slot)
{
	const struct node_cell *cell = &v->state->cells[slot];
	const struct node *n = cell->working;
	const struct record *r = &n->record;

	expect(v, cell->published == n, "slot %u: a change was never published", slot);
	expect(v, n->slot == slot && n->generation != 0 && !r->deleted && n->status < NODE_STATUSES,
		"slot %u: bad record", slot);
	expect(v, node_cell_find(v->state, &n->id) == cell, "slot %u: its id does not lead to it",
		slot);
	expect(v,
		r->create_index <= n->register_index && n->register_index <= r->modify_index &&
			r->modify_index <= v->state->index,
		"slot %u: indexes out of order", slot);
	expect(v,
		n->node_class->id < v->state->classes.limit &&
			state_class(v->state, n->node_class->id) == n->node_class,
		"slot %u: its class is not in the table", slot);
	expect(v, !n->drain || (n->eligibility == NODE_INELIGIBLE && n->was_drained),
		"slot %u: drains, but takes new work, or does not remember that it began", slot);
	expect(v, node_table_owner(v->state->node_table, slot) < WORKERS_MAX,
		"slot %u: nobody owns its block", slot);
	expect(v, slot % NODE_BLOCK_SLOTS < v->state->block_used[slot / NODE_BLOCK_SLOTS],
		"slot %u: in use, but not handed out", slot);
	v->class_nodes[n->node_class->id]++;
	check_use(v, cell);
	verify_standing(v, cell);
}

static void check_free_slots(struct verifier *v)
{
	const struct slot_list *list = &v->state->free_slots;
	uint32_t gone = 0;

	for (uint32_t i = 0; i < list->count; i++)
		expect(v, node_slot_is_free(v->state, list->slots[i]),
			"slot %u: listed as free, but it is not", list->slots[i]);
	for (uint32_t slot = 0; slot < state_node_slots(v->state); slot++) {
		const struct node_cell *cell = &v->state->cells[slot];
		if (!node_slot_gone(cell))
			continue;
		gone++;
		expect(v, !cell->working && cell->published == node_slot_gone(cell),
			"slot %u: free, but a node is there", slot);
		expect(v, cell->allocation_count == 0, "slot %u: free, but allocations are on it",
			slot);
	}
	expect(v, gone == list->count, "%u slots are free, %u are listed", gone, list->count);
}

static void check_metadata(struct verifier *v)
{
	const struct cell *cell;
	uint64_t cursor = 0;

	while ((cell = sequence_next(&v->state->tables[STATE_NODE_METADATA].order, &cursor))) {
		const struct node_metadata *m = cell_is_there(cell) ? cell->working : NULL;
		struct uuid id;
		if (!m)
			continue;
		expect(v, cell->published == m, "metadata of node %s: a change was never published",
			m->node);
		const struct node_cell *node =
			uuid_parse(m->node, &id) ? node_cell_find(v->state, &id) : NULL;
		expect(v, node && node_metadata_is_laid(m, node->working),
			"metadata of node %s: its node does not show it", m->node);
	}
}

void verify_nodes(struct verifier *v)
{
	struct state *state = v->state;
	uint32_t by_status[NODE_STATUSES] = {0}, draining = 0;

	v->class_nodes = memory_take_array(state->classes.limit, sizeof v->class_nodes[0]);
	for (uint32_t slot = 0; slot < state_node_slots(state); slot++) {
		const struct node *n = state->cells[slot].working;
		if (!n)
			continue;
		check_node(v, slot);
		by_status[n->status]++;
		draining += n->drain != NULL;
	}
	expect(v,
		memcmp(by_status, state->counts.nodes, sizeof by_status) == 0 &&
			draining == state->counts.nodes_draining,
		"counts of nodes do not add up");
	verify_standings(v);
	check_free_slots(v);
	check_metadata(v);
	uint32_t classes = 0;
	for (uint32_t id = 0; id < state->classes.limit; id++) {
		const struct node_class *c = state_class(state, id);
		classes += c != NULL;
		expect(v, v->class_nodes[id] == (c ? c->nodes : 0),
			"class %u: %u nodes, %u counted", id, v->class_nodes[id], c ? c->nodes : 0);
	}
	expect(v, classes == state->classes.count, "count of classes does not add up");
	free(v->class_nodes);
}
