#include "tools/simulate/vm_scenario.h"
#include "placement/vms/pass.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/simulate/vm_update.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OFFLINE_AFTER_NS (3 * NS_PER_MIN)
#define BATCH 64u

struct scenario_vms_json {
	int64_t now_ns, offline_after_ns;
	struct cluster_settings settings;
	struct array workers, vms; // vm_worker, vm
};

#define OF(member) offsetof(struct scenario_vms_json, member)
static const struct field json_fields[] = {
	{"Now", FIELD_I64, OF(now_ns), NULL, NULL, FIELD_TIME},
	{"OfflineAfter", FIELD_I64, OF(offline_after_ns), NULL, NULL, FIELD_DURATION},
	{"Settings", FIELD_STRUCT, OF(settings), &cluster_settings_description},
	{"Workers", FIELD_ARRAY, OF(workers), &vm_worker_description},
	{"VMs", FIELD_ARRAY, OF(vms), &vm_description},
};
static const struct record_type json_description = {"vm_scenario", sizeof(struct scenario_vms_json),
	json_fields, sizeof json_fields / sizeof json_fields[0]};

// A list's items begin with their record, which the name follows.
static const char *name_at(const struct array *list, const struct record_type *type, uint32_t i)
{
	const char *name;
	memcpy(&name, (const char *)list->items + i * type->size + type->fields[0].offset,
		sizeof name);
	return name ? name : "";
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Names must be unique in the list.
static void check_names(const struct array *list, const struct record_type *type, const char *path,
	struct json_report *report)
{
	const char **names = memory_take_array(list->count + 1u, sizeof *names);
	for (uint32_t i = 0; i < list->count; i++) {
		names[i] = name_at(list, type, i);
		if (!*names[i])
			json_sentence(&report->errors, "Input.%s[%u].name: is missing", path, i);
	}
	qsort(names, list->count, sizeof *names, by_text);
	for (uint32_t i = 1; i < list->count; i++)
		if (*names[i] && strcmp(names[i - 1], names[i]) == 0)
			json_sentence(&report->errors,
				"Input.%s: the name \"%.128s\" is given twice", path, names[i]);
	free(names);
}

static void check_name(const char *name, const struct record_type *type, const char *path,
	struct json_report *report)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const char *member = type->fields[i].name;
		if (strcasecmp(member, name) == 0 && strcmp(member, name) != 0)
			json_sentence(&report->errors, "%s.%s: is to be spelled exactly so", path,
				member);
	}
}

// The reader ignores the case of members, but the answer repeats the members as given.
static void check_spelling(
	json_t *given, const struct record_type *type, const char *path, struct json_report *report)
{
	const char *name;
	json_t *value;

	json_object_foreach(given, name, value)
	{
		check_name(name, type, path, report);
	}
}

static void check_spellings(json_t *input, struct json_report *report)
{
	char path[32];
	json_t *vm;
	size_t i;

	check_spelling(input, &json_description, "Input", report);
	json_array_foreach(json_object_get(input, "VMs"), i, vm)
	{
		snprintf(path, sizeof path, "Input.VMs[%zu]", i);
		check_spelling(vm, &vm_description, path, report);
	}
}

// False, and sentences; release given in either case.
static bool read_said(struct scenario_vms_json *given, json_t *input, struct json_report *report)
{
	json_t *object = json_deep_copy(input), *vm;
	json_t *offline_after = json_object_get(object, "OfflineAfter");
	size_t i;

	check_spellings(input, report);
	json_array_foreach(json_object_get(object, "VMs"), i, vm) vm_given_normalise(vm);
	json_read_exact(&json_description, given, object, "Input", report);
	if (!offline_after || json_is_null(offline_after))
		given->offline_after_ns = OFFLINE_AFTER_NS;
	given->settings.count_assigned |= !json_is_boolean(
		json_object_get(json_object_get(object, "Settings"), "countAssigned"));
	json_decref(object);
	check_names(&given->workers, &vm_worker_description, "Workers", report);
	check_names(&given->vms, &vm_description, "VMs", report);
	return report->errors.count == 0;
}

