// What becomes of virtual machines and of their workers.
#include "state/apply/apply_record.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/records/nodes/vm_events.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_room.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include "state/tables/vms/vm_table.h"
#include <stdlib.h>

int vm_put_check(const struct state *state, const struct entry_record_put *e)
{
	const struct vm *vm = e->record;

	if (!vm_is_sound(vm) || vm_cell_find(state, text_of(vm->name)) || vm_is_scheduled(vm) ||
		vm->status != VM_PENDING)
		return -ERROR_CORRUPT;
	return table_check(state, STATE_VMS, vm);
}

static bool may_change_power(const struct vm *vm, uint8_t power_state)
{
	char message[160];
	struct vm *copy = vm_copy(vm);
	bool may = power_state <= VM_POWER_SUSPENDED &&
		   vm_set_power(copy, power_state, message, sizeof message);

	vm_free(copy);
	return may;
}

static bool report_is_sound(const struct vm_report *report)
{
	for (uint8_t i = 0; i < report->condition_count; i++)
		if (report->conditions[i].type <= VM_CONDITION_SCHEDULED ||
			report->conditions[i].type > VM_CONDITION_STOPPING)
			return false;
	return report->status <= VM_FAILED && text_is_printable(report->message) &&
	       report->condition_count <= VM_REPORT_CONDITIONS_MAX;
}

static bool may_be_judged(const struct vm *vm, uint8_t verdict)
{
	if (verdict == VM_RESTART)
		return vm_is_failed(vm);
	return verdict > VM_HEALTHY && verdict <= VM_FAILED_FREED && vm_is_scheduled(vm);
}

static bool may_be_assigned(
	const struct state *state, const struct vm *vm, const struct entry_vm *e)
{
	const struct vm_worker_cell *worker = vm_worker_cell_find(state, e->worker);

	if (!worker || uuid_is_zero(&e->instance) || !vm_wants_worker(vm) ||
		vm_cell_find_instance(state, &e->instance))
		return false;
	const struct node_cell *node = vm_worker_cell_node(state, worker);
	if (!node)
		return resources_are_none(e->holds);
	// What was assigned before allocations that are to stop counted may share their room.
	return resources_fit(e->holds,
		       resources_minus(node_capacity(node->working), node_room_of_living(node))) &&
	       resources_add_up(node->used, e->holds);
}

static struct vm_spec spec_of(const struct entry_vm *e, char **allow, char **block)
{
	*allow = text_copy(e->net_softnet_allow);
	*block = text_copy(e->net_softnet_block);
	return (struct vm_spec){e->power_state, e->suspendable, e->net_softnet, *allow, *block};
}

static bool may_change_spec(const struct vm *vm, const struct entry_vm *e)
{
	char message[160], *allow, *block;
	struct vm *copy = vm_copy(vm);
	struct vm_spec spec = spec_of(e, &allow, &block);
	bool may = e->power_state <= VM_POWER_SUSPENDED && text_is_printable(text_of(allow)) &&
		   text_is_printable(text_of(block)) &&
		   vm_set_spec(copy, &spec, message, sizeof message);

	vm_free(copy);
	free(allow);
	free(block);
	return may;
}

static bool told_is_sound(struct text told)
{
	struct bytes_reader r = bytes_reader_over(told.data, told.size);
	uint32_t count = 0;

	for (; !r.failed && bytes_left(&r) > 0; count++)
		(void)vm_told_take(&r);
	return !r.failed && count <= VM_TOLD_MAX;
}

int vm_entry_check(const struct state *state, const void *body)
{
	const struct entry_vm *e = body;
	bool holds = false;

	const struct vm_cell *cell = vm_cell_find(state, e->name);
	if (!cell)
		return -ERROR_CORRUPT;
	switch (e->change) {
	case VM_CHANGES_POWER: holds = may_change_power(cell->working, e->power_state); break;
	case VM_IS_REPORTED: holds = report_is_sound(&e->report); break;
	case VM_IS_JUDGED: holds = may_be_judged(cell->working, e->verdict); break;
	case VM_IS_ASSIGNED: holds = may_be_assigned(state, cell->working, e); break;
	case VM_CHANGES_SPEC: holds = may_change_spec(cell->working, e); break;
	case VM_IS_TOLD: holds = told_is_sound(e->told); break;
	}
	return holds ? 0 : -ERROR_CORRUPT;
}

static void machine_change_power(struct vm *vm, uint8_t power_state)
{
	char message[160];
	CHECK(vm_set_power(vm, power_state, message, sizeof message));
}

