#include "state/log/entry_vm.h"
#include "state/log/entry_parts.h"

static void condition_code(struct coder *c, struct vm_condition *condition)
{
	uint8_t type = (uint8_t)condition->type;
	bool state = condition->state != 0;

	code_u8(c, &type);
	code_flag(c, &state);
	if (c->reader)
		*condition = (struct vm_condition){type, state};
}

static void report_code(struct coder *c, struct vm_report *report)
{
	code_u8(c, &report->parts);
	if (report->parts & VM_REPORT_STATUS)
		code_u8(c, &report->status);
	if (report->parts & VM_REPORT_MESSAGE)
		code_text16(c, &report->message);
	if (report->parts & VM_REPORT_GENERATION)
		code_u64(c, &report->observed_generation);
	code_u8(c, &report->condition_count);
	coder_require(c, !(report->parts & ~VM_REPORT_PARTS) &&
				 report->condition_count <= VM_REPORT_CONDITIONS_MAX);
	for (uint8_t i = 0; i < report->condition_count && (c->writer || coder_has_read(c)); i++)
		condition_code(c, &report->conditions[i]);
}

static void change_code(struct coder *c, struct entry_vm *e)
{
	code_u8(c, &e->change);
	code_text16(c, &e->name);
	switch (e->change) {
	case VM_CHANGES_POWER: code_u8(c, &e->power_state); break;
	case VM_IS_REPORTED: report_code(c, &e->report); break;
	case VM_IS_JUDGED: code_u8(c, &e->verdict); break;
	case VM_IS_ASSIGNED:
		code_text16(c, &e->worker);
		code_uuid(c, &e->instance);
		resources_code(c, &e->holds);
		break;
	case VM_CHANGES_SPEC:
		code_u8(c, &e->power_state);
		code_flag(c, &e->suspendable);
		code_flag(c, &e->net_softnet);
		code_text32(c, &e->net_softnet_allow);
		code_text32(c, &e->net_softnet_block);
		break;
	case VM_IS_TOLD: code_text32(c, &e->told); break;
	default: coder_require(c, false);
	}
}

void entry_vm_code(struct coder *c, void *body)
{
	struct entry_vm *e = body;

	change_code(c, e);
	coder_require(c, e->change <= VM_IS_ASSIGNED);
}

void entry_vm_noted_code(struct coder *c, void *body)
{
	struct entry_vm *e = body;

	if (c->reader)
		e->is_noted = true;
	change_code(c, e);
}
