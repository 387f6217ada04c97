// Virtual machines by name and by what runs of them.
#include "state/tables/vm_table.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/tables/alloc_table.h"
#include "state/tables/publish.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

static int name_matches(struct cds_lfht_node *node, const void *name)
{
	const struct vm_cell *cell = caa_container_of(node, struct vm_cell, by_name);
	return text_equal(text_of(cell->name), *(const struct text *)name);
}

struct vm_cell *vm_cell_find(const struct state *state, struct text name)
{
	struct cds_lfht_iter iter;

	cds_lfht_lookup(state->vms.by_name, hash_bytes(0, name.data, name.size), name_matches,
		&name, &iter);
	struct cds_lfht_node *node = cds_lfht_iter_get_node(&iter);
	return node ? caa_container_of(node, struct vm_cell, by_name) : NULL;
}

static int instance_matches(struct cds_lfht_node *node, const void *id)
{
	return uuid_equal(&caa_container_of(node, struct vm_instance, by_id)->id, id);
}

struct vm_cell *vm_cell_find_instance(const struct state *state, const struct uuid *id)
{
	struct cds_lfht_iter iter;

	cds_lfht_lookup(state->vms.instances, uuid_hash(id), instance_matches, id, &iter);
	struct cds_lfht_node *node = cds_lfht_iter_get_node(&iter);
	return node ? caa_container_of(node, struct vm_instance, by_id)->cell : NULL;
}

// Those that wait for their burial count as well: they take the memory that is limited.
bool vms_have_room(const struct state *state)
{
	return state->vms.order.count < state->limits.vms;
}

// --- What the tables rely on ---------------------------------------------------------------------

static bool counts_are_sound(const struct array *counts)
{
	for (uint32_t i = 0; i < counts->count; i++)
		if (ARRAY_AT(counts, struct named_count, i)->count < 0)
			return false;
	return counts->count <= VM_RESOURCES_MAX;
}

static bool holds_something(struct resources r)
{
	return r.cpu_mhz || r.memory_mb || r.disk_mb;
}

static bool conditions_are_single(const struct vm *vm)
{
	for (uint32_t i = 0; i < vm->conditions.count; i++) {
		const struct vm_condition *c = ARRAY_AT(&vm->conditions, struct vm_condition, i);
		if (vm_condition(vm, c->type) != c)
			return false;
	}
	return true;
}

// What is scheduled, and nothing else, runs somewhere.
bool vm_is_sound(const struct vm *vm)
{
	bool is_scheduled = vm_is_scheduled(vm);

	return text_is_name(vm->name) && record_is_sound(&vm_description, vm) &&
	       counts_are_sound(&vm->resources) && vm->labels.count <= VM_LABELS_MAX &&
	       vm->events.count <= VM_EVENTS_MAX && conditions_are_single(vm) &&
	       is_scheduled == !uuid_is_zero(&vm->instance) &&
	       (!is_scheduled || text_is_name(vm->worker)) &&
	       (is_scheduled || !holds_something(vm->holds)) &&
	       holds_something(vm->holds) == (vm->holds_index != 0);
}

bool vm_worker_is_sound(const struct vm_worker *worker)
{
	return text_is_name(worker->name) && text_of(worker->machine_id).size <= UINT16_MAX &&
	       record_is_sound(&vm_worker_description, worker) &&
	       counts_are_sound(&worker->resources) && worker->labels.count <= VM_LABELS_MAX &&
	       (!worker->beats || !uuid_is_zero(&worker->node));
}

// --- What is counted of a working record ---------------------------------------------------------

static void count_status(struct state *state, struct vm_cell *cell)
{
	uint8_t status = vm_cell_is_there(cell) ? (uint8_t)(1 + cell->working->status) : 0;

	if (cell->counted_status)
		state->counts.vms[cell->counted_status - 1]--;
	if (status)
		state->counts.vms[status - 1]++;
	cell->counted_status = status;
}

static void leave(struct state *state, struct vm_cell *cell)
{
	struct vm_worker_cell *worker = cell->worker;

	cds_list_del(&cell->of_worker);
	vm_resources_remove(&worker->used, &cell->working->resources);
	worker->machine_count--;
	cell->worker = NULL;
	vm_worker_cell_bury_if_idle(state, worker);
}

static void join(struct state *state, struct vm_cell *cell)
{
	struct vm_worker_cell *worker =
		vm_worker_cell_find_or_add(state, text_of(cell->working->worker));

	cds_list_add_tail(&cell->of_worker, &worker->machines);
	vm_resources_add(&worker->used, &cell->working->resources);
	worker->machine_count++;
	cell->worker = worker;
}

static void follow_worker(struct state *state, struct vm_cell *cell)
{
	const struct vm *vm = cell->working;
	bool runs = !vm->record.deleted && !uuid_is_zero(&vm->instance);

	if (cell->worker && runs && text_equal(text_of(cell->worker->name), text_of(vm->worker)))
		return;
	if (cell->worker)
		leave(state, cell);
	if (runs)
		join(state, cell);
}

