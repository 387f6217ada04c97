#include "state/apply/apply.h"
#include "state/apply/apply_node_metadata.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/time_units.h"
#include "state/records/job_traits.h"
#include "state/records/nodes/node_own.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/job_reevaluations.h"
#include "state/tables/jobs/job_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_class.h"
#include "state/tables/nodes/node_extra.h"
#include "state/tables/nodes/node_history.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/nodes/node_slots.h"
#include "state/tables/nodes/node_status.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <urcu-qsbr.h>

// A slot is given to another node only after the end of its node was published.
static bool is_leaving(const struct state *state, uint32_t slot)
{
	CHECK(slot < state->slots_max);
	const struct node_cell *cell = &state->cells[slot];
	const struct node *gone = node_slot_gone(cell);
	return gone && cell->published != gone;
}

static int new_node_check(const struct state *state, const struct entry_node_register *e)
{
	if (is_leaving(state, e->slot) || e->generation != node_slot_generation(state, e->slot) ||
		node_working(state, e->slot) || e->slot / NODE_BLOCK_SLOTS > state->block_count)
		return -ERROR_CORRUPT;
	return nodes_count(state) < state->limits.nodes ? 0 : -ERROR_TABLE_FULL;
}

int node_register_check(const struct state *state, const void *body)
{
	const struct entry_node_register *e = body;
	const struct node_cell *cell = node_cell_find(state, &e->description->node);

	if (e->owner >= WORKERS_MAX)
		return -ERROR_CORRUPT;
	if (e->slot >= state->slots_max)
		return -ERROR_TABLE_FULL;
	if (!cell)
		return new_node_check(state, e);
	const struct node *known = cell->working;
	return known->slot == e->slot && e->generation == generation_after(known->generation) &&
			       e->description->sequence > known->register_sequence
		       ? 0
		       : -ERROR_CORRUPT;
}

static bool is_same_device(const struct device_group *a, const struct device_group *b)
{
	return strcmp(a->vendor, b->vendor) == 0 && strcmp(a->type, b->type) == 0 &&
	       strcmp(a->name, b->name) == 0;
}

// Finds the instances of a former class's devices in the node's present class. False when some are missing.
static bool move_devices(const struct node_class *from, const struct node *n,
	const struct device_set *devices, struct device_set *moved)
{
	const struct node_class *to = n->node_class;

	CHECK(from->device_count <= NODE_DEVICE_GROUPS_MAX);
	*moved = (struct device_set){0};
	for (uint32_t i = 0; i < from->device_count; i++) {
		uint32_t j = 0;
		if (!devices->groups[i])
			continue;
		while (j < to->device_count && !is_same_device(&from->devices[i], &to->devices[j]))
			j++;
		if (j == to->device_count || (devices->groups[i] & ~node_instances(n, j)))
			return false;
		moved->groups[j] = devices->groups[i];
	}
	return true;
}

static void move_allocation(struct state *state, struct alloc_cell *cell,
	const struct device_set *devices, int64_t time_ns)
{
	CHECK(cell->room != ROOM_NONE);
	struct allocation *a = allocation_revise(state, cell, ++state->index);

	allocation_set_devices(a, devices);
	a->alloc_modify_index = state->index;
	a->modify_time_ns = time_ns;
	alloc_cell_changed(state, cell);
}

// The node registered with new devices: device groups may have come, gone or moved. An allocation keeps the instances
// that still exist; an allocation whose instances are gone cannot be running and ends, and one that is to stop anyway
// holds none any more.
static void place_devices_again(
	struct state *state, struct node_cell *node, const struct node_class *from, int64_t time_ns)
{
	struct device_set used = {0};
	struct alloc_cell *cell;

	cds_list_for_each_entry_rcu (cell, &node->allocations, on_node) {
		struct device_set moved;
		if (cell->room == ROOM_NONE)
			continue;
		const struct device_set *held = allocation_devices(cell->working);
		bool is_there = move_devices(from, node->working, held, &moved);
		if (!is_there && cell->room == ROOM_STOPPING)
			moved = (struct device_set){0};
		else if (!is_there) {
			alloc_cell_end(state, cell, END_DEVICES_GONE, time_ns, ++state->index);
			job_cell_update_status(state, cell->job_cell, state->index);
			continue;
		}
		if (!device_set_is_equal(&moved, held))
			move_allocation(state, cell, &moved, time_ns);
		device_set_add(&used, &moved);
	}
	CHECK(node->working->node_class != from);
	if (node->extra)
		node->extra->devices_used = used;
}