// A failed machine stays failed until it is restarted, whatever its worker reports.
static void machine_report(struct vm *vm, const struct vm_report *r, int64_t time_ns)
{
	CHECK(r->condition_count <= VM_REPORT_CONDITIONS_MAX);
	bool is_taken = r->parts & VM_REPORT_STATUS && !vm_is_failed(vm);

	if (is_taken) {
		vm->status = r->status;
		if (r->status == VM_RUNNING && vm->started_at_ns == 0)
			vm->started_at_ns = time_ns;
	}
	if (r->parts & VM_REPORT_MESSAGE && (is_taken || !vm_is_failed(vm))) {
		free(vm->status_message);
		vm->status_message = r->message.size ? text_copy(r->message) : NULL;
	}
	if (r->parts & VM_REPORT_GENERATION)
		vm->observed_generation = r->observed_generation;
	for (uint8_t i = 0; i < r->condition_count; i++)
		vm_set_condition(vm, r->conditions[i].type, r->conditions[i].state);
}

static void machine_judge(struct vm *vm, uint8_t verdict, int64_t time_ns)
{
	CHECK(verdict != VM_HEALTHY && verdict <= VM_FAILED_FREED);
	vm_apply_verdict(vm, verdict, time_ns);
	if (!vm_is_scheduled(vm))
		vm_leave_worker(vm);
}

static void machine_assign(
	const struct state *state, struct vm *vm, const struct entry_vm *e, int64_t time_ns)
{
	const struct vm_worker_cell *worker = vm_worker_cell_find(state, e->worker);

	CHECK(worker);
	const struct node_cell *node = vm_worker_cell_node(state, worker);
	CHECK(node || resources_are_none(e->holds));
	vm_assign(vm, worker->working, time_ns);
	CHECK(vm_is_scheduled(vm));
	vm->instance = e->instance;
	vm->holds = e->holds;
	if (resources_are_none(e->holds))
		return;
	vm->holds_slot = node->working->slot;
	vm->holds_index = state->index;
}

static void machine_change_spec(struct vm *vm, const struct entry_vm *e)
{
	char message[160], *allow, *block;
	struct vm_spec spec = spec_of(e, &allow, &block);

	CHECK(vm_set_spec(vm, &spec, message, sizeof message));
	free(allow);
	free(block);
}

static void machine_tell(struct vm *vm, struct text packed)
{
	struct bytes_reader r = bytes_reader_over(packed.data, packed.size);

	while (bytes_left(&r) > 0) {
		struct vm_told told = vm_told_take(&r);
		CHECK(!r.failed);
		vm_tell(vm, told.kind, told.message, told.time_ns);
	}
}

void vm_entry_apply(struct state *state, void *body, int64_t time_ns)
{
	const struct entry_vm *e = body;
	struct vm_cell *cell = vm_cell_find(state, e->name);

	CHECK(cell && e->change < VM_CHANGES);
	struct vm *vm = cell_revise(state, &cell->cell, state->index);
	struct vm_marks before = vm_marks(vm);

	switch (e->change) {
	case VM_CHANGES_POWER: machine_change_power(vm, e->power_state); break;
	case VM_IS_REPORTED: machine_report(vm, &e->report, time_ns); break;
	case VM_IS_JUDGED: machine_judge(vm, e->verdict, time_ns); break;
	case VM_IS_ASSIGNED: machine_assign(state, vm, e, time_ns); break;
	case VM_CHANGES_SPEC: machine_change_spec(vm, e); break;
	case VM_IS_TOLD: machine_tell(vm, e->told); break;
	}
	if (e->is_noted)
		vm_note_news(vm, &before, time_ns);
	cell_follow(state, &cell->cell);
	CHECK(cell->working == vm && vm->record.modify_index == state->index);
}

static bool is_same_machine(const struct vm_worker *a, const struct vm_worker *b)
{
	return text_equal(text_of(a->machine_id), text_of(b->machine_id));
}

int vm_worker_put_check(const struct state *state, const struct entry_record_put *e)
{
	const struct vm_worker *worker = e->record;

	if (!vm_worker_is_sound(worker))
		return -ERROR_CORRUPT;
	const struct vm_worker_cell *known = vm_worker_cell_find(state, text_of(worker->name));
	if (known && !is_same_machine(known->working, worker))
		return -ERROR_CORRUPT;
	if (!uuid_is_zero(&worker->node)) {
		const struct vm_worker_cell *of_node = vm_worker_cell_of_node(state, &worker->node);
		if (!node_cell_find(state, &worker->node) || (of_node && of_node != known))
			return -ERROR_CORRUPT;
	}
	return table_check(state, STATE_VM_WORKERS, worker);
}

void vm_worker_forget_node(struct state *state, const struct uuid *node)
{
	struct vm_worker_cell *cell = vm_worker_cell_of_node(state, node);

	if (!cell)
		return;
	state->index++;
	cell_delete(state, &cell->cell, state->index);
}
