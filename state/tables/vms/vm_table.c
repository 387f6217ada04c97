// Virtual machines by name and by instance.
#include "state/tables/vms/vm_table.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/tables/kind.h"
#include "state/tables/node_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_room.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

static struct cds_lfht *instances_of(const struct state *state)
{
	return state->tables[STATE_VMS].other.buckets;
}

static int instance_matches(struct cds_lfht_node *node, const void *id)
{
	return uuid_equal(&caa_container_of(node, struct vm_instance, by_id)->id, id);
}

struct vm_cell *vm_cell_find_instance(const struct state *state, const struct uuid *id)
{
	struct cds_lfht_iter iter;

	cds_lfht_lookup(instances_of(state), uuid_hash(id), instance_matches, id, &iter);
	struct cds_lfht_node *node = cds_lfht_iter_get_node(&iter);
	return node ? caa_container_of(node, struct vm_instance, by_id)->cell : NULL;
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

// A machine has an instance exactly when it is scheduled.
bool vm_is_sound(const void *record)
{
	const struct vm *vm = record;

	bool is_scheduled = vm_is_scheduled(vm);

	return text_is_name(vm->name) && record_is_sound(&vm_description, vm) &&
	       vm_counts_are_sound(&vm->resources) && vm->labels.count <= VM_LABELS_MAX &&
	       vm->events.count <= VM_EVENTS_MAX + VM_TOLD_MAX && conditions_are_single(vm) &&
	       is_scheduled == !uuid_is_zero(&vm->instance) &&
	       (!is_scheduled || text_is_name(vm->worker)) &&
	       (is_scheduled || resources_are_none(vm->holds)) &&
	       resources_are_none(vm->holds) == (vm->holds_index == 0);
}

static void count_status(struct state *state, struct vm_cell *cell)
{
	uint8_t status = vm_cell_is_there(cell) ? (uint8_t)(1 + cell->working->status) : 0;

	if (cell->counted_status)
		state->counts.vms[cell->counted_status - 1]--;
	if (status)
		state->counts.vms[status - 1]++;
	cell->counted_status = status;
}

static struct vm_worker_cell *worker_of(struct state *state, struct text name)
{
	return (struct vm_worker_cell *)table_find_or_add(state, STATE_VM_WORKERS, &name);
}

static void leave_worker(struct state *state, struct vm_cell *cell)
{
	struct vm_worker_cell *worker = cell->worker;

	CHECK(worker && !cds_list_empty(&worker->machines));
	cds_list_del(&cell->of_worker);
	CHECK(worker->machine_count > 0);
	vm_resources_remove(&worker->used, &cell->working->resources);
	worker->held = vm_share_minus(worker->held, cell->share);
	worker->machine_count--;
	cell->worker = NULL;
	cell_bury_if_idle(state, &worker->cell);
}

static void join_worker(struct state *state, struct vm_cell *cell)
{
	struct vm_worker_cell *worker = worker_of(state, text_of(cell->working->worker));

	CHECK(!cell->worker && worker->cell.table == STATE_VM_WORKERS);
	cds_list_add_tail(&cell->of_worker, &worker->machines);
	vm_resources_add(&worker->used, &cell->working->resources);
	cell->share = vm_share_assigned(cell->working);
	worker->held = vm_share_plus(worker->held, cell->share);
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
		leave_worker(state, cell);
	if (runs)
		join_worker(state, cell);
	CHECK(runs == (cell->worker != NULL));
}

static void follow_holds(struct state *state, struct vm_cell *cell)
{
	const struct vm *vm = cell->working;
	struct resources holds = vm->record.deleted ? (struct resources){0} : vm->holds;
	struct node_cell *nodes = state->cells;

	if (resources_are_equal(holds, cell->holds) &&
		(cell->holds_slot == vm->holds_slot || resources_are_none(holds)))
		return;
	if (!resources_are_none(cell->holds)) {
		struct node_cell *node = &nodes[cell->holds_slot];
		node->used = resources_minus(node->used, cell->holds);
		state_node_changed(state, cell->holds_slot);
	}
	if (!resources_are_none(holds)) {
		struct node_cell *node = &nodes[vm->holds_slot];
		node->used = resources_plus(node->used, holds);
		state_node_changed(state, vm->holds_slot);
	}
	CHECK(resources_are_none(holds) || vm->holds_slot < state_node_slots(state));
	cell->holds = holds;
	cell->holds_slot = vm->holds_slot;
	CHECK(resources_are_equal(cell->holds, holds));
}

static void follow_vm(struct state *state, struct cell *changed)
{
	struct vm_cell *cell = (struct vm_cell *)changed;

	count_status(state, cell);
	follow_worker(state, cell);
	follow_holds(state, cell);
}

void vm_leave_worker(struct vm *vm)
{
	vm->instance = (struct uuid){0};
	vm->holds = (struct resources){0};
	vm->holds_slot = 0;
	vm->holds_index = 0;
	CHECK(resources_are_none(vm->holds));
}

static void instance_end(struct state *state, struct vm_cell *cell)
{
	struct vm_instance *instance = cell->instance;
	struct vm_worker_cell *worker = instance->worker;

	CHECK(worker->listed_count > 0);
	CHECK(instance->cell == cell);
	CHECK(cds_lfht_del(instances_of(state), &instance->by_id) == 0);
	cds_list_del_rcu(&instance->of_worker);
	worker->listed_count--;
	cell->instance = NULL;
	call_rcu(&instance->rcu, rcu_free);
	cell_bury_if_idle(state, &worker->cell);
}

static void instance_begin(struct state *state, struct vm_cell *cell, const struct vm *vm)
{
	struct vm_instance *instance = memory_take(sizeof *instance);
	struct vm_worker_cell *worker = worker_of(state, text_of(vm->worker));

	CHECK(!cell->instance && !uuid_is_zero(&vm->instance));
	instance->id = vm->instance;
	instance->cell = cell;
	instance->worker = worker;
	cds_lfht_add(instances_of(state), uuid_hash(&instance->id), &instance->by_id);
	cds_list_add_tail_rcu(&instance->of_worker, &worker->listed);
	worker->listed_count++;
	cell->instance = instance;
}

// The worker's list of machines changed: its node is told of that (row D18).
static void announce_to_worker(
	struct state *state, const struct vm_worker_cell *worker, uint64_t index)
{
	const struct node_cell *node = vm_worker_cell_node(state, worker);

