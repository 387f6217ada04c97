#include "state/tables/nodes/node_room.h"
#include "state/base/check.h"
#include "state/records/alloc_details.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/nodes/node_extra.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/nodes/node_status.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <urcu-qsbr.h>

static enum alloc_room room_of(const struct allocation *a)
{
	if (!allocation_holds_room(a))
		return ROOM_NONE;
	return allocation_is_terminal(a) ? ROOM_STOPPING : ROOM_LIVING;
}

// The instances that other allocations of the node hold, by their newest versions or by those that readers see.
static struct device_set devices_of_others(
	const struct node_cell *node, const struct alloc_cell *but, bool published)
{
	struct device_set held = {0};
	const struct alloc_cell *cell;

	cds_list_for_each_entry_rcu (cell, &node->allocations, on_node) {
		const struct allocation *a = published ? allocation_published(cell) : cell->working;
		if (cell != but && a && a->devices && allocation_holds_room(a))
			device_set_add(&held, a->devices);
	}
	return held;
}

static struct node_cell *node_of(struct state *state, const struct alloc_cell *cell)
{
	CHECK(cell->working->node_slot < state->slots_max);
	struct node_cell *node = &state->cells[cell->working->node_slot];
	CHECK(node->working);
	return node;
}

void node_room_take(struct state *state, const struct alloc_cell *cell)
{
	const struct allocation *a = cell->working;
	struct node_cell *node = node_of(state, cell);

	node->used = resources_plus(node->used, a->resources);
	if (a->devices)
		device_set_add(&node_extra_make(state, node)->devices_used, a->devices);
	node->with_details += alloc_details_hold_node(a->details);
}

void node_room_release(struct state *state, const struct alloc_cell *cell)
{
	const struct allocation *a = cell->working;
	struct node_cell *node = node_of(state, cell);

	node->used = resources_minus(node->used, a->resources);
	node->with_details -= alloc_details_hold_node(a->details);
	if (!a->devices)
		return;
	struct device_set others = devices_of_others(node, cell, false);
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		node->extra->devices_used.groups[i] &= ~a->devices->groups[i] | others.groups[i];
}

static void count_living(struct state *state, const struct alloc_cell *cell, bool lives)
{
	struct node_cell *node = node_of(state, cell);

	CHECK(lives || node->living > 0);
	node->living += lives ? 1u : -1u;
	if (node->living == (lives ? 1 : 0))
		node_busy_changed(state, cell->working->node_slot);
}

static void count_stopping(struct state *state, const struct alloc_cell *cell, bool stops)
{
	struct resources *stopping = &node_of(state, cell)->stopping;
	struct resources r = cell->working->resources;

	*stopping = stops ? resources_plus(*stopping, r) : resources_minus(*stopping, r);
}

static void change_room(struct state *state, struct alloc_cell *cell, enum alloc_room room)
{
	enum alloc_room before = (enum alloc_room)cell->room;

	if (room == before)
		return;
	if (before == ROOM_NONE)
		node_room_take(state, cell);
	if (room == ROOM_NONE)
		node_room_release(state, cell);
	if (room == ROOM_STOPPING || before == ROOM_STOPPING)
		count_stopping(state, cell, room == ROOM_STOPPING);
	if (room == ROOM_LIVING || before == ROOM_LIVING)
		count_living(state, cell, room == ROOM_LIVING);
	cell->room = (uint8_t)room;
}

void node_room_follow(struct state *state, struct alloc_cell *cell)
{
	CHECK(cell->working);
	change_room(state, cell, room_of(cell->working));
}

void node_room_leave(struct state *state, struct alloc_cell *cell)
{
	change_room(state, cell, ROOM_NONE);
	CHECK(cell->room == ROOM_NONE);
}

struct resources node_room_of_living(const struct node_cell *node)
{
	return resources_minus(node->used, node->stopping);
}

bool node_living_spare_devices(const struct node_cell *node, const struct device_set *ask)
{
	struct device_set held = {0};
	const struct alloc_cell *cell;

	if (device_set_is_empty(ask))
		return true;
	cds_list_for_each_entry_rcu (cell, &node->allocations, on_node) {
		if (cell->room == ROOM_LIVING)
			device_set_add(&held, allocation_devices(cell->working));
	}
	return node_has_devices(node->working, &held, ask);
}

// Readers see whole words, not all of one moment.
#define USE_STORE(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)

static void put_resources(struct resources *at, struct resources r)
{
	USE_STORE(at->cpu_mhz, r.cpu_mhz);
	USE_STORE(at->memory_mb, r.memory_mb);
	USE_STORE(at->disk_mb, r.disk_mb);
}

static void use_set(struct node_cell *node, struct resources used, uint32_t with_details)
{
	put_resources(&node->published_use.used, used);
	if (node->published_use.with_details != with_details)
		USE_STORE(node->published_use.with_details, with_details);
}

