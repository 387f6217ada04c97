#include "state/tables/nodes/node_cell.h"
#include "state/base/check.h"
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/records/slab.h"
#include "state/tables/kind.h"
#include "state/tables/node_table.h"
#include "state/tables/nodes/node_class.h"
#include "state/tables/nodes/node_extra.h"
#include "state/tables/nodes/node_groups.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/nodes/node_report.h"
#include "state/tables/nodes/node_slots.h"
#include "state/tables/placer.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

// Each block of slots belongs to one worker, and a worker's last block may be partly empty, so there are more slots
// than nodes.
static uint32_t slots_for(uint32_t nodes)
{
	uint64_t blocks = (nodes + NODE_BLOCK_SLOTS - 1) / NODE_BLOCK_SLOTS + WORKERS_MAX;
	uint64_t slots = blocks * NODE_BLOCK_SLOTS;

	return slots < NODES_MAX ? (uint32_t)slots : NODES_MAX;
}

bool nodes_create(struct state *state)
{
	CHECK(state->limits.nodes > 0);
	state->slots_max = slots_for(state->limits.nodes);
	classes_init(&state->classes);
	strings_init(&state->strings);
	state->block_used =
		memory_take_array(state->slots_max / NODE_BLOCK_SLOTS, sizeof state->block_used[0]);
	state->node_table = node_table_create(state->slots_max);
	state->node_groups = node_groups_create(state->slots_max, NODE_GROUPS_MAX);
	state->cells = memory_map((size_t)state->slots_max * sizeof state->cells[0]);
	CHECK(state->slots_max % NODE_BLOCK_SLOTS == 0);
	return state->cells && state->node_table && state->node_groups &&
	       node_feed_create(&state->node_feed, state->slots_max);
}

uint32_t nodes_count(const struct state *state)
{
	uint32_t nodes = 0;

	for (int i = 0; i < NODE_STATUSES; i++)
		nodes += state->counts.nodes[i];
	return nodes;
}

// Between a purge and its publication two cells may have the id of a node that registered anew: readers see one, the
// applier works on the other.
static int working_id_matches(struct cds_lfht_node *node, const void *id)
{
	const struct node_cell *cell = caa_container_of(node, struct node_cell, by_id);
	return cell->working && uuid_equal(&cell->working->id, id);
}

static int published_id_matches(struct cds_lfht_node *node, const void *id)
{
	const struct node_cell *cell = caa_container_of(node, struct node_cell, by_id);
	const struct node *n = __atomic_load_n(&cell->published, __ATOMIC_ACQUIRE);
	return n && !n->record.deleted && uuid_equal(&n->id, id);
}

static struct node_cell *find_node_cell(
	const struct state *state, const struct uuid *id, cds_lfht_match_fct matches)
{
	struct cds_lfht_node *node =
		table_hash_find(state, STATE_NODES, uuid_hash(id), matches, id);
	return node ? caa_container_of(node, struct node_cell, by_id) : NULL;
}

struct node_cell *node_cell_find(const struct state *state, const struct uuid *id)
{
	return find_node_cell(state, id, working_id_matches);
}

struct node_cell *node_cell_open(
	struct state *state, uint32_t slot, uint16_t owner, const struct uuid *id)
{
	struct node_cell *cell = &state->cells[slot];

	CHECK(!cell->working);
	if (node_slot_is_free(state, slot))
		node_slot_take(state, slot);
	else
		node_slot_reserve(state, slot, owner);
	CHECK(!uuid_is_zero(id) && !node_slot_is_free(state, slot));
	table_hash_add(state, STATE_NODES, uuid_hash(id), &cell->by_id);
	return cell;
}

void state_count_node(struct state *state, const struct node *n, int change)
{
	const struct standing *l = &n->standing;
	enum node_standing standing = standing_of(l);
	bool is_suspended = standing == NODE_SUSPENDED;

	CHECK(n->status < NODE_STATUSES && standing < NODE_STANDINGS);
	CHECK(change > 0 || state->counts.nodes[n->status] > 0);
	CHECK(change > 0 || state->counts.nodes_standing[standing] > 0);
	state->counts.nodes[n->status] += (uint32_t)change;
	state->counts.nodes_standing[standing] += (uint32_t)change;
	if (is_suspended && l->lost_ns)
		state->counts.nodes_lost += (uint32_t)change;
	if (is_suspended && l->flaky_ns)
		state->counts.nodes_flaky += (uint32_t)change;
	if (is_suspended && l->readiness != READINESS_GIVEN)
		state->counts.nodes_unready += (uint32_t)change;
	if (n->eligibility == NODE_INELIGIBLE)
		state->counts.nodes_ineligible += (uint32_t)change;
	if (n->drain)
		state->counts.nodes_draining += (uint32_t)change;
}

void state_node_changed(struct state *state, uint32_t slot)
{
	CHECK(slot < state_node_slots(state));
	if (state->placer)
		state->placer->node_changed(state->placer->context, slot);
}

struct node_cell *state_node_cell(struct state *state, uint32_t slot)
{
	CHECK(slot < state->slots_max);
	return &state->cells[slot];
}

const struct node *state_node_at(const struct state *state, uint32_t slot)
{
	if (slot >= state_node_slots(state))
		return NULL;
	const struct node *n = __atomic_load_n(&state->cells[slot].published, __ATOMIC_ACQUIRE);
	return n && !n->record.deleted ? n : NULL;
}

// Cells are fetched twice as far ahead as the records that they point to. A scan reads only the first two cache lines
// of a record.
#define NODES_AHEAD 12u