static bool is_same(struct resources a, struct resources b)
{
	return a.cpu_mhz == b.cpu_mhz && a.memory_mb == b.memory_mb && a.disk_mb == b.disk_mb;
}

static void follow_holds(struct state *state, struct vm_cell *cell)
{
	const struct vm *vm = cell->working;
	struct resources holds = vm->record.deleted ? (struct resources){0} : vm->holds;
	struct node_cell *nodes = state->cells;

	if (is_same(holds, cell->holds) &&
		(cell->holds_slot == vm->holds_slot || !holds_something(holds)))
		return;
	if (holds_something(cell->holds)) {
		struct node_cell *node = &nodes[cell->holds_slot];
		node->used = resources_minus(node->used, cell->holds);
		state_node_changed(state, cell->holds_slot);
	}
	if (holds_something(holds)) {
		struct node_cell *node = &nodes[vm->holds_slot];
		node->used = resources_plus(node->used, holds);
		state_node_changed(state, vm->holds_slot);
	}
	cell->holds = holds;
	cell->holds_slot = vm->holds_slot;
}

void vm_cell_changed(struct state *state, struct vm_cell *cell)
{
	count_status(state, cell);
	follow_worker(state, cell);
	follow_holds(state, cell);
}

// --- The working state ---------------------------------------------------------------------------

static struct vm_cell *cell_add(struct state *state, const struct vm *vm, uint64_t index)
{
	struct vm_cell *cell = memory_take(sizeof *cell);
	struct text name = text_of(vm->name);

	cell->name = text_copy(name);
	cell->index = index;
	cds_lfht_add(state->vms.by_name, hash_bytes(0, name.data, name.size), &cell->by_name);
	sequence_append(&state->vms.order, index, cell);
	return cell;
}

// In place of a tombstone of the batch that is being decided.
static void replace(struct vm *tombstone, struct vm *vm)
{
	struct record *older = tombstone->record.older;

	record_release(&vm_description, tombstone);
	*tombstone = *vm;
	tombstone->record.older = older;
	free(vm);
}

void vm_cell_put(struct state *state, struct vm *vm)
{
	struct vm_cell *cell = vm_cell_find(state, text_of(vm->name));

	if (!cell)
		cell = cell_add(state, vm, state->index);
	CHECK(!vm_cell_is_there(cell));
	if (cell->working && cell->working->record.modify_index >= state->unpublished_from) {
		replace(cell->working, vm);
	} else {
		vm->record.older = cell->working ? &cell->working->record : NULL;
		cell->working = vm;
		change_add(state->changes, CHANGE_VM, cell, &vm->record);
	}
	vm_cell_changed(state, cell);
}

void vm_cell_load(struct state *state, struct vm *vm, uint64_t index)
{
	struct vm_cell *cell = cell_add(state, vm, index);

	cell->working = vm;
	vm_cell_changed(state, cell);
	publish_loaded(&cell->published, vm);
	vm_published(state, cell, NULL, vm);
}

struct vm *vm_cell_revise(struct state *state, struct vm_cell *cell, uint64_t index)
{
	struct vm *old = cell->working;

	if (old->record.modify_index < state->unpublished_from) {
		cell->working = vm_copy(old);
		cell->working->record.older = &old->record;
		change_add(state->changes, CHANGE_VM, cell, &cell->working->record);
	}
	cell->working->record.modify_index = index;
	return cell->working;
}

void vm_leave_worker(struct vm *vm)
{
	vm->instance = (struct uuid){0};
	vm->holds = (struct resources){0};
	vm->holds_slot = 0;
	vm->holds_index = 0;
}

void vm_cell_delete(struct state *state, struct vm_cell *cell, uint64_t index)
{
	vm_cell_revise(state, cell, index)->record.deleted = true;
	vm_cell_changed(state, cell);
	if (!cell->is_in_grave)
		state_grave_add(state, GRAVE_VM, cell);
	cell->is_in_grave = true;
}

// --- What readers see ----------------------------------------------------------------------------

static void instance_free(struct rcu_head *head)
{
	free(caa_container_of(head, struct vm_instance, rcu));
}

static void instance_end(struct state *state, struct vm_cell *cell)
{
	struct vm_instance *instance = cell->instance;
	struct vm_worker_cell *worker = instance->worker;

	CHECK(cds_lfht_del(state->vms.instances, &instance->by_id) == 0);
	cds_list_del_rcu(&instance->of_worker);
	worker->listed_count--;
	cell->instance = NULL;
	call_rcu(&instance->rcu, instance_free);
	vm_worker_cell_bury_if_idle(state, worker);
}

static void instance_begin(struct state *state, struct vm_cell *cell, const struct vm *vm)
{
	struct vm_instance *instance = memory_take(sizeof *instance);
	struct vm_worker_cell *worker = vm_worker_cell_find_or_add(state, text_of(vm->worker));

	instance->id = vm->instance;
	instance->cell = cell;
	instance->worker = worker;
	cds_lfht_add(state->vms.instances, uuid_hash(&instance->id), &instance->by_id);
	cds_list_add_tail_rcu(&instance->of_worker, &worker->listed);
	worker->listed_count++;
	cell->instance = instance;
}