static void use_count_living(struct node_cell *node, int change)
{
	CHECK(change > 0 || node->published_use.living > 0);
	USE_STORE(node->published_use.living, node->published_use.living + (uint32_t)change);
}

// An instance that another allocation holds by its published version stays taken; if that one gives it back in the same
// batch, its own change does so.
static void use_drop_devices(
	struct node_cell *node, const struct alloc_cell *cell, const struct device_set *devices)
{
	CHECK(node);
	if (!devices)
		return;
	struct device_set others = devices_of_others(node, cell, true);
	struct device_set *used = &node->extra->published_devices;
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		if (devices->groups[i])
			USE_STORE(used->groups[i],
				used->groups[i] & (~devices->groups[i] | others.groups[i]));
}

// Most changes of an allocation are changes of its status, and its node is as full as before.
static bool is_same_use(const struct allocation *a, const struct allocation *b)
{
	return a->node_slot == b->node_slot && room_of(a) == room_of(b) &&
	       memcmp(&a->resources, &b->resources, sizeof a->resources) == 0 &&
	       device_set_is_equal(allocation_devices(a), allocation_devices(b)) &&
	       alloc_details_hold_node(a->details) == alloc_details_hold_node(b->details);
}

static void note_use(
	struct state *state, const struct allocation *before, const struct allocation *after)
{
	if (before && room_of(before) != ROOM_NONE)
		node_feed_note(&state->node_feed, before->node_slot);
	else if (after && room_of(after) != ROOM_NONE)
		node_feed_note(&state->node_feed, after->node_slot);
}

void node_use_follow(struct state *state, const struct alloc_cell *cell,
	const struct allocation *before, const struct allocation *after)
{
	if (before && after && is_same_use(before, after)) {
		// Another version of the job may have another priority.
		if (before->job != after->job)
			note_use(state, before, after);
		return;
	}
	if (before && room_of(before) != ROOM_NONE) {
		struct node_cell *node = &state->cells[before->node_slot];
		use_set(node, resources_minus(node->published_use.used, before->resources),
			node->published_use.with_details -
				alloc_details_hold_node(before->details));
		if (room_of(before) == ROOM_LIVING)
			use_count_living(node, -1);
		use_drop_devices(node, cell, before->devices);
	}
	if (after && room_of(after) != ROOM_NONE) {
		struct node_cell *node = &state->cells[after->node_slot];
		use_set(node, resources_plus(node->published_use.used, after->resources),
			node->published_use.with_details + alloc_details_hold_node(after->details));
		if (room_of(after) == ROOM_LIVING)
			use_count_living(node, 1);
		state->is_unsettled |= after->devices != NULL;
	}
	note_use(state, before, after);
}

void node_use_machines(
	struct state *state, uint32_t slot, struct resources before, struct resources now)
{
	CHECK(slot < state_node_slots(state));
	struct node_cell *node = &state->cells[slot];
	struct resources *machines = &node_extra_make(state, node)->published_machines;
	struct resources used = node->published_use.used;

	use_set(node, resources_plus(resources_minus(used, before), now),
		node->published_use.with_details);
	put_resources(machines, resources_plus(resources_minus(*machines, before), now));
	node_feed_note(&state->node_feed, slot);
}

void node_use_take_devices(struct state *state, const struct allocation *a)
{
	if (!a->devices || !allocation_holds_room(a))
		return;
	struct node_extra *extra = node_extra_make(state, &state->cells[a->node_slot]);
	struct device_set *used = &extra->published_devices;
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		if (a->devices->groups[i])
			USE_STORE(used->groups[i], used->groups[i] | a->devices->groups[i]);
	node_feed_note(&state->node_feed, a->node_slot);
}

#define USE_LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

static struct resources take_resources(const struct resources *at)
{
	return (struct resources){
		USE_LOAD(at->cpu_mhz), USE_LOAD(at->memory_mb), USE_LOAD(at->disk_mb)};
}

uint32_t state_node_allocation_count(const struct state *state, uint32_t slot)
{
	CHECK(slot < state->slots_max);
	return atomic_load_explicit(&state->cells[slot].allocation_count, memory_order_relaxed);
}

struct node_use state_node_use(const struct state *state, uint32_t slot)
{
	struct node_use use = {0};

	if (slot >= state_node_slots(state))
		return use;
	const struct node_cell *node = &state->cells[slot];
	use.used = take_resources(&node->published_use.used);
	use.with_details = USE_LOAD(node->published_use.with_details);
	use.living = USE_LOAD(node->published_use.living);
	const struct node_extra *extra = __atomic_load_n(&node->extra, __ATOMIC_ACQUIRE);
	if (!extra)
		return use;
	use.machines = take_resources(&extra->published_machines);
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		use.devices.groups[i] = USE_LOAD(extra->published_devices.groups[i]);
	return use;
}
