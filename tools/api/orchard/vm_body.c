#include "tools/api/orchard/vm_body.h"
#include "state/base/limits.h"
#include <stdlib.h>
#include <strings.h>

bool report_is_clean(const struct json_report *report, struct reply *reply)
{
	if (report->errors.count == 0)
		return true;
	if (report->errors.count == 1)
		return reply_mistake(reply, "%s", report->errors.texts[0]);
	char *all = json_sentences_text(&report->errors, "error");
	reply_mistake(reply, "%s", all);
	free(all);
	return false;
}

static bool refuse_size(
	struct reply *reply, const char *path, const char *name, size_t size, size_t most)
{
	return reply_mistake(
		reply, "%s.%s: has %zu bytes, %zu are the most", path, name, size, most);
}

bool texts_are_fit(
	const struct record_type *type, const void *record, const char *path, struct reply *reply)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct field *f = &type->fields[i];
		if (f->kind != FIELD_STRING && f->kind != FIELD_JSON)
			continue;
		const char *text = *(char *const *)((const char *)record + f->offset);
		size_t most = f->kind == FIELD_JSON ? VM_JSON_BYTES_MAX : ATTRIBUTE_VALUE_BYTES_MAX;
		if (text && strlen(text) > most)
			return refuse_size(reply, path, f->name, strlen(text), most);
	}
	return true;
}

// Clients send back all members that they were shown; these are skipped, because only the controller sets them.
static const char *const of_controller[] = {"uid", "status", "status_message", "worker",
	"assignedCPU", "assignedMemory", "powerState", "localName", "tartName", "conditions",
	"createdAt", "image_fqn", "version", "scheduled_at", "started_at", "restarted_at",
	"restart_count", "generation", "observedGeneration", "events", "instance"};

static bool is_of_controller(const char *name)
{
	for (size_t i = 0; i < sizeof of_controller / sizeof of_controller[0]; i++)
		if (strcasecmp(of_controller[i], name) == 0)
			return true;
	return false;
}

static json_t *without_controllers(json_t *body)
{
	json_t *kept = json_object(), *value;
	const char *name;
	json_object_foreach(body, name, value) if (!is_of_controller(name))
		json_object_set(kept, name, value);
	return kept;
}

// Finds a member of a body, ignoring case.
static json_t *body_member(json_t *body, const char *wanted)
{
	const char *name;
	json_t *value;
	json_object_foreach(body, name, value) if (strcasecmp(name, wanted) == 0) return value;
	return NULL;
}

static bool is_known(const char *text, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(*names, text) == 0)
			return true;
	return false;
}

// Answers 412, as Orchard does, although the body's form is wrong.
static bool restart_policy_is_known(json_t *body, struct reply *reply)
{
	const char *policy = json_string_value(body_member(body, "restart_policy"));
	if (!policy || !*policy || is_known(policy, vm_restart_names))
		return true;
	return reply_error(reply, MHD_HTTP_PRECONDITION_FAILED,
		"unsupported restart policy: \"%.64s\"; it must be Never or OnFailure", policy);
}

static void check_text(
	json_t *object, const char *name, const char *path, bool needed, struct json_report *report)
{
	const json_t *value = json_object_get(object, name);
	if (!json_is_absent(value) && !json_is_string(value))
		json_sentence(&report->errors, "%s.%s: expected a string", path, name);
	else if (needed && json_string_length(value) == 0)
		json_sentence(&report->errors, "%s.%s: must not be empty", path, name);
}

static void check_script(json_t *script, struct json_report *report)
{
	const char *name;
	json_t *value, *environment = json_object_get(script, "env");
	if (json_is_absent(script))
		return;
	if (!json_is_object(script)) {
		json_sentence(&report->errors, "VM.startup_script: expected an object");
		return;
	}
	check_text(script, "script_content", "VM.startup_script", false, report);
	if (!json_is_absent(environment) && !json_is_object(environment))
		json_sentence(&report->errors, "VM.startup_script.env: expected an object");
	json_object_foreach(environment, name, value) if (!json_is_string(value)) json_sentence(
		&report->errors, "VM.startup_script.env[\"%s\"]: expected a string", name);
}

static void check_host_dirs(json_t *dirs, struct json_report *report)
{
	size_t i;
	json_t *dir;
	if (!json_is_absent(dirs) && !json_is_array(dirs))
		json_sentence(&report->errors, "VM.hostDirs: expected a list");
	json_array_foreach(dirs, i, dir)
	{
		char path[64];
		snprintf(path, sizeof path, "VM.hostDirs[%zu]", i);
		if (json_is_object(dir)) {
			check_text(dir, "name", path, true, report);
			check_text(dir, "path", path, true, report);
		} else {
			json_sentence(&report->errors, "%s: expected an object", path);
		}
	}
}

static void check_networks(json_t *networks, const char *name, struct json_report *report)
{
	size_t i;
	json_t *network;
	if (!json_is_absent(networks) && !json_is_array(networks))
		json_sentence(&report->errors, "VM.%s: expected a list", name);
	json_array_foreach(networks, i, network) if (!json_is_string(network))
		json_sentence(&report->errors, "VM.%s[%zu]: expected a string", name, i);
}