void state_node_prefetch(const struct state *state, uint32_t slot)
{
	if (slot + 2 * NODES_AHEAD >= state_node_slots(state))
		return;
	const struct node_cell *cell = &state->cells[slot + 2 * NODES_AHEAD];
	__builtin_prefetch(&cell->published);
	__builtin_prefetch(&cell->published_use.living);
	const char *record = (const char *)__atomic_load_n(
		&state->cells[slot + NODES_AHEAD].published, __ATOMIC_RELAXED);
	__builtin_prefetch(record);
	__builtin_prefetch(record + 64);
}

void state_node_prefetch_one(const struct state *state, uint32_t slot, bool is_near)
{
	if (slot >= state_node_slots(state))
		return;
	const struct node_cell *cell = &state->cells[slot];
	__builtin_prefetch(&cell->published);
	if (!is_near)
		return;
	const struct node *node = __atomic_load_n(&cell->published, __ATOMIC_RELAXED);
	if (!node)
		return;
	__builtin_prefetch(&node->id);
	__builtin_prefetch(&node->drain);
}

void node_cell_prefetch(const struct state *state, uint32_t slot)
{
	if (slot >= state->slots_max)
		return;
	const char *cell = (const char *)&state->cells[slot];
	for (size_t line = 0; line < sizeof(struct node_cell); line += 64)
		__builtin_prefetch(cell + line);
}

void node_cell_prefetch_record(const struct state *state, uint32_t slot)
{
	if (slot >= state_node_slots(state))
		return;
	const char *record = (const char *)state->cells[slot].working;
	__builtin_prefetch(record);
	__builtin_prefetch(record + 64);
}

const struct node *state_node_by_id(const struct state *state, const struct uuid *id)
{
	const struct node_cell *cell = find_node_cell(state, id, published_id_matches);
	const struct node *n = cell ? __atomic_load_n(&cell->published, __ATOMIC_ACQUIRE) : NULL;
	// The slot may have been given to another node since.
	return n && !n->record.deleted && uuid_equal(&n->id, id) ? n : NULL;
}

// What has the hash of an id is taken for the one that has the id, which stands in the record.
static int hash_is_enough(struct cds_lfht_node *node, const void *id)
{
	return true;
}

void state_node_prefetch_id(const struct state *state, const struct uuid *id)
{
	const struct node_cell *cell = find_node_cell(state, id, hash_is_enough);
	if (!cell)
		return;
	const char *record = (const char *)__atomic_load_n(&cell->published, __ATOMIC_RELAXED);
	for (size_t line = 0; line < sizeof(struct node); line += 64)
		__builtin_prefetch(record + line);
}

#define SLOTS_BACKED 8192u // at once: at least a huge page

void node_cells_back(const struct state *state, uint32_t *backed, uint32_t slot)
{
	CHECK(*backed <= state->slots_max);
	if (slot >= state->slots_max || slot + SLOTS_BACKED / 2 < *backed)
		return;
	uint32_t left = state->slots_max - *backed;
	uint32_t count = left < SLOTS_BACKED ? left : SLOTS_BACKED;

	if (count > 0)
		memory_back(&state->cells[*backed], count * sizeof state->cells[0]);
	*backed += count;
}

static int has_same_id(struct cds_lfht_node *node, const void *other)
{
	const struct node_cell *a = caa_container_of(node, struct node_cell, by_id);
	const struct node_cell *b = caa_container_of(other, struct node_cell, by_id);
	return uuid_equal(&a->working->id, &b->working->id);
}

static void node_published(struct state *state, void *cell, void *before, void *now)
{
	CHECK(((struct node_cell *)cell)->published == now);
	node_slot_follow(state, cell, now);
	node_feed_note(&state->node_feed, ((const struct node *)now)->slot);
}

static void node_retired(struct state *state, void *old, const void *now)
{
	node_retire(state, old);
}

static void free_node(void *record)
{
	const struct node *n = record;

	slab_give(record, n->bytes);
}

static void destroy_node(struct state *state, struct node_cell *cell)
{
	struct node *newest = cell->working ? cell->working : node_slot_gone(cell);

	cell_free_versions(&node_report_kind, &cell->report);
	node_extra_free(state, cell);
	if (!newest)
		return;
	if (newest != cell->published || !newest->record.deleted)
		table_hash_remove(state, STATE_NODES, uuid_hash(&newest->id), &cell->by_id);
	cell->working = newest;
	cell_free_versions(&node_kind, cell);
}

static void destroy_nodes(struct state *state)
{
	for (uint32_t slot = 0; state->cells && state->node_table && slot < state_node_slots(state);
		slot++)
		destroy_node(state, &state->cells[slot]);
	memory_unmap(state->cells, (size_t)state->slots_max * sizeof state->cells[0]);
	node_feed_destroy(&state->node_feed);
	classes_destroy(&state->classes);
	strings_destroy(&state->strings);
	node_table_destroy(state->node_table);
	node_groups_destroy(state->node_groups);
	free(state->block_used);
	free(state->free_slots.slots);
}

const struct kind node_kind = {
	.name = "node",
	.limit_offset = offsetof(struct state_limits, nodes),
	.limit_max = NODES_MAX,
	.is_hashed = true,
	.has_ids = true,
	.key_offset = offsetof(struct node, id),
	.is_same = has_same_id,
	.published = node_published,
	.sum = node_sum,
	.retired = node_retired,
	.free = free_node,
	.destroy = destroy_nodes,
	.count = state_node_slots,
};
