#include "state/tables/nodes/node_slots.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/slab.h"
#include "state/tables/node_table.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

uint32_t generation_after(uint32_t generation)
{
	return generation + 1 ? generation + 1 : 1; // 0 is no node
}

static void add_free_slot(struct state *state, uint32_t slot)
{
	struct slot_list *list = &state->free_slots;

	list->slots =
		memory_one_more(list->slots, list->count, &list->capacity, sizeof list->slots[0]);
	list->slots[list->count++] = slot;
	CHECK(list->count <= list->capacity);
}

static struct node *tombstone(
	struct state *state, const struct uuid *id, uint32_t slot, uint32_t generation)
{
	struct node *gone = slab_take(sizeof *gone);

	gone->id = *id;
	gone->slot = slot;
	gone->generation = generation;
	gone->bytes = sizeof *gone;
	gone->record.deleted = true;
	state->bytes_records += gone->bytes;
	CHECK(gone->generation > 0);
	return gone;
}

void node_cell_close(struct state *state, struct node_cell *cell, uint64_t index)
{
	struct node *old = cell->working;
	struct node *gone = tombstone(state, &old->id, old->slot, old->generation);

	CHECK(cds_list_empty(&cell->allocations) && cell->allocation_count == 0);
	gone->record.create_index = old->record.create_index;
	gone->record.modify_index = index;
	gone->record.older = &old->record;
	struct node_extra *extra = node_extra_make(state, cell);
	cell->working = NULL;
	extra->gone = gone;
	atomic_store_explicit(&extra->is_resting, true, memory_order_relaxed);
	add_free_slot(state, old->slot);
	change_add(state->changes, STATE_NODES, cell, &gone->record);
	CHECK(node_slot_is_free(state, gone->slot));
}

void node_cell_load_free(struct state *state, uint32_t slot, uint32_t generation, uint16_t owner)
{
	struct node_cell *cell = &state->cells[slot];

	CHECK(!cell->working && !node_slot_gone(cell));
	node_slot_reserve(state, slot, owner);
	struct node *gone = tombstone(state, &(struct uuid){0}, slot, generation);
	node_extra_make(state, cell)->gone = gone;
	publish_loaded(STATE_NODES, cell, gone);
	add_free_slot(state, slot);
}

void node_slot_take(struct state *state, uint32_t slot)
{
	struct slot_list *list = &state->free_slots;
	uint32_t at = 0;

	while (at < list->count && list->slots[at] != slot)
		at++;
	CHECK(at < list->count);
	memmove(list->slots + at, list->slots + at + 1,
		(--list->count - at) * sizeof list->slots[0]);
	state->cells[slot].extra->gone = NULL;
	CHECK(!node_slot_is_free(state, slot));
}

uint32_t node_slot_ready(const struct state *state)
{
	const struct slot_list *list = &state->free_slots;

	for (uint32_t i = 0; i < list->count; i++)
		if (!atomic_load_explicit(&node_extra_of(&state->cells[list->slots[i]])->is_resting,
			    memory_order_acquire))
			return list->slots[i];
	return NO_SLOT;
}

bool node_slot_is_free(const struct state *state, uint32_t slot)
{
	return slot < state_node_slots(state) && node_slot_gone(&state->cells[slot]);
}

uint32_t node_slot_generation(const struct state *state, uint32_t slot)
{
	CHECK(slot < state->slots_max);
	return node_slot_is_free(state, slot)
		       ? generation_after(node_slot_gone(&state->cells[slot])->generation)
		       : 1;
}

struct rest {
	struct rcu_head rcu;
	struct node_extra *extra; // of the slot
};

static void end_rest(struct rcu_head *head)
{
	struct rest *rest = caa_container_of(head, struct rest, rcu);

	atomic_store_explicit(&rest->extra->is_resting, false, memory_order_release);
	free(rest);
}

void node_slot_direct(struct state *state, const struct node *n)
{
	uint32_t directives = n->standing.readiness == READINESS_AWAITED ? NODE_DIRECTIVE_PROBE : 0;

	if (n->drain)
		directives |= NODE_DIRECTIVE_DRAIN;
	node_table_direct(state->node_table, n->slot, directives);
}

void node_slot_follow(struct state *state, struct node_cell *cell, const struct node *after)
{
	struct node_line *line = &state->node_table->lines[after->slot];

	if (!after->record.deleted) {
		node_slot_direct(state, after);
		return;
	}
	// If the node is still alive, it has to register again.
	atomic_store_explicit(&line->directives, NODE_DIRECTIVE_REGISTER, memory_order_relaxed);
	table_hash_remove(state, STATE_NODES, uuid_hash(&after->id), &cell->by_id);
	CHECK(node_slot_gone(cell) == after || cell->working);
	struct rest *rest = memory_take(sizeof *rest);
	rest->extra = cell->extra;
	call_rcu(&rest->rcu, end_rest);
}

void node_slot_reserve(struct state *state, uint32_t slot, uint16_t owner)
{
	CHECK(slot < state->slots_max);
	struct node_table *table = state->node_table;
	uint32_t block = slot / NODE_BLOCK_SLOTS;

	CDS_INIT_LIST_HEAD(&state->cells[slot].allocations);
	if (block >= state->block_count) {
		CHECK(block == state->block_count);
		state->block_count++;
		atomic_store_explicit(&table->block_owner[block], owner, memory_order_relaxed);
	}
	if (slot % NODE_BLOCK_SLOTS >= state->block_used[block])
		state->block_used[block] = (uint16_t)(slot % NODE_BLOCK_SLOTS + 1);
	if (slot >= table->slots_used)
		atomic_store_explicit(&table->slots_used, slot + 1, memory_order_release);
	CHECK(slot < state_node_slots(state));
}

uint32_t state_node_slots(const struct state *state)
{
	return atomic_load_explicit(&state->node_table->slots_used, memory_order_acquire);
}

struct node_table *state_node_table(struct state *state)
{
	return state->node_table;
}
