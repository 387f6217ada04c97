#include "state/snapshot/snapshot_vm.h"
#include "state/apply/apply.h"
#include "state/base/error.h"
#include "state/snapshot/snapshot_item.h"
#include "state/tables/publish.h"
#include <urcu-qsbr.h>

// --- Writing -------------------------------------------------------------------------------------

static void put_indexes(const struct record *record, struct bytes_writer *w)
{
	bytes_put_u64(w, record->create_index);
	bytes_put_u64(w, record->modify_index);
}

bool vm_item_encode(const struct vm_cell *cell, uint64_t index, struct bytes_writer *w)
{
	const struct vm *newest = __atomic_load_n(&cell->published, __ATOMIC_ACQUIRE);
	const struct vm *vm =
		(const struct vm *)state_version_at((const struct record *)newest, index);

	if (!vm)
		return false;
	bytes_put_u8(w, SNAPSHOT_VM);
	bytes_put_u64(w, cell->index);
	put_indexes(&vm->record, w);
	bytes_put_u32(w, vm->holds.cpu_mhz);
	bytes_put_u32(w, vm->holds.memory_mb);
	bytes_put_u32(w, vm->holds.disk_mb);
	bytes_put_u32(w, vm->holds_slot);
	bytes_put_u64(w, vm->holds_index);
	record_encode(&vm_description, vm, w);
	return true;
}

bool vm_worker_item_encode(
	const struct vm_worker_cell *cell, uint64_t index, struct bytes_writer *w)
{
	const struct vm_worker *newest = __atomic_load_n(&cell->published, __ATOMIC_ACQUIRE);
	const struct vm_worker *worker =
		(const struct vm_worker *)state_version_at((const struct record *)newest, index);

	if (!worker)
		return false;
	bytes_put_u8(w, SNAPSHOT_VM_WORKER);
	bytes_put_u64(w, cell->index);
	put_indexes(&worker->record, w);
	record_encode(&vm_worker_description, worker, w);
	return true;
}

bool cluster_settings_item_encode(const struct state *state, uint64_t index, struct bytes_writer *w)
{
	const struct record *newest = (const struct record *)state_cluster_settings(state);
	const struct record *settings = state_version_at(newest, index);

	if (!settings || settings->modify_index == 0)
		return false;
	bytes_put_u8(w, SNAPSHOT_CLUSTER_SETTINGS);
	put_indexes(settings, w);
	record_encode(&cluster_settings_description, settings, w);
	return true;
}

// --- Reading -------------------------------------------------------------------------------------

static bool take_indexes(const struct state *state, struct record *record, struct bytes_reader *r)
{
	record->create_index = bytes_take_u64(r);
	record->modify_index = bytes_take_u64(r);
	return !r->failed && record->create_index > 0 &&
	       record->create_index <= record->modify_index && record->modify_index <= state->index;
}

static bool may_come_next(const struct sequence *order, uint64_t index, const struct record *record)
{
	return index > sequence_last_key(order) && index <= record->create_index;
}

static bool adds_up(uint32_t a, uint32_t b)
{
	return a <= UINT32_MAX - b;
}

// Nothing else is known of what it holds: a node may have registered with less since.
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

static int check_vm(const struct state *state, const struct vm *vm, uint64_t index)
{
	if (!vm_is_sound(vm) || !may_come_next(&state->vms.order, index, &vm->record) ||
		vm_cell_find(state, text_of(vm->name)) || !node_bears(state, vm) ||
		(!uuid_is_zero(&vm->instance) && vm_cell_find_instance(state, &vm->instance)))
		return -ERROR_CORRUPT;
	return vms_have_room(state) ? 0 : -ERROR_TABLE_FULL;
}

// What it holds, which its description has not.
struct holding {
	struct resources holds;
	uint32_t slot;
	uint64_t index;
};

static struct holding take_holding(struct bytes_reader *r)
{
	struct holding h = {.holds.cpu_mhz = bytes_take_u32(r)};

	h.holds.memory_mb = bytes_take_u32(r);
	h.holds.disk_mb = bytes_take_u32(r);
	h.slot = bytes_take_u32(r);
	h.index = bytes_take_u64(r);
	return h;
}

int vm_item_load(struct state *state, struct bytes_reader *r)
{
	struct vm *vm = vm_create();
	uint64_t index = bytes_take_u64(r);
	struct record record = {0};
	bool are_sound = take_indexes(state, &record, r);
	struct holding holding = take_holding(r);
	int error = are_sound ? record_decode(&vm_description, vm, r) : -ERROR_CORRUPT;

	vm->record = record;
	vm->holds = holding.holds;
	vm->holds_slot = holding.slot;
	vm->holds_index = holding.index;
	if (!error)
		error = check_vm(state, vm, index);
	if (error)
		vm_free(vm);
	else
		vm_cell_load(state, vm, index);
	return error;
}

static int check_worker(const struct state *state, const struct vm_worker *worker, uint64_t index)
{
	if (!vm_worker_is_sound(worker) ||
		!may_come_next(&state->vms.worker_order, index, &worker->record) ||
		vm_worker_cell_find(state, text_of(worker->name)))
		return -ERROR_CORRUPT;
	if (!uuid_is_zero(&worker->node) && (!node_cell_find(state, &worker->node) ||
						    vm_worker_cell_of_node(state, &worker->node)))
		return -ERROR_CORRUPT;
	return vm_workers_have_room(state, text_of(worker->name)) ? 0 : -ERROR_TABLE_FULL;
}

int vm_worker_item_load(struct state *state, struct bytes_reader *r)
{
	struct vm_worker *worker = vm_worker_create();
	uint64_t index = bytes_take_u64(r);
	struct record record = {0};
	bool are_sound = take_indexes(state, &record, r);
	int error = are_sound ? record_decode(&vm_worker_description, worker, r) : -ERROR_CORRUPT;

	worker->record = record;
	if (!error)
		error = check_worker(state, worker, index);
	if (error)
		vm_worker_free(worker);
	else
		vm_worker_cell_load(state, worker, index);
	return error;
}

int cluster_settings_item_load(struct state *state, struct bytes_reader *r)
{
	struct cluster_settings_cell *cell = &state->vms.settings;
	struct cluster_settings *settings = cluster_settings_create();
	struct record record = {0};
	bool are_sound = take_indexes(state, &record, r) && cell->working->record.modify_index == 0;
	int error = are_sound ? record_decode(&cluster_settings_description, settings, r)
			      : -ERROR_CORRUPT;

	if (!error && !cluster_settings_are_sound(settings))
		error = -ERROR_CORRUPT;
	if (error) {
		cluster_settings_free(settings);
		return error;
	}
	settings->record = record;
	cluster_settings_free(cell->working);
	cell->working = settings;
	publish_loaded(&cell->published, settings);
	return 0;
}