// The older name says the same.
static void rename_softnet(json_t *said)
{
	json_t *older = body_member(said, "net-softnet");
	if (json_is_true(older))
		json_object_set_new(said, "netSoftnet", json_true());
	if (json_is_absent(older) || json_is_boolean(older))
		json_object_del(said, "net-softnet");
}

struct vm *vm_body_read(json_t *body, struct json_report *report, struct reply *reply)
{
	if (!restart_policy_is_known(body, reply))
		return NULL;
	struct vm *vm = vm_create();
	json_t *said = without_controllers(body);
	rename_softnet(said);
	json_read_record(&vm_description, vm, said, "VM", report);
	check_networks(body_member(said, "netSoftnetAllow"), "netSoftnetAllow", report);
	check_networks(body_member(said, "netSoftnetBlock"), "netSoftnetBlock", report);
	check_script(body_member(said, "startup_script"), report);
	check_host_dirs(body_member(said, "hostDirs"), report);
	json_decref(said);
	if (report_is_clean(report, reply) && texts_are_fit(&vm_description, vm, "VM", reply))
		return vm;
	vm_free(vm);
	return NULL;
}

// What a user may change.
static bool is_of_spec(const char *name)
{
	static const char *const names[] = {
		"suspendable", "netSoftnet", "netSoftnetAllow", "netSoftnetBlock"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool field_equal(const struct field *field, const void *a, const void *b)
{
	const struct record_type one = {.name = "field", .fields = field, .field_count = 1};
	return record_equal(&one, a, b);
}

const char *vm_body_differs(json_t *body, const struct vm *said, const struct vm *vm)
{
	static const struct vm nothing;
	for (uint32_t i = 0; i < vm_description.field_count; i++) {
		const struct field *f = &vm_description.fields[i];
		// Clients in Go send empty members that nobody set.
		if (!is_of_controller(f->name) && !is_of_spec(f->name) &&
			!json_is_absent(body_member(body, f->name)) &&
			!field_equal(f, said, &nothing) && !field_equal(f, said, vm))
			return f->name;
	}
	return NULL;
}

static bool resources_are_fit(const struct array *resources, struct reply *reply)
{
	if (resources->count > VM_RESOURCES_MAX)
		return reply_mistake(reply, "Worker.resources: there are %u, %u are the most",
			resources->count, VM_RESOURCES_MAX);
	for (uint32_t i = 0; i < resources->count; i++) {
		const struct named_count *r = ARRAY_AT(resources, struct named_count, i);
		if (!*r->name || strlen(r->name) > ATTRIBUTE_NAME_BYTES_MAX || r->count < 0)
			return reply_mistake(reply,
				"Worker.resources[\"%.64s\"]: a resource has a name of 1 to %u "
				"bytes and is a number that is not negative",
				r->name, ATTRIBUTE_NAME_BYTES_MAX);
	}
	return true;
}

static bool labels_are_fit(const struct array *labels, struct reply *reply)
{
	if (labels->count > VM_LABELS_MAX)
		return reply_mistake(reply, "Worker.labels: there are %u, %u are the most",
			labels->count, VM_LABELS_MAX);
	for (uint32_t i = 0; i < labels->count; i++) {
		const struct string_pair *l = ARRAY_AT(labels, struct string_pair, i);
		if (!*l->name || strlen(l->name) > ATTRIBUTE_NAME_BYTES_MAX ||
			strlen(l->value) > ATTRIBUTE_VALUE_BYTES_MAX)
			return reply_mistake(reply,
				"Worker.labels[\"%.64s\"]: a label has a name of 1 to %u bytes and "
				"a value of at most %u",
				l->name, ATTRIBUTE_NAME_BYTES_MAX, ATTRIBUTE_VALUE_BYTES_MAX);
	}
	return true;
}

static bool worker_name_is_fit(const char *name, struct reply *reply)
{
	if (!name || !*name)
		reply_error(reply, MHD_HTTP_PRECONDITION_FAILED, "worker name is empty");
	else if (strlen(name) > NAME_BYTES_MAX)
		reply_error(reply, MHD_HTTP_PRECONDITION_FAILED,
			"worker name is longer than %u bytes", NAME_BYTES_MAX);
	else if (!text_is_printable(text_of(name)))
		reply_error(reply, MHD_HTTP_PRECONDITION_FAILED,
			"worker name has control characters, or is not UTF-8");
	return !reply->status;
}

struct vm_worker *vm_worker_body_read(json_t *body, struct json_report *report, struct reply *reply)
{
	struct vm_worker *worker = vm_worker_create();
	json_t *said = json_copy(body);
	json_object_del(said, "node");
	json_object_del(said, "beats");
	json_object_del(said, "owner");
	json_object_del(said, "createdAt");
	json_object_del(said, "version");
	json_read_record(&vm_worker_description, worker, said, "Worker", report);
	json_decref(said);
	if (report_is_clean(report, reply) && worker_name_is_fit(worker->name, reply) &&
		texts_are_fit(&vm_worker_description, worker, "Worker", reply) &&
		resources_are_fit(&worker->resources, reply) &&
		labels_are_fit(&worker->labels, reply))
		return worker;
	vm_worker_free(worker);
	return NULL;
}
