#include "tools/simulate/vm_update.h"
#include "state/base/check.h"
#include "tools/json/json_record.h"
#include <string.h>

// An earlier name of localName.
#define OLD_LOCAL_NAME "tartName"

void vm_given_normalise(json_t *object)
{
	json_t *name = json_object_get(object, OLD_LOCAL_NAME), *condition;
	size_t i;

	if (name) {
		if (!json_object_get(object, "localName"))
			json_object_set(object, "localName", name);
		json_object_del(object, OLD_LOCAL_NAME);
	}
	json_array_foreach(json_object_get(object, "conditions"), i, condition)
	{
		json_t *state = json_object_get(condition, "state");
		if (json_is_boolean(state))
			json_object_set_new(condition, "state",
				json_string(vm_condition_state_names[json_is_true(state)]));
	}
}

static json_t *as_json(const struct vm *vm)
{
	struct json_writer w = {0};
	json_record(&w, &vm_description, vm);
	json_t *object = json_loadb(w.data, w.size, 0, NULL);
	CHECK(object);
	json_writer_free(&w);
	return object;
}

static bool is_time(const struct field *f)
{
	return f->kind == FIELD_I64 && (f->flags & FIELD_TIME);
}

// For a member that was not given, the others decide.
static bool times_are_numbers(const json_t *given, const char *member)
{
	const json_t *value = json_object_get(given, member);
	if (value && !json_is_null(value))
		return json_is_integer(value);
	for (uint32_t i = 0; i < vm_description.field_count; i++)
		if (is_time(&vm_description.fields[i]) &&
			json_is_integer(json_object_get(given, vm_description.fields[i].name)))
			return true;
	return false;
}

static void replace_time(json_t *object, const json_t *given, const struct field *f,
	const struct vm *vm, json_t *text)
{
	int64_t ns;
	memcpy(&ns, (const char *)vm + f->offset, sizeof ns);
	if (times_are_numbers(given, f->name))
		json_object_set_new(object, f->name, json_integer(ns));
	else
		json_object_set(object, f->name, text);
}

static void replace_local_name(json_t *object, json_t *name)
{
	bool is_old = json_object_get(object, OLD_LOCAL_NAME);
	if (is_old)
		json_object_set(object, OLD_LOCAL_NAME, name);
	if (!is_old || json_object_get(object, "localName"))
		json_object_set(object, "localName", name);
}

static bool conditions_are_flags(const json_t *given)
{
	const json_t *first = json_array_get(json_object_get(given, "conditions"), 0);
	return json_is_boolean(json_object_get(first, "state"));
}

static void replace_conditions(json_t *object, const json_t *given, json_t *conditions)
{
	json_t *condition;
	size_t i;

	if (conditions_are_flags(given))
		json_array_foreach(conditions, i, condition)
		{
			const char *state = json_string_value(json_object_get(condition, "state"));
			json_object_set_new(condition, "state",
				json_boolean(strcmp(state, vm_condition_state_names[1]) == 0));
		}
	json_object_set(object, "conditions", conditions);
}

static void replace_vm(json_t *object, const json_t *given, const struct field *f,
	const struct vm *vm, json_t *value)
{
	if (is_time(f))
		replace_time(object, given, f, vm, value);
	else if (strcmp(f->name, "localName") == 0)
		replace_local_name(object, value);
	else if (strcmp(f->name, "conditions") == 0)
		replace_conditions(object, given, value);
	else
		json_object_set(object, f->name, value);
}

json_t *vm_given_update(const json_t *given, const struct vm *before, const struct vm *after)
{
	json_t *object = json_deep_copy(given), *old = as_json(before), *new = as_json(after);

	for (uint32_t i = 0; i < vm_description.field_count; i++) {
		const struct field *f = &vm_description.fields[i];
		json_t *value = json_object_get(new, f->name);
		if (value && !json_equal(json_object_get(old, f->name), value))
			replace_vm(object, given, f, after, value);
	}
	json_decref(old);
	json_decref(new);
	return object;
}