static bool volumes_differ(const struct node *a, const struct node *b)
{
	const struct node_fittings *of_a = node_fittings(a), *of_b = node_fittings(b);

	if (of_a->volume_count != of_b->volume_count)
		return true;
	for (uint32_t i = 0; i < of_a->volume_count; i++) {
		const struct host_volume *x = &of_a->volumes[i], *y = &of_b->volumes[i];
		if (strcmp(x->name, y->name) != 0 || strcmp(x->path, y->path) != 0 ||
			x->read_only != y->read_only)
			return true;
	}
	return false;
}

// Whether anything that placement reads differs (row B55). The class stands for datacenter, attributes, drivers and
// devices.
static bool is_of_another_kind(const struct node *a, const struct node *b)
{
	return a->node_class != b->node_class || strcmp(a->name, b->name) != 0 ||
	       !node_own_equal(a, b) || volumes_differ(a, b);
}

static struct record *former_record(
	const struct state *state, const struct node_cell *cell, uint32_t slot)
{
	CHECK(!cell || cell->working);
	if (cell)
		return &cell->working->record;
	return node_slot_is_free(state, slot) ? &node_slot_gone(&state->cells[slot])->record : NULL;
}

static bool is_away(uint8_t status)
{
	return status == NODE_DOWN || status == NODE_DISCONNECTED;
}

void node_register_apply(struct state *state, void *body, int64_t time_ns)
{
	const struct entry_node_register *e = body;
	struct node_cell *cell = node_cell_find(state, &e->description->node);
	const struct node *old = cell ? cell->working : NULL;

	CHECK(e->slot < state->slots_max && (!old || old->slot == e->slot));
	struct node_history history = node_history_of(old);
	node_history_add(
		&history, old ? NODE_RE_REGISTERED : NODE_REGISTERED, time_ns, state->index);
	bool is_as_stored = !node_metadata_registered(state, e->description);
	uint64_t hash = is_as_stored && e->class_hash ? e->class_hash : class_hash(e->description);
	struct node *n = node_build(
		state, e->description, class_take_hashed(state, e->description, hash), &history);

	n->slot = e->slot;
	n->generation = e->generation;
	n->record.create_index = old ? old->record.create_index : state->index;
	n->record.modify_index = n->register_index = n->described_index = state->index;
	n->record.older = former_record(state, cell, e->slot);
	n->status = node_status_registered(cell, e->is_awaited);
	n->missed_heartbeat_index =
		old && n->status != NODE_READY ? old->missed_heartbeat_index : 0;
	if (is_away(n->status))
		n->status_message = old->status_message;
	n->eligibility = old ? old->eligibility : NODE_ELIGIBLE;
	n->standing = old ? old->standing : (struct standing){.forgotten = true};
	if (old)
		node_set_snapshot(state, n, old->snapshot);
	n->status_updated_at_s = (uint32_t)(time_ns / NS_PER_S);
	if (!cell)
		cell = node_cell_open(state, e->slot, e->owner, &n->id);
	cell->working = n;
	CHECK(cell == &state->cells[e->slot]);
	change_add(state->changes, STATE_NODES, cell, &n->record);
	CHECK(n->status < NODE_STATUSES);
	bool is_healthy = !is_away(n->status) && node_announced(state, n, e->readiness);
	state_count_node(state, n, 1);
	if (old) {
		state_count_node(state, old, -1);
		if (old->node_class != n->node_class)
			place_devices_again(state, cell, old->node_class, time_ns);
	}
	if (!old || old->status != n->status || is_healthy || is_of_another_kind(old, n))
		node_mark_jobs(state, cell);
	state_node_changed(state, e->slot);
}

static const uint8_t cause_messages[NODE_CAUSES] = {
	[NODE_CAUSE_EXPIRED] = NODE_HEARTBEAT_MISSED,
	[NODE_CAUSE_RETURNED] = NODE_REREGISTERED_BY_HEARTBEAT,
	[NODE_CAUSE_GOODBYE] = NODE_SAID_GOODBYE,
	[NODE_CAUSE_REVOKED] = NODE_KEY_REVOKED,
};

