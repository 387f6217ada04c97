// Workers by name and by node.
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/tables/kind.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include "state/tables/vms/vm_table.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

static struct cds_lfht *nodes_of(const struct state *state)
{
	return state->tables[STATE_VM_WORKERS].other.buckets;
}

bool vm_counts_are_sound(const struct array *counts)
{
	for (uint32_t i = 0; i < counts->count; i++)
		if (ARRAY_AT(counts, struct named_count, i)->count < 0)
			return false;
	return counts->count <= VM_RESOURCES_MAX;
}

// Only a worker that is a node beats.
bool vm_worker_is_sound(const void *record)
{
	const struct vm_worker *worker = record;

	return text_is_name(worker->name) && text_of(worker->machine_id).size <= UINT16_MAX &&
	       record_is_sound(&vm_worker_description, worker) &&
	       vm_counts_are_sound(&worker->resources) && worker->labels.count <= VM_LABELS_MAX &&
	       (!worker->beats || !uuid_is_zero(&worker->node));
}

// Several entries may have the id of one node: a worker that left the node keeps its entry until that is published.
struct node_match {
	const struct uuid *node;
	bool is_published;
};

static int node_matches(struct cds_lfht_node *node, const void *context)
{
	const struct vm_worker_node *way = caa_container_of(node, struct vm_worker_node, by_id);
	const struct node_match *match = context;
	const struct vm_worker *worker =
		match->is_published ? __atomic_load_n(&way->cell->published, __ATOMIC_ACQUIRE)
				    : way->cell->working;

	return uuid_equal(&way->id, match->node) && worker && !worker->record.deleted &&
	       uuid_equal(&worker->node, match->node);
}

static struct vm_worker_cell *find_by_node(
	const struct state *state, const struct uuid *node, bool is_published)
{
	struct node_match match = {node, is_published};
	struct cds_lfht_iter iter;

	cds_lfht_lookup(nodes_of(state), uuid_hash(node), node_matches, &match, &iter);
	struct cds_lfht_node *found = cds_lfht_iter_get_node(&iter);
	return found ? caa_container_of(found, struct vm_worker_node, by_id)->cell : NULL;
}

struct vm_worker_cell *vm_worker_cell_of_node(const struct state *state, const struct uuid *node)
{
	CHECK(!uuid_is_zero(node));
	return find_by_node(state, node, false);
}

struct node_cell *vm_worker_cell_node(const struct state *state, const struct vm_worker_cell *cell)
{
	if (!vm_worker_cell_is_there(cell) || uuid_is_zero(&cell->working->node))
		return NULL;
	return node_cell_find(state, &cell->working->node);
}

static const struct uuid *node_of(const struct vm_worker *worker)
{
	return worker && !worker->record.deleted && !uuid_is_zero(&worker->node) ? &worker->node
										 : NULL;
}

static bool leads_from(const struct vm_worker_node *way, const struct uuid *node)
{
	return node && uuid_equal(&way->id, node);
}

static void add_way(const struct state *state, struct vm_worker_cell *cell, const struct uuid *node)
{
	struct vm_worker_node **place = NULL;

	for (uint32_t i = 0; i < 2 && node; i++) {
		if (cell->nodes[i] && uuid_equal(&cell->nodes[i]->id, node))
			return;
		if (!cell->nodes[i])
			place = &cell->nodes[i];
	}
	if (!node)
		return;
	CHECK(place);
	*place = memory_take(sizeof **place);
	(*place)->id = *node;
	(*place)->cell = cell;
	cds_lfht_add(nodes_of(state), uuid_hash(node), &(*place)->by_id);
	CHECK((*place)->cell == cell);
}

// Exactly the nodes that the working and the published record name lead to the worker.
static void lead_to(const struct state *state, struct vm_worker_cell *cell)
{
	CHECK(cell->cell.table == STATE_VM_WORKERS);
	const struct uuid *working = node_of(cell->working), *published = node_of(cell->published);

	for (uint32_t i = 0; i < 2; i++) {
		struct vm_worker_node *way = cell->nodes[i];
		if (!way || leads_from(way, working) || leads_from(way, published))
			continue;
		CHECK(cds_lfht_del(nodes_of(state), &way->by_id) == 0);
		cell->nodes[i] = NULL;
		call_rcu(&way->rcu, rcu_free);
	}
	add_way(state, cell, working);
	add_way(state, cell, published);
}