// The worker's list is another one: its node learns with the next heartbeat (row D18).
static void announce(struct state *state, const struct vm_worker_cell *worker, uint64_t index)
{
	const struct node_cell *node = vm_worker_cell_node(state, worker);

	if (!node)
		return;
	struct node_line *line = &state->node_table->lines[node->working->slot];
	if (index > atomic_load_explicit(&line->alloc_index, memory_order_relaxed))
		atomic_store_explicit(&line->alloc_index, index, memory_order_relaxed);
}

static void note(
	struct state *state, struct vm_worker_cell *worker, const struct vm *now, bool is_news)
{
	uint64_t index = now->record.modify_index;

	atomic_store_explicit(&worker->listed_index, index, memory_order_relaxed);
	if (is_news)
		announce(state, worker, index);
}

static void move_use(struct state *state, const struct vm *before, const struct vm *now)
{
	if (before && !before->record.deleted && holds_something(before->holds))
		node_use_machines(state, before->holds_slot, before->holds, (struct resources){0});
	if (!now->record.deleted && holds_something(now->holds))
		node_use_machines(state, now->holds_slot, (struct resources){0}, now->holds);
}

void vm_published(
	struct state *state, struct vm_cell *cell, const struct vm *before, const struct vm *now)
{
	bool runs = !now->record.deleted && !uuid_is_zero(&now->instance);
	bool goes_on = cell->instance && runs && uuid_equal(&cell->instance->id, &now->instance);

	move_use(state, before, now);
	if (cell->instance && !goes_on) {
		note(state, cell->instance->worker, now, true);
		instance_end(state, cell);
	}
	if (!runs)
		return;
	if (!goes_on)
		instance_begin(state, cell, now);
	note(state, cell->instance->worker, now,
		!goes_on || !before || before->power_state != now->power_state);
}

static const struct vm *published_in(const struct vm_cell *cell)
{
	const struct vm *vm = __atomic_load_n(&cell->published, __ATOMIC_ACQUIRE);
	return vm && !vm->record.deleted ? vm : NULL;
}

const struct vm *state_vm(const struct state *state, struct text name)
{
	const struct vm_cell *cell = vm_cell_find(state, name);
	return cell ? published_in(cell) : NULL;
}

const struct vm *state_vm_by_instance(const struct state *state, const struct uuid *id)
{
	const struct vm_cell *cell = vm_cell_find_instance(state, id);
	const struct vm *vm = cell ? published_in(cell) : NULL;
	return vm && uuid_equal(&vm->instance, id) ? vm : NULL;
}

const struct vm *state_next_vm(const struct state *state, uint64_t *cursor)
{
	const struct vm_cell *cell;

	while ((cell = sequence_next(&state->vms.order, cursor))) {
		const struct vm *vm = published_in(cell);
		if (vm)
			return vm;
	}
	return NULL;
}

void state_worker_vms(const struct state *state, struct text name, uint64_t *index,
	state_vm_visit *visit, void *context)
{
	const struct vm_worker_cell *worker = vm_worker_cell_find(state, name);
	const struct vm_instance *instance;

	if (index)
		*index = worker ? atomic_load_explicit(&worker->listed_index, memory_order_relaxed)
				: 0;
	if (!worker)
		return;
	cds_list_for_each_entry_rcu (instance, &worker->listed, of_worker) {
		const struct vm *vm = published_in(instance->cell);
		if (vm && uuid_equal(&vm->instance, &instance->id) && !visit(vm, context))
			return;
	}
}

// --- From its grave ------------------------------------------------------------------------------

static void cell_free(struct rcu_head *head)
{
	struct vm_cell *cell = caa_container_of(head, struct vm_cell, rcu);

	vm_free(cell->working);
	free(cell->name);
	free(cell);
}

// One that was made again meanwhile has left it.
bool vm_cell_bury(struct state *state, struct vm_cell *cell)
{
	if (cell->published != cell->working)
		return false;
	cell->is_in_grave = false;
	if (vm_cell_is_there(cell))
		return true;
	CHECK(cds_lfht_del(state->vms.by_name, &cell->by_name) == 0);
	sequence_remove(&state->vms.order, cell);
	call_rcu(&cell->rcu, cell_free);
	return true;
}

// --- Destruction ---------------------------------------------------------------------------------

static void free_versions(struct vm_cell *cell)
{
	struct vm *vm = cell->working;

	while (vm) {
		struct vm *older = vm == cell->published ? NULL : (struct vm *)vm->record.older;
		vm_free(vm);
		vm = older;
	}
}

void vms_destroy(struct state *state)
{
	uint64_t cursor = 0;
	struct vm_cell *cell;

	while ((cell = sequence_next(&state->vms.order, &cursor))) {
		CHECK(cds_lfht_del(state->vms.by_name, &cell->by_name) == 0);
		if (cell->instance) {
			CHECK(cds_lfht_del(state->vms.instances, &cell->instance->by_id) == 0);
			free(cell->instance);
		}
		free_versions(cell);
		free(cell->name);
		free(cell);
	}
	sequence_release(&state->vms.order);
}
