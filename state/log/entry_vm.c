#include "state/log/entry_vm.h"
#include "state/base/error.h"

static void put_resources(struct bytes_writer *w, struct resources r)
{
	bytes_put_u32(w, r.cpu_mhz);
	bytes_put_u32(w, r.memory_mb);
	bytes_put_u32(w, r.disk_mb);
}

static bool take_flag(struct bytes_reader *r)
{
	uint8_t flag = bytes_take_u8(r);

	r->failed |= flag > 1;
	return flag == 1;
}

// --- Reports -------------------------------------------------------------------------------------

static void put_report(const struct vm_report *report, struct bytes_writer *w)
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

static void take_report(struct vm_report *report, struct bytes_reader *r)
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
		report->conditions[i].state = take_flag(r);
	}
}

// --- Machines ------------------------------------------------------------------------------------

void entry_vm_encode(const struct entry_vm *e, struct bytes_writer *w)
{
	bytes_put_u8(w, e->change);
	if (e->change == VM_COMES) {
		record_encode(&vm_description, e->vm, w);
		return;
	}
	bytes_put_text16(w, e->name);
	switch (e->change) {
	case VM_CHANGES_POWER: bytes_put_u8(w, e->power_state); break;
	case VM_IS_REPORTED: put_report(&e->report, w); break;
	case VM_IS_JUDGED: bytes_put_u8(w, e->verdict); break;
	case VM_IS_ASSIGNED:
		bytes_put_text16(w, e->worker);
		bytes_put_uuid(w, &e->instance);
		put_resources(w, e->holds);
		break;
	}
}

static int take_vm(struct entry_vm *e, struct bytes_reader *r)
{
	struct vm *vm = vm_create();
	int error = record_decode(&vm_description, vm, r);

	if (error)
		vm_free(vm);
	else
		e->vm = vm;
	return error;
}

int entry_vm_decode(struct entry_vm *e, struct bytes_reader *r)
{
	*e = (struct entry_vm){.change = bytes_take_u8(r)};
	if (r->failed || e->change >= VM_CHANGES)
		return -ERROR_CORRUPT;
	if (e->change == VM_COMES)
		return take_vm(e, r);
	e->name = bytes_take_text16(r);
	switch (e->change) {
	case VM_CHANGES_POWER: e->power_state = bytes_take_u8(r); break;
	case VM_IS_REPORTED: take_report(&e->report, r); break;
	case VM_IS_JUDGED: e->verdict = bytes_take_u8(r); break;
	case VM_IS_ASSIGNED:
		e->worker = bytes_take_text16(r);
		e->instance = bytes_take_uuid(r);
		e->holds.cpu_mhz = bytes_take_u32(r);
		e->holds.memory_mb = bytes_take_u32(r);
		e->holds.disk_mb = bytes_take_u32(r);
		break;
	}
	return r->failed ? -ERROR_CORRUPT : 0;
}

void entry_vm_release(struct entry_vm *e)
{
	vm_free(e->vm);
	e->vm = NULL;
}

// --- Workers -------------------------------------------------------------------------------------

void entry_vm_worker_encode(const struct entry_vm_worker *e, struct bytes_writer *w)
{
	bytes_put_u8(w, e->change);
	if (e->change == VM_WORKER_IS_DESCRIBED) {
		record_encode(&vm_worker_description, e->worker, w);
		return;
	}
	bytes_put_text16(w, e->name);
	if (e->change == VM_WORKER_IS_SEEN)
		bytes_put_u64(w, (uint64_t)e->last_seen_ns);
	if (e->change != VM_WORKER_GOES)
		bytes_put_u8(w, e->flag);
}

static int take_worker(struct entry_vm_worker *e, struct bytes_reader *r)
{
	struct vm_worker *worker = vm_worker_create();
	int error = record_decode(&vm_worker_description, worker, r);

	if (error)
		vm_worker_free(worker);
	else
		e->worker = worker;
	return error;
}

int entry_vm_worker_decode(struct entry_vm_worker *e, struct bytes_reader *r)
{
	*e = (struct entry_vm_worker){.change = bytes_take_u8(r)};
	if (r->failed || e->change >= VM_WORKER_CHANGES)
		return -ERROR_CORRUPT;
	if (e->change == VM_WORKER_IS_DESCRIBED)
		return take_worker(e, r);
	e->name = bytes_take_text16(r);
	if (e->change == VM_WORKER_IS_SEEN)
		e->last_seen_ns = (int64_t)bytes_take_u64(r);
	if (e->change != VM_WORKER_GOES)
		e->flag = take_flag(r);
	return r->failed ? -ERROR_CORRUPT : 0;
}

void entry_vm_worker_release(struct entry_vm_worker *e)
{
	vm_worker_free(e->worker);
	e->worker = NULL;
}

// --- Settings ------------------------------------------------------------------------------------

void entry_cluster_settings_encode(const struct entry_cluster_settings *e, struct bytes_writer *w)
{
	record_encode(&cluster_settings_description, e->settings, w);
}

int entry_cluster_settings_decode(struct entry_cluster_settings *e, struct bytes_reader *r)
{
	struct cluster_settings *settings = cluster_settings_create();
	int error = record_decode(&cluster_settings_description, settings, r);

	*e = (struct entry_cluster_settings){error ? NULL : settings};
	if (error)
		cluster_settings_free(settings);
	return error;
}

void entry_cluster_settings_release(struct entry_cluster_settings *e)
{
	cluster_settings_free(e->settings);
	e->settings = NULL;
}
