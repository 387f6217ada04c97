// Virtual machines: what people ask for and what workers report (rows D28, D29).
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/decide.h"
#include "state/vm_table.h"
#include <stdio.h>

static struct vm_cell *find(const struct decider *d, struct text name)
{
	struct vm_cell *cell = vm_cell_find(d->state, name);
	return vm_cell_is_there(cell) ? cell : NULL;
}

static void commit_vm(struct decider *d, struct entry_vm change)
{
	struct entry e = {.kind = ENTRY_VM, .vm = change};
	CHECK(decider_commit(d, &e) == 0);
}

// --- Machines ------------------------------------------------------------------------------------

enum command_outcome decide_vm_create(struct decider *d, struct command_vm_create *c)
{
	struct uuid id = prng_uuid(&d->prng);
	char uid[UUID_TEXT_BYTES];

	c->message[0] = 0;
	if (!vm_complete(c->vm, uuid_format(&id, uid), d->now_ns, c->message, sizeof c->message))
		return OUTCOME_BAD_DESCRIPTION;
	if (find(d, text_of(c->vm->name))) {
		snprintf(c->message, sizeof c->message, "VM with this name already exists");
		return OUTCOME_CONFLICT;
	}
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	struct entry e = {.kind = ENTRY_VM, .vm = {.change = VM_COMES, .vm = c->vm}};
	int error = decider_commit(d, &e);
	if (error)
		return error == -ERROR_TABLE_FULL ? OUTCOME_TABLE_FULL : OUTCOME_BAD_DESCRIPTION;
	c->vm = NULL;
	return OUTCOME_DONE;
}

enum command_outcome decide_vm_power(struct decider *d, struct command_vm_power *c)
{
	const struct vm_cell *cell = find(d, c->name);

	c->message[0] = 0;
	if (!cell)
		return OUTCOME_UNKNOWN_VM;
	struct vm *copy = vm_copy(cell->working);
	bool may = vm_set_power(copy, c->power_state, c->message, sizeof c->message);
	bool changes = copy->power_state != cell->working->power_state;
	vm_free(copy);
	if (!may)
		return OUTCOME_NOT_NOW;
	if (changes)
		commit_vm(d, (struct entry_vm){.change = VM_CHANGES_POWER,
				     .name = text_of(cell->name),
				     .power_state = (uint8_t)c->power_state});
	return OUTCOME_DONE;
}

enum command_outcome decide_vm_delete(struct decider *d, const struct command_vm_named *c)
{
	if (!find(d, c->name))
		return OUTCOME_UNKNOWN_VM;
	commit_vm(d, (struct entry_vm){.change = VM_GOES, .name = c->name});
	return OUTCOME_DONE;
}

// --- Reports -------------------------------------------------------------------------------------

// Whether it is scheduled is the controller's to say, so that is left out.
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

enum command_outcome decide_vm_report(struct decider *d, struct command_vm_report *c)
{
	const struct vm_cell *cell = find(d, c->name);
	struct entry e = {.kind = ENTRY_VM, .vm = {.change = VM_IS_REPORTED, .name = c->name}};
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