enum node_message node_cause_message(uint8_t cause)
{
	return cause < NODE_CAUSES ? cause_messages[cause] : NODE_REGISTERED;
}

uint8_t node_cause_of(const struct node *n)
{
	for (uint8_t cause = 0; cause < NODE_CAUSES; cause++)
		if (n->status_message == cause_messages[cause])
			return cause;
	return NODE_CAUSE_NONE;
}

static bool may_become(uint8_t before, uint8_t after, uint8_t cause)
{
	switch (after) {
	case NODE_DOWN: return before != NODE_DOWN && cause != NODE_CAUSE_RETURNED;
	case NODE_DISCONNECTED: return before == NODE_READY && cause == NODE_CAUSE_EXPIRED;
	case NODE_INITIALIZING:
		return (before == NODE_DISCONNECTED || before == NODE_INITIALIZING) &&
		       cause == NODE_CAUSE_RETURNED;
	case NODE_READY:
		return (before == NODE_DOWN || before == NODE_INITIALIZING) &&
		       cause == NODE_CAUSE_RETURNED;
	default: return false;
	}
}

int node_status_check(const struct state *state, const void *body)
{
	const struct entry_node_status *e = body;
	const struct node *n = node_working(state, e->slot);

	if (!n || n->generation != e->generation || e->cause >= NODE_CAUSES)
		return -ERROR_CORRUPT;
	return may_become(n->status, e->status, e->cause) ? 0 : -ERROR_CORRUPT;
}

// Ends the living allocations of direct jobs; a scheduler decides about all others.
static void lose_allocations(struct state *state, struct node_cell *node, int64_t time_ns)
{
	struct alloc_cell *cell;

	CHECK(node->working->status != NODE_READY);
	cds_list_for_each_entry_rcu (cell, &node->allocations, on_node) {
		if (!alloc_cell_is_living(cell) || !job_is_direct(cell->working->job))
			continue;
		alloc_cell_end(state, cell, END_NODE_DOWN, time_ns, ++state->index);
		job_cell_update_status(state, cell->job_cell, state->index);
	}
}

// A node that was only away returns without an event.
static struct node *revise(
	struct state *state, struct node_cell *cell, uint8_t cause, int64_t time_ns)
{
	CHECK(cell->working && cause < NODE_CAUSES);
	if (cause == NODE_CAUSE_RETURNED && cell->working->status != NODE_DOWN)
		return node_revise(state, cell, state->index);
	return node_revise_with_event(state, cell, state->index, cause_messages[cause], time_ns);
}

// The index after which the node has to report before it becomes ready; 0: none.
static uint64_t missed_after(
	const struct node *n, const struct entry_node_status *e, uint64_t index)
{
	if (e->cause == NODE_CAUSE_EXPIRED && n->status != NODE_DISCONNECTED)
		return index;
	return e->status == NODE_READY || e->cause == NODE_CAUSE_GOODBYE
		       ? 0
		       : n->missed_heartbeat_index;
}

void node_status_apply(struct state *state, void *body, int64_t time_ns)
{
	const struct entry_node_status *e = body;
	struct node_cell *cell = &state->cells[e->slot];
	CHECK(e->slot < state_node_slots(state) && cell->working->generation == e->generation);
	struct node *n = revise(state, cell, e->cause, time_ns);
	bool was_away = is_away(n->status);

	state_count_node(state, n, -1);
	n->missed_heartbeat_index = missed_after(n, e, state->index);
	n->status = e->status;
	n->status_message = cause_messages[e->cause];
	n->status_updated_at_s = (uint32_t)(time_ns / NS_PER_S);
	if (was_away && !is_away(n->status))
		node_announced(state, n, e->readiness);
	if (!was_away && is_away(n->status))
		node_went_away(state, n, time_ns);
	CHECK(cell->working == n && n->record.modify_index == state->index);
	state_count_node(state, n, 1);
	if (is_away(n->status))
		lose_allocations(state, cell, time_ns);
	node_mark_jobs(state, cell);
	state_node_changed(state, e->slot);
}