static struct vm_roster roster_of(const struct scenario_vms_json *given)
{
	const struct vm **vms = memory_take_array(given->vms.count + 1u, sizeof *vms);
	struct vm_roster r = {.vms = vms,
		.vm_count = given->vms.count,
		.workers = memory_take_array(given->workers.count + 1u, sizeof *r.workers),
		.worker_count = given->workers.count,
		.now_ns = given->now_ns,
		.offline_after_ns = given->offline_after_ns};

	for (uint32_t i = 0; i < r.vm_count; i++)
		vms[i] = ARRAY_AT(&given->vms, struct vm, i);
	for (uint32_t i = 0; i < r.worker_count; i++)
		r.workers[i] = ARRAY_AT(&given->workers, struct vm_worker, i);
	vm_roster_order(&r);
	return r;
}

static void write_update(struct json_writer *w, const json_t *given, struct vm *vm,
	enum vm_verdict verdict, int64_t now_ns)
{
	struct vm *before = vm_copy(vm);
	vm_apply_verdict(vm, verdict, now_ns);
	json_t *update = vm_given_update(given, before, vm);
	char *text = json_dumps(update, JSON_COMPACT);
	json_write_raw(w, text_of(text));
	free(text);
	json_decref(update);
	vm_free(before);
}

static void check_health(struct json_writer *w, struct scenario_vms_json *given,
	const struct vm_roster *r, json_t *input)
{
	const json_t *vms = json_object_get(input, "VMs");
	struct vm_finding *findings = memory_take_array(r->vm_count + 1u, sizeof *findings);
	uint32_t count = vm_roster_health(r, findings);

	json_open_array(w, "Updates");
	for (uint32_t i = 0; i < count; i++)
		write_update(w, json_array_get(vms, findings[i].vm),
			ARRAY_AT(&given->vms, struct vm, findings[i].vm), findings[i].verdict,
			r->now_ns);
	json_end_array(w);
	free(findings);
}

static void write_assignment(struct json_writer *w, const struct vm *vm)
{
	json_begin_object(w);
	json_put_string(w, "VM", vm->name);
	json_put_string(w, "Worker", vm->worker);
	json_put_u64(w, "assignedCPU", vm->assigned_cpu);
	json_put_u64(w, "assignedMemory", vm->assigned_memory_mib);
	json_end_object(w);
}

// Marks the workers to notify.
static void schedule_vms(struct json_writer *w, struct scenario_vms_json *given,
	const struct vm_roster *r, bool *is_told)
{
	struct vm_pass *pass = vm_pass_begin(r, &given->settings);
	struct vm_proposal proposals[BATCH];
	uint32_t count;

	json_open_array(w, "Assignments");
	while ((count = vm_pass_propose(pass, proposals, BATCH)) > 0)
		for (uint32_t i = 0; i < count; i++) {
			const struct vm_worker *worker = proposals[i].worker;
			struct vm *vm = (struct vm *)proposals[i].vm;
			vm_assign(vm, worker, r->now_ns);
			write_assignment(w, vm);
			is_told[proposals[i].worker_number] = true;
		}
	json_end_array(w);
	vm_pass_end(pass);
}

static void take_turn(struct json_writer *w, struct scenario_vms_json *given, json_t *input)
{
	struct vm_roster r = roster_of(given);
	bool *is_told = memory_take_array(r.worker_count + 1u, sizeof *is_told);

	json_begin_object(w);
	check_health(w, given, &r, input);
	schedule_vms(w, given, &r, is_told);
	json_open_array(w, "Notified");
	for (uint32_t i = 0; i < r.worker_count; i++)
		if (is_told[i])
			json_write_string(w, r.workers[i]->name);
	json_end_array(w);
	json_end_object(w);
	free(is_told);
	vm_roster_free(&r);
	free((void *)r.vms);
	free(r.workers);
}

bool vm_scenario_run(json_t *input, struct json_report *report, struct json_writer *w)
{
	struct scenario_vms_json given = {0};
	bool is_sound = read_said(&given, input, report);

	if (is_sound)
		take_turn(w, &given, input);
	record_release(&json_description, &given);
	return is_sound;
}
