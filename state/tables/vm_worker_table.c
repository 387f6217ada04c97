// Workers by name and by node; the settings of the cluster.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/tables/publish.h"
#include "state/tables/vm_table.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

static int name_matches(struct cds_lfht_node *node, const void *name)
{
	const struct vm_worker_cell *cell = caa_container_of(node, struct vm_worker_cell, by_name);
	return text_equal(text_of(cell->name), *(const struct text *)name);
}

struct vm_worker_cell *vm_worker_cell_find(const struct state *state, struct text name)
{
	struct cds_lfht_iter iter;

	cds_lfht_lookup(state->vms.workers, hash_bytes(0, name.data, name.size), name_matches,
		&name, &iter);
	struct cds_lfht_node *node = cds_lfht_iter_get_node(&iter);
	return node ? caa_container_of(node, struct vm_worker_cell, by_name) : NULL;
}

struct vm_worker_cell *vm_worker_cell_find_or_add(struct state *state, struct text name)
{
	struct vm_worker_cell *cell = vm_worker_cell_find(state, name);
	if (cell)
		return cell;

	cell = memory_take(sizeof *cell);
	cell->name = text_copy(name);
	CDS_INIT_LIST_HEAD(&cell->machines);
	CDS_INIT_LIST_HEAD(&cell->listed);
	cds_lfht_add(state->vms.workers, hash_bytes(0, name.data, name.size), &cell->by_name);
	return cell;
}

// --- By node -------------------------------------------------------------------------------------

// More than one may lead from a node while a worker that it was is not published without it yet.
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

	cds_lfht_lookup(state->vms.worker_nodes, uuid_hash(node), node_matches, &match, &iter);
	struct cds_lfht_node *found = cds_lfht_iter_get_node(&iter);
	return found ? caa_container_of(found, struct vm_worker_node, by_id)->cell : NULL;
}

struct vm_worker_cell *vm_worker_cell_of_node(const struct state *state, const struct uuid *node)
{
	return find_by_node(state, node, false);
}

struct node_cell *vm_worker_cell_node(const struct state *state, const struct vm_worker_cell *cell)
{
	if (!vm_worker_cell_is_there(cell) || uuid_is_zero(&cell->working->node))
		return NULL;
	return node_cell_find(state, &cell->working->node);
}

static void way_free(struct rcu_head *head)
{
	free(caa_container_of(head, struct vm_worker_node, rcu));
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

static void add_way(struct vm_tables *vms, struct vm_worker_cell *cell, const struct uuid *node)
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
	cds_lfht_add(vms->worker_nodes, uuid_hash(node), &(*place)->by_id);
}

// From the nodes that the working and the published record name.
static void lead_to(struct vm_tables *vms, struct vm_worker_cell *cell)
{
	const struct uuid *working = node_of(cell->working), *published = node_of(cell->published);

	for (uint32_t i = 0; i < 2; i++) {
		struct vm_worker_node *way = cell->nodes[i];
		if (!way || leads_from(way, working) || leads_from(way, published))
			continue;
		CHECK(cds_lfht_del(vms->worker_nodes, &way->by_id) == 0);
		cell->nodes[i] = NULL;
		call_rcu(&way->rcu, way_free);
	}
	add_way(vms, cell, working);
	add_way(vms, cell, published);
}

void vm_worker_published(struct vm_tables *vms, struct vm_worker_cell *cell)
{
	lead_to(vms, cell);
}

// --- The working state ---------------------------------------------------------------------------

bool vm_workers_have_room(const struct state *state, struct text name)
{
	const struct vm_worker_cell *cell = vm_worker_cell_find(state, name);

	return (cell && cell->index) || state->vms.worker_order.count < state->limits.vm_workers;
}

// What machines hold is of the node that their worker is.
static void drop_holds(struct state *state, const struct vm_worker_cell *worker)
{
	const struct node_cell *node = vm_worker_cell_node(state, worker);
	struct vm_cell *cell;

	cds_list_for_each_entry (cell, &worker->machines, of_worker) {
		if (cell->working->holds_index == 0 ||
			(node && cell->working->holds_slot == node->working->slot))
			continue;
		struct vm *vm = vm_cell_revise(state, cell, ++state->index);
		vm->holds = (struct resources){0};
		vm->holds_slot = 0;
		vm->holds_index = 0;
		vm_cell_changed(state, cell);
	}
}

