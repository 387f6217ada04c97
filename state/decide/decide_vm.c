// Virtual machines: requests of operators and reports of workers (rows D28, D29).
#include "state/base/check.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/alloc_details.h"
#include "state/records/nodes/vm_events.h"
#include "state/tables/nodes/node_extra.h"
#include "state/tables/vms/vm_table.h"
#include <stdio.h>

static void commit_vm(struct decider *d, struct entry_vm change)
{
	struct entry e = {.kind = ENTRY_VM_NOTED, .vm = change};
	e.vm.is_noted = true;
	CHECK(decider_commit(d, &e) == 0);
}

enum command_outcome decide_vm_create(struct decider *d, struct command *command)
{
	struct command_vm_create *c = command->vm_create;
	struct uuid id = prng_uuid(&d->prng);
	char uid[UUID_TEXT_BYTES];

	c->message[0] = 0;
	if (!vm_complete(c->vm, uuid_format(&id, uid), d->now_ns, c->message, sizeof c->message))
		return OUTCOME_BAD_DESCRIPTION;
	vm_note_news(c->vm, &(struct vm_marks){0}, d->now_ns);
	if (vm_cell_find(d->state, text_of(c->vm->name))) {
		snprintf(c->message, sizeof c->message, "VM with this name already exists");
		return OUTCOME_CONFLICT;
	}
	enum command_outcome outcome = decider_store(d, STATE_VMS, c->vm);
	if (outcome == OUTCOME_DONE)
		c->vm = NULL;
	return outcome;
}

static struct vm_spec wanted_spec(const struct command_vm_power *c, const struct vm *vm)
{
	struct vm_spec spec = vm_spec_of(vm);

	spec.power_state = c->power_state;
	if (c->suspendable.set)
		spec.suspendable = c->suspendable.value;
	if (c->net_softnet.set)
		spec.net_softnet = c->net_softnet.value;
	if (c->net_softnet_allow)
		spec.net_softnet_allow = c->net_softnet_allow;
	if (c->net_softnet_block)
		spec.net_softnet_block = c->net_softnet_block;
	return spec;
}

// A worker that is a node runs machines with qemu.
static bool worker_is_able(
	const struct decider *d, const struct vm_cell *cell, const struct vm *changed)
{
	return !cell->worker || !vm_worker_cell_node(d->state, cell->worker) ||
	       !changed->net_softnet || cell->working->net_softnet;
}

enum command_outcome decide_vm_power(struct decider *d, struct command *command)
{
	struct command_vm_power *c = command->vm_power;
	const struct vm_cell *cell = vm_cell_find(d->state, c->name);

	c->message[0] = 0;
	if (!cell)
		return OUTCOME_UNKNOWN_VM;
	struct vm_spec spec = wanted_spec(c, cell->working);
	struct vm *copy = vm_copy(cell->working);
	bool may = vm_set_spec(copy, &spec, c->message, sizeof c->message);
	bool changes = copy->generation != cell->working->generation;
	if (may && !worker_is_able(d, cell, copy)) {
		snprintf(c->message, sizeof c->message,
			"its worker runs machines with qemu, which has no netSoftnet");
		may = false;
	}
	vm_free(copy);
	if (!may)
		return OUTCOME_NOT_NOW;
	if (changes)
		commit_vm(d, (struct entry_vm){.change = VM_CHANGES_SPEC,
				     .name = text_of(cell->name),
				     .power_state = (uint8_t)spec.power_state,
				     .suspendable = spec.suspendable,
				     .net_softnet = spec.net_softnet,
				     .net_softnet_allow = text_of(spec.net_softnet_allow),
				     .net_softnet_block = text_of(spec.net_softnet_block)});
	return OUTCOME_DONE;
}

enum command_outcome decide_vm_tell(struct decider *d, struct command *command)
{
	const struct command_vm_tell *c = &command->vm_tell;
	struct entry e = {.kind = ENTRY_VM_NOTED,
		.vm = {.change = VM_IS_TOLD, .is_noted = true, .name = c->name, .told = c->told}};

	if (!vm_cell_find(d->state, c->name))
		return OUTCOME_UNKNOWN_VM;
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	return c->told.size && decider_commit(d, &e) ? OUTCOME_BAD_DESCRIPTION : OUTCOME_DONE;
}

enum command_outcome decide_vm_delete(struct decider *d, struct command *command)
{
	const struct command_vm_named *c = &command->vm_named;

	if (!vm_cell_find(d->state, c->name))
		return OUTCOME_UNKNOWN_VM;
	decider_delete(d, STATE_VMS, c->name);
	return OUTCOME_DONE;
}

// Only the controller says whether a machine is scheduled, so that condition is left out.
static bool take_conditions(struct vm_report *report, const struct array *conditions)
{
	for (uint32_t i = 0; i < conditions->count; i++) {
		const struct vm_condition *c = ARRAY_AT(conditions, struct vm_condition, i);
		if (c->type == VM_CONDITION_SCHEDULED)
			continue;
		if (report->condition_count == VM_REPORT_CONDITIONS_MAX)
			return false;
		report->conditions[report->condition_count++] = *c;
	}
	return true;
}