	if (!node)
		return;
	CHECK(node->working);
	node_table_announce(state->node_table, node->working->slot, index);
}

static void note_change(
	struct state *state, struct vm_worker_cell *worker, const struct vm *now, bool is_news)
{
	CHECK(now->record.modify_index <= state->index);
	uint64_t index = now->record.modify_index;

	atomic_store_explicit(&worker->listed_index, index, memory_order_relaxed);
	if (is_news)
		announce_to_worker(state, worker, index);
}

static void move_use(struct state *state, const struct vm *before, const struct vm *now)
{
	CHECK(now);
	if (before && !before->record.deleted && !resources_are_none(before->holds))
		node_use_machines(state, before->holds_slot, before->holds, (struct resources){0});
	if (!now->record.deleted && !resources_are_none(now->holds))
		node_use_machines(state, now->holds_slot, (struct resources){0}, now->holds);
}

static void vm_published(struct state *state, void *seen, void *old, void *new)
{
	struct vm_cell *cell = seen;
	const struct vm *before = old, *now = new;
	bool runs = !now->record.deleted && !uuid_is_zero(&now->instance);
	bool goes_on = cell->instance && runs && uuid_equal(&cell->instance->id, &now->instance);

	CHECK(cell->published == now);
	move_use(state, before, now);
	if (cell->instance && !goes_on) {
		note_change(state, cell->instance->worker, now, true);
		instance_end(state, cell);
	}
	if (!runs)
		return;
	if (!goes_on)
		instance_begin(state, cell, now);
	note_change(state, cell->instance->worker, now,
		!goes_on || !before || before->generation != now->generation);
	CHECK(cell->instance->cell == cell);
}

static bool adds_up(uint32_t a, uint32_t b)
{
	return a <= UINT32_MAX - b;
}

// Does not compare with the node's capacity: the node may have registered with less since.
static bool node_bears(const struct state *state, const struct vm *vm)
{
	if (vm->holds_index == 0)
		return vm->holds_slot == 0;
	if (vm->holds_index > vm->record.modify_index ||
		vm->holds_slot >= state_node_slots(state) || !state->cells[vm->holds_slot].working)
		return false;
	const struct resources *used = &state->cells[vm->holds_slot].used;
	return adds_up(used->cpu_mhz, vm->holds.cpu_mhz) &&
	       adds_up(used->memory_mb, vm->holds.memory_mb) &&
	       adds_up(used->disk_mb, vm->holds.disk_mb);
}

static int check_loaded_vm(const struct state *state, const void *record)
{
	const struct vm *vm = record;
	bool is_found = !uuid_is_zero(&vm->instance) && vm_cell_find_instance(state, &vm->instance);

	return node_bears(state, vm) && !is_found ? 0 : -ERROR_CORRUPT;
}

static void vm_released(struct state *state, struct cell *released)
{
	struct vm_cell *cell = (struct vm_cell *)released;

	if (!cell->instance)
		return;
	CHECK(cds_lfht_del(instances_of(state), &cell->instance->by_id) == 0);
	free(cell->instance);
}

const struct kind vm_kind = {
	.name = "machine",
	.key = KEY_NAME,
	.key_offset = offsetof(struct vm, name),
	.cell_bytes = sizeof(struct vm_cell),
	.fields = &vm_description,
	.limit_offset = offsetof(struct state_limits, vms),
	.limit_max = VMS_MAX,
	.has_other_hash = true,
	.is_sound = vm_is_sound,
	.check_loaded = check_loaded_vm,
	.follow = follow_vm,
	.published = vm_published,
	.released = vm_released,
};

const struct vm *state_vm(const struct state *state, struct text name)
{
	return table_published(state, STATE_VMS, &name);
}

const struct vm *state_vm_by_instance(const struct state *state, const struct uuid *id)
{
	const struct vm_cell *cell = vm_cell_find_instance(state, id);
	const struct vm *vm = cell ? cell_published(&cell->cell) : NULL;
	return vm && uuid_equal(&vm->instance, id) ? vm : NULL;
}

void state_worker_vms(const struct state *state, struct text name, uint64_t *index,
	state_vm_visit *visit, void *context)
{
	const struct vm_worker_cell *worker =
		(const struct vm_worker_cell *)table_find(state, STATE_VM_WORKERS, &name);
	const struct vm_instance *instance;

	if (index)
		*index = worker ? atomic_load_explicit(&worker->listed_index, memory_order_relaxed)
				: 0;
	if (!worker)
		return;
	cds_list_for_each_entry_rcu (instance, &worker->listed, of_worker) {
		const struct vm *vm = cell_published(&instance->cell->cell);
		if (vm && uuid_equal(&vm->instance, &instance->id) && !visit(vm, context))
			return;
	}
}
