// Assignments that a scheduling loop found and proposes for virtual machines, checked again against the present state
// (rows D12 to D16, D19 to D25).
#include "state/base/check.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/metrics.h"
#include "state/tables/settings.h"
#include "state/tables/state.h"
#include "state/tables/vms/vm_table.h"
#include <stdlib.h>

static void machine_judge(
	struct decider *d, struct command_vm_health *c, const struct vm_cell *cell)
{
	const struct vm_worker_cell *worker =
		vm_worker_cell_find(d->state, text_of(cell->working->worker));
	enum vm_verdict verdict = vm_health(
		cell->working, worker ? worker->working : NULL, d->now_ns, d->vm_offline_after_ns);
	struct entry e = {.kind = ENTRY_VM_NOTED,
		.vm = {.change = VM_IS_JUDGED,
			.is_noted = true,
			.name = text_of(cell->name),
			.verdict = (uint8_t)verdict}};

	if (verdict == VM_HEALTHY)
		return;
	CHECK(decider_commit(d, &e) == 0);
	c->changed++;
}

enum command_outcome decide_vm_health(struct decider *d, struct command *command)
{
	struct command_vm_health *c = &command->vm_health;

	c->changed = 0;
	if (c->count > VM_ASSIGN_MAX)
		return OUTCOME_BAD_DESCRIPTION;
	for (uint32_t i = 0; i < c->count; i++) {
		const struct vm_cell *cell = vm_cell_find(d->state, c->names[i]);
		if (cell)
			machine_judge(d, c, cell);
	}
	return OUTCOME_DONE;
}

static uint32_t limited(uint64_t value)
{
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static uint64_t cores_of(const struct node *n, const struct vm_worker *worker)
{
	const char *said = node_attribute(n, "cpu.numcores");
	uint64_t cores = said ? strtoull(said, NULL, 10) : 0;

	return cores ? cores : (uint64_t)count_get(&worker->resources, VM_RESOURCE_CORES);
}

// What the machine takes of a resource of the worker: what it asks for by name, and its share of what the worker names.
static uint64_t holds_of(
	const struct vm *vm, const struct vm_worker *worker, const char *name, int64_t share)
{
	uint64_t asked = (uint64_t)count_get(&vm->resources, name);
	uint32_t at;
	if (!map_find(&worker->resources, sizeof(struct named_count), name, &at))
		share = 0;
	return asked + (uint64_t)share; // asked is an int64_t
}

// The memory and cores that the machine takes, by the resource names that stand for the node's own.
static struct resources held(
	const struct vm *vm, const struct vm_worker *worker, const struct node *n, bool counts)
{
	uint64_t all = cores_of(n, worker), cores, memory_mib;
	struct vm_share share = counts ? vm_share_on(vm, worker) : (struct vm_share){0};
	cores = holds_of(vm, worker, VM_RESOURCE_CORES, share.cpu);
	memory_mib = holds_of(vm, worker, VM_RESOURCE_MEMORY, share.memory_mib);
	struct resources holds = {.memory_mb = limited(memory_mib)};
	uint64_t cpu = 0;

	if (cores && all && __builtin_mul_overflow(cores, (uint64_t)node_capacity(n).cpu_mhz, &cpu))
		cpu = UINT64_MAX;
	holds.cpu_mhz = limited(all ? cpu / all : 0);
	return holds;
}

static bool is_wanted(const struct vm_assign_item *item, const struct vm_cell *cell)
{
	return cell && text_equal(text_of(cell->working->uid), item->uid) &&
	       vm_wants_worker(cell->working);
}

static bool takes_new_work(const struct decider *d, const struct vm_worker_cell *worker)
{
	const struct node_cell *node = vm_worker_cell_node(d->state, worker);

	return !worker->working->scheduling_paused && (!node || node_is_usable(node->working));
}

static bool counts_assigned(const struct decider *d)
{
	return cluster_settings_working(d->state)->count_assigned;
}

// The worker has the description it was chosen by, is in use, and has room.
static bool may_take(const struct decider *d, const struct vm_assign_item *item,
	const struct vm_worker_cell *worker, const struct vm *vm)
{
	return worker && worker->described_index <= item->worker_modify_index &&
	       takes_new_work(d, worker) &&
	       !vm_worker_is_offline(worker->working, d->now_ns, d->vm_offline_after_ns) &&
	       vm_suits_worker(vm, worker->working) && worker->machine_count < WORKER_VMS_MAX &&
	       vm_has_room(vm, worker->working, &worker->used,
		       counts_assigned(d) ? &worker->held : NULL);
}

static enum vm_assign_result machine_assign(struct decider *d, const struct vm_assign_item *item)
{
	const struct vm_cell *cell = vm_cell_find(d->state, item->vm);
	const struct vm_worker_cell *worker = vm_worker_cell_find(d->state, item->worker);

	if (!is_wanted(item, cell))
		return VM_SKIPPED;
	if (!may_take(d, item, worker, cell->working))
		return VM_WORKER_SKIPPED;
	const struct node_cell *node = vm_worker_cell_node(d->state, worker);
	struct entry e = {.kind = ENTRY_VM_NOTED,
		.vm = {.change = VM_IS_ASSIGNED,
			.is_noted = true,
			.name = text_of(cell->name),
			.worker = text_of(worker->name),
			.instance = prng_uuid(&d->prng)}};
	if (node)
		e.vm.holds =
			held(cell->working, worker->working, node->working, counts_assigned(d));
	// Allocations on its node hold what the machine would take.
	if (node && !resources_fit(
			    e.vm.holds, resources_minus(node_capacity(node->working), node->used)))
		return VM_WORKER_SKIPPED;
	return decider_commit(d, &e) ? VM_WORKER_SKIPPED : VM_ASSIGNED;
}

enum command_outcome decide_vm_assign(struct decider *d, struct command *command)
{
	struct command_vm_assign *c = &command->vm_assign;

	c->assigned = 0;
	if (c->count > VM_ASSIGN_MAX)
		return OUTCOME_BAD_DESCRIPTION;
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	for (uint32_t i = 0; i < c->count; i++) {
		c->items[i].result = (uint8_t)machine_assign(d, &c->items[i]);
		c->assigned += c->items[i].result == VM_ASSIGNED;
	}
	return OUTCOME_DONE;
}
