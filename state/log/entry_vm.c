#include "state/log/entry_vm.h"
#include "state/base/error.h"
#include "state/log/entry_parts.h"

static void report_encode(const struct vm_report *report, struct bytes_writer *w)
{
	bytes_put_u8(w, report->parts);
	if (report->parts & VM_REPORT_STATUS)
		bytes_put_u8(w, report->status);
	if (report->parts & VM_REPORT_MESSAGE)
		bytes_put_text16(w, report->message);
	if (report->parts & VM_REPORT_GENERATION)
		bytes_put_u64(w, report->observed_generation);
	bytes_put_u8(w, report->condition_count);
	for (uint8_t i = 0; i < report->condition_count; i++) {
		bytes_put_u8(w, (uint8_t)report->conditions[i].type);
		bytes_put_u8(w, report->conditions[i].state != 0);
	}
}

static void report_decode(struct vm_report *report, struct bytes_reader *r)
{
	report->parts = bytes_take_u8(r);
	if (report->parts & VM_REPORT_STATUS)
		report->status = bytes_take_u8(r);
	if (report->parts & VM_REPORT_MESSAGE)
		report->message = bytes_take_text16(r);
	if (report->parts & VM_REPORT_GENERATION)
		report->observed_generation = bytes_take_u64(r);
	report->condition_count = bytes_take_u8(r);
	r->failed |= report->parts & ~VM_REPORT_PARTS ||
		     report->condition_count > VM_REPORT_CONDITIONS_MAX;
	for (uint8_t i = 0; i < report->condition_count && !r->failed; i++) {
		report->conditions[i].type = bytes_take_u8(r);
		report->conditions[i].state = flag_decode(r);
	}
}

void entry_vm_encode(const void *body, struct bytes_writer *w)
{
	const struct entry_vm *e = body;

	bytes_put_u8(w, e->change);
	bytes_put_text16(w, e->name);
	switch (e->change) {
	case VM_CHANGES_POWER: bytes_put_u8(w, e->power_state); break;
	case VM_IS_REPORTED: report_encode(&e->report, w); break;
	case VM_IS_JUDGED: bytes_put_u8(w, e->verdict); break;
	case VM_IS_ASSIGNED:
		bytes_put_text16(w, e->worker);
		bytes_put_uuid(w, &e->instance);
		resources_encode(e->holds, w);
		break;
	case VM_CHANGES_SPEC:
		bytes_put_u8(w, e->power_state);
		bytes_put_u8(w, e->suspendable);
		bytes_put_u8(w, e->net_softnet);
		bytes_put_text32(w, e->net_softnet_allow);
		bytes_put_text32(w, e->net_softnet_block);
		break;
	case VM_IS_TOLD: bytes_put_text32(w, e->told); break;
	}
}

static int change_decode(struct entry_vm *e, struct bytes_reader *r)
{
	e->name = bytes_take_text16(r);
	switch (e->change) {
	case VM_CHANGES_POWER: e->power_state = bytes_take_u8(r); break;
	case VM_IS_REPORTED: report_decode(&e->report, r); break;
	case VM_IS_JUDGED: e->verdict = bytes_take_u8(r); break;
	case VM_IS_ASSIGNED:
		e->worker = bytes_take_text16(r);
		e->instance = bytes_take_uuid(r);
		e->holds = resources_decode(r);
		break;
	case VM_CHANGES_SPEC:
		e->power_state = bytes_take_u8(r);
		e->suspendable = flag_decode(r);
		e->net_softnet = flag_decode(r);
		e->net_softnet_allow = bytes_take_text32(r);
		e->net_softnet_block = bytes_take_text32(r);
		break;
	case VM_IS_TOLD: e->told = bytes_take_text32(r); break;
	}
	return r->failed ? -ERROR_CORRUPT : 0;
}

int entry_vm_decode(void *body, struct bytes_reader *r)
{
	struct entry_vm *e = body;

	*e = (struct entry_vm){.change = bytes_take_u8(r)};
	return r->failed || e->change > VM_IS_ASSIGNED ? -ERROR_CORRUPT : change_decode(e, r);
}

int entry_vm_noted_decode(void *body, struct bytes_reader *r)
{
	struct entry_vm *e = body;

	*e = (struct entry_vm){.change = bytes_take_u8(r), .is_noted = true};
	return r->failed || e->change >= VM_CHANGES ? -ERROR_CORRUPT : change_decode(e, r);
}
