// Virtual machines and workers: what is kept beside their records matches the records.
#include "state/apply/apply.h"
#include "state/records/metrics.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include "state/tables/vms/vm_table.h"
#include "state/verify/verifier.h"
#include <string.h>
#include <urcu-qsbr.h>

struct found {
	uint32_t vms[VM_FAILED + 1], workers;
	uint32_t scheduled, on_workers; // machines, by their records and by the lists of workers
	uint32_t running, listed;       // the same, as readers see them
};

// A machine holds resources of its worker's node only.
static void check_holds(struct verifier *v, const struct vm_cell *cell)
{
	const struct vm *vm = cell->working;
	const struct node_cell *node =
		cell->worker ? vm_worker_cell_node(v->state, cell->worker) : NULL;

	expect(v, resources_are_equal(vm->holds, cell->holds),
		"machine %s: it is counted for something else", cell->name);
	expect(v,
		vm->holds_index == 0 || (node && node->working->slot == vm->holds_slot &&
						vm->holds_slot == cell->holds_slot),
		"machine %s: it holds something of a node that its worker is not", cell->name);
}

static void check_instance(struct verifier *v, const struct vm_cell *cell)
{
	const struct vm *vm = cell->working;
	const struct vm_instance *instance = cell->instance;
	bool runs = !uuid_is_zero(&vm->instance);

	expect(v, runs == (instance != NULL) && runs == (cell->worker != NULL),
		"machine %s: it runs somewhere, but not by all that is kept of it", cell->name);
	if (!instance || !cell->worker)
		return;
	expect(v, uuid_equal(&instance->id, &vm->instance) && instance->worker == cell->worker,
		"machine %s: readers find it elsewhere", cell->name);
	expect(v, vm_cell_find_instance(v->state, &vm->instance) == cell,
		"machine %s: its instance does not lead to it", cell->name);
	expect(v, text_equal(text_of(cell->worker->name), text_of(vm->worker)),
		"machine %s: counted by another worker than it names", cell->name);
}

static void check_vm(struct verifier *v, struct found *found, const struct vm_cell *cell)
{
	const struct vm *vm = cell->working;

	if (vm->record.deleted) {
		expect(v, !cell->worker && !cell->instance,
			"machine %s: deleted, but something is kept of it", cell->name);
		return;
	}
	expect(v, cell->counted_status == 1 + vm->status, "machine %s: counted in another status",
		cell->name);
	check_instance(v, cell);
	check_holds(v, cell);
	found->vms[vm->status]++;
	found->scheduled += cell->worker != NULL;
	found->running += cell->instance != NULL;
}

// A name that no machine asks for any more may remain, with 0.
static bool is_same_use(const struct array *a, const struct array *b)
{
	for (uint32_t i = 0; i < a->count; i++) {
		const struct named_count *count = ARRAY_AT(a, struct named_count, i);
		if (count->count != count_get(b, count->name))
			return false;
	}
	return true;
}

static void check_machines(
	struct verifier *v, struct found *found, const struct vm_worker_cell *cell)
{
	const struct vm_instance *instance;
	const struct vm_cell *vm;
	struct array use = {0};
	struct vm_share held = {0};
	uint32_t count = 0, listed = 0;

	cds_list_for_each_entry (vm, &cell->machines, of_worker) {
		expect(v, vm->worker == cell, "worker %s: machine %s of another is on its list",
			cell->name, vm->name);
		vm_resources_add(&use, &vm->working->resources);
		held = vm_share_plus(held, vm_share_assigned(vm->working));
		count++;
	}
	cds_list_for_each_entry_rcu (instance, &cell->listed, of_worker)
		listed++;
	expect(v, count == cell->machine_count && listed == cell->listed_count,
		"worker %s: counts of machines do not add up", cell->name);
	expect(v, is_same_use(&use, &cell->used) && is_same_use(&cell->used, &use),
		"worker %s: use does not add up", cell->name);
	expect(v, held.cpu == cell->held.cpu && held.memory_mib == cell->held.memory_mib,
		"worker %s: shares of machines do not add up", cell->name);
	found->on_workers += count;
	found->listed += listed;
	map_free(&use, sizeof(struct named_count));
}

// Does not check that the worker beats as long as its node does: two separate entries say so.
static void check_node(struct verifier *v, const struct vm_worker_cell *cell)
{
	const struct vm_worker *worker = cell->working;
	const struct node_cell *node = vm_worker_cell_node(v->state, cell);

	expect(v, !worker->beats || node, "worker %s: it beats without a node", cell->name);
	if (uuid_is_zero(&worker->node))
		return;
	expect(v, node && vm_worker_cell_of_node(v->state, &worker->node) == cell,
		"worker %s: its node does not lead to it", cell->name);
	expect(v, state_vm_worker_of_node(v->state, &worker->node) == worker,
		"worker %s: readers do not find it by its node", cell->name);
}

static void check_worker(struct verifier *v, struct found *found, const struct vm_worker_cell *cell)
{
	const struct vm_worker *worker = cell->working;

	check_machines(v, found, cell);
	if (!vm_worker_cell_is_there(cell))
		return;
	found->workers++;
	expect(v,
		worker->record.create_index <= cell->described_index &&
			cell->described_index <= worker->record.modify_index,
		"worker %s: indexes out of order", cell->name);
	check_node(v, cell);
}

void verify_vms(struct verifier *v)
{
	const struct table *tables = v->state->tables;
	const struct state_counts *counts = &v->state->counts;
	struct found found = {0};
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;
	const struct vm_cell *cell;
	uint64_t cursor = 0;

	while ((cell = sequence_next(&tables[STATE_VMS].order, &cursor)))
		check_vm(v, &found, cell);
	cds_lfht_for_each (tables[STATE_VM_WORKERS].hash.buckets, &iter, node)
		check_worker(v, &found, caa_container_of(node, struct vm_worker_cell, cell.by_key));
	expect(v, memcmp(found.vms, counts->vms, sizeof found.vms) == 0,
		"counts of machines do not add up");
	expect(v, found.workers == counts->vm_workers, "%u workers, %u counted", found.workers,
		counts->vm_workers);
	expect(v, found.scheduled == found.on_workers && found.running == found.listed,
		"machines of workers do not add up");
}