enum command_outcome decide_vm_report(struct decider *d, struct command *command)
{
	struct command_vm_report *c = command->vm_report;
	const struct vm_cell *cell = vm_cell_find(d->state, c->name);
	struct entry e = {.kind = ENTRY_VM_NOTED,
		.vm = {.change = VM_IS_REPORTED, .is_noted = true, .name = c->name}};
	struct vm_report *report = &e.vm.report;

	if (!cell)
		return OUTCOME_UNKNOWN_VM;
	if (!text_equal(c->uid, text_of(cell->working->uid)))
		return OUTCOME_CONFLICT;
	if (c->status.set && (c->status.value < VM_PENDING || c->status.value > VM_FAILED))
		return OUTCOME_BAD_DESCRIPTION;
	if (c->status.set) {
		report->parts |= VM_REPORT_STATUS;
		report->status = (uint8_t)c->status.value;
	}
	if (c->status_message) {
		report->parts |= VM_REPORT_MESSAGE;
		report->message = text_of(c->status_message);
	}
	if (c->observed_generation.set) {
		report->parts |= VM_REPORT_GENERATION;
		report->observed_generation = (uint64_t)c->observed_generation.value;
	}
	if (!take_conditions(report, &c->conditions))
		return OUTCOME_BAD_DESCRIPTION;
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	return decider_commit(d, &e) ? OUTCOME_BAD_DESCRIPTION : OUTCOME_DONE;
}

// The machine of an instance that the node at a slot has to run, or NULL.
static const struct vm_cell *find_on(
	const struct decider *d, uint32_t slot, const struct uuid *instance)
{
	const struct vm_cell *cell = vm_cell_find_instance(d->state, instance);
	const struct vm_worker_cell *worker =
		vm_worker_cell_of_node(d->state, node_cell_id(&d->state->cells[slot]));

	return vm_cell_is_there(cell) && uuid_equal(&cell->working->instance, instance) && worker &&
			       cell->worker == worker
		       ? cell
		       : NULL;
}

static void say_status(struct vm_report *report, enum vm_status status)
{
	report->parts |= VM_REPORT_STATUS;
	report->status = (uint8_t)status;
}

static void say_running(struct vm_report *report, bool is_running)
{
	report->conditions[report->condition_count++] =
		(struct vm_condition){VM_CONDITION_RUNNING, is_running};
}

static void say_why(
	struct vm_report *report, const struct alloc_update_item *item, const char *without)
{
	struct text why = text_of(item->report ? alloc_report_description_of(item->report) : NULL);

	report->parts |= VM_REPORT_MESSAGE;
	report->message = why.size ? why : text_of(without);
}

// A machine that ended while it had to run has failed; otherwise it came to rest. A worker has followed the newest
// change of a machine's power once the machine runs, or rests, as it has to.
static struct vm_report report_of(const struct vm *vm, const struct alloc_update_item *item)
{
	bool has_to_run = vm->power_state == VM_POWER_RUNNING;
	bool runs = item->client_status == ALLOC_RUNNING;
	struct vm_report report = {0};

	if (item->client_status == ALLOC_PENDING)
		return report;
	if (runs)
		say_status(&report, VM_RUNNING);
	else if (has_to_run)
		say_status(&report, VM_FAILED);
	if (!runs)
		say_why(&report, item, has_to_run ? VM_TEXT_ENDED : "");
	if (runs || !has_to_run)
		say_running(&report, runs);
	if (runs == has_to_run) {
		report.parts |= VM_REPORT_GENERATION;
		report.observed_generation = vm->generation;
	}
	return report;
}

static bool is_known(const struct vm *vm, const struct vm_report *report)
{
	if (report->parts & VM_REPORT_STATUS && report->status != vm->status && !vm_is_failed(vm))
		return false;
	if (report->parts & VM_REPORT_GENERATION &&
		report->observed_generation != vm->observed_generation)
		return false;
	for (uint8_t i = 0; i < report->condition_count; i++) {
		const struct vm_condition *c = vm_condition(vm, report->conditions[i].type);
		if (!c || c->state != report->conditions[i].state)
			return false;
	}
	return true;
}

bool decider_finds_vm(const struct decider *d, uint32_t slot, const struct uuid *instance)
{
	return find_on(d, slot, instance) != NULL;
}

void decider_report_vms(struct decider *d, struct command_alloc_update *c)
{
	for (uint32_t i = 0; i < c->count; i++) {
		struct alloc_update_item *item = &c->items[i];
		const struct vm_cell *cell = find_on(d, c->slot, &item->allocation);
		if (!cell)
			continue;
		struct vm_report report = report_of(cell->working, item);
		if (!is_known(cell->working, &report))
			commit_vm(d, (struct entry_vm){.change = VM_IS_REPORTED,
					     .name = text_of(cell->name),
					     .report = report});
		alloc_report_release(item->report);
		item->report = NULL;
	}
}