// Machines hold resources of their worker's node only: clears what they hold of another node.
static void drop_holds(struct state *state, const struct vm_worker_cell *worker)
{
	const struct node_cell *node = vm_worker_cell_node(state, worker);
	struct vm_cell *cell;

	cds_list_for_each_entry (cell, &worker->machines, of_worker) {
		if (cell->working->holds_index == 0 ||
			(node && cell->working->holds_slot == node->working->slot))
			continue;
		CHECK(cell->worker == worker);
		struct vm *vm = cell_revise(state, &cell->cell, ++state->index);
		vm->holds = (struct resources){0};
		vm->holds_slot = 0;
		vm->holds_index = 0;
		cell_follow(state, &cell->cell);
	}
}

static void vm_worker_made(struct cell *made)
{
	struct vm_worker_cell *cell = (struct vm_worker_cell *)made;

	CDS_INIT_LIST_HEAD(&cell->machines);
	CDS_INIT_LIST_HEAD(&cell->listed);
	CHECK(cell->machine_count == 0 && cell->listed_count == 0);
}

// A scheduling pass that chose the worker by its former description has to look at it again (row D13).
static void vm_worker_replaced(struct cell *replaced, const void *record)
{
	struct vm_worker_cell *cell = (struct vm_worker_cell *)replaced;
	const struct vm_worker *worker = record;

	if (!vm_worker_cell_is_there(cell) || !vm_worker_is_described_as(worker, cell->working))
		cell->described_index = worker->record.modify_index;
	CHECK(cell->described_index > 0);
}

static void follow_vm_worker(struct state *state, struct cell *changed)
{
	struct vm_worker_cell *cell = (struct vm_worker_cell *)changed;
	bool is_there = vm_worker_cell_is_there(cell);

	CHECK(is_there || !cell->is_counted || state->counts.vm_workers > 0);
	state->counts.vm_workers += (uint32_t)is_there - (uint32_t)cell->is_counted;
	cell->is_counted = is_there;
	lead_to(state, cell);
	drop_holds(state, cell);
}

static void vm_worker_published(struct state *state, void *cell, void *before, void *now)
{
	CHECK(((struct cell *)cell)->published == now);
	lead_to(state, cell);
}

const struct vm_worker *state_vm_worker(const struct state *state, struct text name)
{
	return table_published(state, STATE_VM_WORKERS, &name);
}

const struct vm_worker *state_vm_worker_of_node(const struct state *state, const struct uuid *node)
{
	const struct vm_worker_cell *cell = find_by_node(state, node, true);
	const struct vm_worker *worker = cell ? cell_published(&cell->cell) : NULL;
	return worker && uuid_equal(&worker->node, node) ? worker : NULL;
}

static int check_loaded_vm_worker(const struct state *state, const void *record)
{
	const struct vm_worker *worker = record;

	if (uuid_is_zero(&worker->node))
		return 0;
	return node_cell_find(state, &worker->node) && !vm_worker_cell_of_node(state, &worker->node)
		       ? 0
		       : -ERROR_CORRUPT;
}

static bool is_vm_worker_idle(const struct cell *idle)
{
	CHECK(idle->table == STATE_VM_WORKERS);
	const struct vm_worker_cell *cell = (const struct vm_worker_cell *)idle;
	return cell->machine_count == 0 && cell->listed_count == 0;
}

static void vm_worker_released(struct state *state, struct cell *released)
{
	struct vm_worker_cell *cell = (struct vm_worker_cell *)released;

	for (uint32_t i = 0; i < 2; i++) {
		if (!cell->nodes[i])
			continue;
		CHECK(cds_lfht_del(nodes_of(state), &cell->nodes[i]->by_id) == 0);
		free(cell->nodes[i]);
	}
	map_free(&cell->used, sizeof(struct named_count));
}

const struct kind vm_worker_kind = {
	.name = "worker",
	.key = KEY_NAME,
	.key_offset = offsetof(struct vm_worker, name),
	.cell_bytes = sizeof(struct vm_worker_cell),
	.fields = &vm_worker_description,
	.limit_offset = offsetof(struct state_limits, vm_workers),
	.limit_max = VM_WORKERS_MAX,
	.has_other_hash = true,
	.is_sound = vm_worker_is_sound,
	.check_loaded = check_loaded_vm_worker,
	.made = vm_worker_made,
	.replaced = vm_worker_replaced,
	.follow = follow_vm_worker,
	.published = vm_worker_published,
	.is_idle = is_vm_worker_idle,
	.released = vm_worker_released,
};