static void replace(struct vm_worker *known, struct vm_worker *worker)
{
	struct record *older = known->record.older;

	record_release(&vm_worker_description, known);
	*known = *worker;
	known->record.older = older;
	free(worker);
}

static void make_working(struct state *state, struct vm_worker_cell *cell, struct vm_worker *worker)
{
	struct vm_worker *old = cell->working;

	if (old && old->record.modify_index >= state->unpublished_from) {
		replace(old, worker);
		return;
	}
	worker->record.older = old ? &old->record : NULL;
	cell->working = worker;
	change_add(state->changes, CHANGE_VM_WORKER, cell, &worker->record);
}

static void enter(struct state *state, struct vm_worker_cell *cell, uint64_t index)
{
	if (cell->index)
		return;
	cell->index = index;
	sequence_append(&state->vms.worker_order, index, cell);
}

void vm_worker_cell_put(struct state *state, struct vm_worker *worker)
{
	struct vm_worker_cell *cell = vm_worker_cell_find_or_add(state, text_of(worker->name));
	bool is_there = vm_worker_cell_is_there(cell);

	worker->record.create_index =
		is_there ? cell->working->record.create_index : worker->record.modify_index;
	// Whoever chose it by what it was before has to look at it again (row D13).
	if (!is_there || !vm_worker_is_described_as(worker, cell->working))
		cell->described_index = worker->record.modify_index;
	state->counts.vm_workers += !is_there;
	enter(state, cell, worker->record.modify_index);
	make_working(state, cell, worker);
	lead_to(&state->vms, cell);
	drop_holds(state, cell);
}

void vm_worker_cell_load(struct state *state, struct vm_worker *worker, uint64_t index)
{
	struct vm_worker_cell *cell = vm_worker_cell_find_or_add(state, text_of(worker->name));

	cell->working = worker;
	cell->described_index = worker->record.modify_index;
	enter(state, cell, index);
	state->counts.vm_workers++;
	publish_loaded(&cell->published, worker);
	lead_to(&state->vms, cell);
}

struct vm_worker *vm_worker_cell_revise(
	struct state *state, struct vm_worker_cell *cell, uint64_t index)
{
	struct vm_worker *old = cell->working;

	if (old->record.modify_index < state->unpublished_from) {
		cell->working = vm_worker_copy(old);
		cell->working->record.older = &old->record;
		change_add(state->changes, CHANGE_VM_WORKER, cell, &cell->working->record);
	}
	cell->working->record.modify_index = index;
	return cell->working;
}

void vm_worker_cell_delete(struct state *state, struct vm_worker_cell *cell)
{
	vm_worker_cell_revise(state, cell, state->index)->record.deleted = true;
	state->counts.vm_workers--;
	lead_to(&state->vms, cell);
	drop_holds(state, cell);
	vm_worker_cell_bury_if_idle(state, cell);
}

void cluster_settings_put(struct state *state, struct cluster_settings *settings)
{
	struct cluster_settings_cell *cell = &state->vms.settings;
	struct cluster_settings *old = cell->working;

	settings->record.modify_index = state->index;
	settings->record.create_index =
		old->record.create_index ? old->record.create_index : state->index;
	settings->record.older = &old->record;
	if (old->record.modify_index >= state->unpublished_from) {
		settings->record.older = old->record.older;
		record_release(&cluster_settings_description, old);
		*old = *settings;
		free(settings);
		return;
	}
	cell->working = settings;
	change_add(state->changes, CHANGE_CLUSTER_SETTINGS, cell, &settings->record);
}

// --- Readers -------------------------------------------------------------------------------------

static const struct vm_worker *published_in(const struct vm_worker_cell *cell)
{
	const struct vm_worker *worker = __atomic_load_n(&cell->published, __ATOMIC_ACQUIRE);
	return worker && !worker->record.deleted ? worker : NULL;
}

const struct vm_worker *state_vm_worker(const struct state *state, struct text name)
{
	const struct vm_worker_cell *cell = vm_worker_cell_find(state, name);
	return cell ? published_in(cell) : NULL;
}

const struct vm_worker *state_vm_worker_of_node(const struct state *state, const struct uuid *node)
{
	const struct vm_worker_cell *cell = find_by_node(state, node, true);
	const struct vm_worker *worker = cell ? published_in(cell) : NULL;
	return worker && uuid_equal(&worker->node, node) ? worker : NULL;
}

const struct vm_worker *state_next_vm_worker(const struct state *state, uint64_t *cursor)
{
	const struct vm_worker_cell *cell;

	while ((cell = sequence_next(&state->vms.worker_order, cursor))) {
		const struct vm_worker *worker = published_in(cell);
		if (worker)
			return worker;
	}
	return NULL;
}

const struct cluster_settings *state_cluster_settings(const struct state *state)
{
	return __atomic_load_n(&state->vms.settings.published, __ATOMIC_ACQUIRE);
}

// --- From its grave ------------------------------------------------------------------------------

static void counts_free(struct array *counts)
{
	for (uint32_t i = 0; i < counts->count; i++)
		free(ARRAY_AT(counts, struct named_count, i)->name);
	free(counts->items);
}

static void cell_free(struct rcu_head *head)
{
	struct vm_worker_cell *cell = caa_container_of(head, struct vm_worker_cell, rcu);

	vm_worker_free(cell->working);
	counts_free(&cell->used);
	free(cell->name);
	free(cell);
}

static bool is_idle(const struct vm_worker_cell *cell)
{
	return !vm_worker_cell_is_there(cell) && cell->machine_count == 0 &&
	       cell->listed_count == 0;
}

void vm_worker_cell_bury_if_idle(struct state *state, struct vm_worker_cell *cell)
{
	if (!is_idle(cell) || cell->is_in_grave)
		return;
	cell->is_in_grave = true;
	state_grave_add(state, GRAVE_VM_WORKER, cell);
}

bool vm_worker_cell_bury(struct state *state, struct vm_worker_cell *cell)
{
	if (cell->published != cell->working)
		return false;
	cell->is_in_grave = false;
	if (!is_idle(cell))
		return true;
	CHECK(!cell->nodes[0] && !cell->nodes[1]);
	CHECK(cds_lfht_del(state->vms.workers, &cell->by_name) == 0);
	if (cell->index)
		sequence_remove(&state->vms.worker_order, cell);
	call_rcu(&cell->rcu, cell_free);
	return true;
}

// --- Creation and destruction --------------------------------------------------------------------

void vm_tables_init(struct vm_tables *vms)
{
	sequence_init(&vms->order, offsetof(struct vm_cell, position));
	sequence_init(&vms->worker_order, offsetof(struct vm_worker_cell, position));
	vms->settings.working = vms->settings.published = cluster_settings_create();
}

static void free_versions(struct vm_worker_cell *cell)
{
	struct vm_worker *worker = cell->working;

	while (worker) {
		struct vm_worker *older =
			worker == cell->published ? NULL : (struct vm_worker *)worker->record.older;
		vm_worker_free(worker);
		worker = older;
	}
}

static void worker_destroy(struct vm_tables *vms, struct vm_worker_cell *cell)
{
	for (uint32_t i = 0; i < 2; i++) {
		if (!cell->nodes[i])
			continue;
		CHECK(cds_lfht_del(vms->worker_nodes, &cell->nodes[i]->by_id) == 0);
		free(cell->nodes[i]);
	}
	CHECK(cds_lfht_del(vms->workers, &cell->by_name) == 0);
	free_versions(cell);
	counts_free(&cell->used);
	free(cell->name);
	free(cell);
}

// By the table: some are in no order.
static void workers_destroy(struct vm_tables *vms)
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	cds_lfht_first(vms->workers, &iter);
	while ((node = cds_lfht_iter_get_node(&iter))) {
		cds_lfht_next(vms->workers, &iter);
		worker_destroy(vms, caa_container_of(node, struct vm_worker_cell, by_name));
	}
	sequence_release(&vms->worker_order);
}

static void settings_destroy(struct cluster_settings_cell *cell)
{
	struct cluster_settings *settings = cell->working;

	while (settings) {
		struct cluster_settings *older =
			settings == cell->published
				? NULL
				: (struct cluster_settings *)settings->record.older;
		cluster_settings_free(settings);
		settings = older;
	}
}

void vm_tables_destroy(struct state *state)
{
	struct vm_tables *vms = &state->vms;

	if (vms->by_name && vms->instances)
		vms_destroy(state);
	if (vms->workers && vms->worker_nodes)
		workers_destroy(vms);
	settings_destroy(&vms->settings);
}
