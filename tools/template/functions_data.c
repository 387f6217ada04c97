// Functions that look at the task's data: its environment, its files, the variables of the cluster.
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/template/functions.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// NULL: it is not set.
static const char *look_up(struct call *call)
{
	const struct template_data *data = call->run->data;
	char name[300];
	struct text t = argument_text(call, 0);

	snprintf(name, sizeof name, "%.*s", (int)(t.size < 299 ? t.size : 299), t.data);
	return call->run->failed ? NULL : data->env(data->context, name);
}

struct value tf_env(struct call *call)
{
	const char *value = look_up(call);
	return value_copy(call->run, value ? value : "", value ? strlen(value) : 0);
}

struct value tf_env_or_default(struct call *call)
{
	const char *value = look_up(call);
	if (!value || !*value)
		return value_text(argument_text(call, 1));
	return value_copy(call->run, value, strlen(value));
}

struct value tf_must_env(struct call *call)
{
	const char *value = look_up(call);
	struct text t = argument_text(call, 0);
	if (value)
		return value_copy(call->run, value, strlen(value));
	return function_fail(
		call, "\"%.*s\" is not set", (int)(t.size < 100 ? t.size : 100), t.data);
}

struct value tf_file(struct call *call)
{
	const struct template_data *data = call->run->data;
	char *path = text_copy(argument_text(call, 0)), message[200];
	struct bytes_writer w = bytes_writer_growing(256);

	if (!data->file(data->context, path, &w, message, sizeof message))
		function_fail(call, "%s", message);
	free(path);
	return function_written(call, &w);
}

struct value tf_timestamp(struct call *call)
{
	time_t now = (time_t)(call->run->data->now_ns / NS_PER_S);
	struct tm tm;
	char text[40];

	if (call->count > 0 && !text_equal(argument_text(call, 0), TEXT("unix")))
		return function_fail(call, "formats are not there, but \"unix\"");
	if (!gmtime_r(&now, &tm))
		return function_fail(call, "the time is out of range");
	if (call->count > 0)
		snprintf(text, sizeof text, "%lld", (long long)now);
	else
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return value_copy(call->run, text, strlen(text));
}

// A plain value with the fields of the API's record that these names say, in order.
static struct value record_of(struct call *call, const json_t *json, struct value plain,
	const struct member *more, uint32_t more_count)
{
	static const char *const names[] = {
		"CreateIndex", "CreateTime", "ModifyIndex", "ModifyTime", "Namespace", "Path"};
	uint32_t count = sizeof names / sizeof names[0];
	struct record *record = render_take(call->run, sizeof *record);
	struct member *fields = render_take(call->run, (count + more_count) * sizeof *fields);

	if (!record || !fields)
		return (struct value){0};
	for (uint32_t i = 0; i < count; i++) {
		const json_t *value = json_object_get(json, names[i]);
		fields[i] = (struct member){text_of(names[i]),
			value ? value_of_json(call->run, value, 0) : (struct value){0}};
	}
	for (uint32_t i = 0; i < more_count; i++)
		fields[count + i] = more[i];
	value_sort_members(fields, count + more_count);
	*record = (struct record){.plain = plain,
		.count = count + more_count,
		.fields = fields,
		.has_texts = plain.kind == VALUE_MAP};
	return call->run->failed ? (struct value){0}
				 : (struct value){.kind = VALUE_RECORD, .record = record};
}

// A record that has just these fields, which are in order.
static struct value record_with(
	struct call *call, struct value plain, const struct member *fields, uint32_t count)
{
	struct record *record = render_take(call->run, sizeof *record);
	struct member *kept = render_take(call->run, count * sizeof *kept);

	if (!record || !kept)
		return (struct value){0};
	memcpy(kept, fields, count * sizeof *kept);
	*record = (struct record){.plain = plain,
		.count = count,
		.fields = kept,
		.has_texts = plain.kind == VALUE_MAP};
	return (struct value){.kind = VALUE_RECORD, .record = record};
}

// Each item of a variable is its text, and has .Key and .Value.
static void make_items(struct call *call, struct value items, struct value parent,
	struct member *members, struct value *keys, struct value *values, struct value *tuples)
{
	for (uint32_t i = 0; i < items.count; i++) {
		struct value key = value_text(items.members[i].name);
		struct value text = items.members[i].value;
		const struct member of_item[] = {{TEXT("Key"), key}, {TEXT("Metadata"), parent},
			{TEXT("Parent"), parent}, {TEXT("Value"), text}};
		const struct member of_tuple[] = {{TEXT("K"), key}, {TEXT("V"), text}};
		members[i] =
			(struct member){items.members[i].name, record_with(call, text, of_item, 4)};
		keys[i] = key;
		values[i] = text;
		tuples[i] = record_with(call, text, of_tuple, 2);
	}
}

static struct value value_of_variable(struct call *call, const json_t *variable)
{
	struct value items = value_of_json(call->run, json_object_get(variable, "Items"), 0);
	struct value path = value_of_json(call->run, json_object_get(variable, "Path"), 0);
	struct value parent = record_of(call, variable, path, NULL, 0);
	uint32_t count = items.kind == VALUE_MAP ? items.count : 0;
	struct member *members = render_take(call->run, count * sizeof *members);
	struct value *lists = render_take(call->run, 3 * count * sizeof *lists);

	if (call->run->failed || !members || !lists)
		return (struct value){0};
	items.count = count;
	make_items(call, items, parent, members, lists, lists + count, lists + 2 * count);
	const struct member fields[] = {
		{TEXT("Keys"), {.kind = VALUE_LIST, .count = count, .items = lists}},
		{TEXT("Metadata"), parent}, {TEXT("Parent"), parent},
		{TEXT("Tuples"), {.kind = VALUE_LIST, .count = count, .items = lists + 2 * count}},
		{TEXT("Values"), {.kind = VALUE_LIST, .count = count, .items = lists + count}}};
	return record_with(call,
		(struct value){.kind = VALUE_MAP, .count = count, .members = members}, fields, 5);
}

static enum template_found find_variable_of(struct call *call, const json_t **variable)
{
	const struct template_data *data = call->run->data;
	char *path = text_copy(argument_text(call, 0));
	enum template_found found = TEMPLATE_ABSENT;

	if (!call->run->failed)
		found = data->variable(data->context, path, variable);
	free(path);
	return found;
}

static void miss(struct call *call, const char *what)
{
	char *path = call->count ? text_copy(argument_text(call, 0)) : text_copy(TEXT(""));
	render_misses(call->run, what, path);
	free(path);
}

struct value tf_nomad_var(struct call *call)
{
	const json_t *variable = NULL;

	if (find_variable_of(call, &variable) == TEMPLATE_FOUND)
		return value_of_variable(call, variable);
	if (!call->run->failed)
		miss(call, "nomad.var.block");
	return (struct value){0};
}

struct value tf_nomad_var_exists(struct call *call)
{
	const json_t *variable = NULL;
	enum template_found found = find_variable_of(call, &variable);

	if (found == TEMPLATE_UNKNOWN)
		miss(call, "nomad.var.get");
	return value_bool(found == TEMPLATE_FOUND);
}

static struct value list_variables(struct call *call, bool waits_for_some)
{
	const struct template_data *data = call->run->data;
	char *prefix = call->count ? text_copy(argument_text(call, 0)) : text_copy(TEXT(""));
	const json_t *list = NULL;
	enum template_found found = TEMPLATE_ABSENT;

	if (!call->run->failed)
		found = data->list(data->context, prefix, &list);
	free(prefix);
	uint32_t count = found == TEMPLATE_FOUND ? (uint32_t)json_array_size(list) : 0;
	if (found == TEMPLATE_UNKNOWN || (waits_for_some && count == 0))
		miss(call, "nomad.var.list");
	struct value *items = render_take(call->run, count * sizeof *items);
	for (uint32_t i = 0; items && i < count; i++) {
		const json_t *one = json_array_get(list, i);
		struct value path = value_of_json(call->run, json_object_get(one, "Path"), 0);
		items[i] = record_of(call, one, path, NULL, 0);
	}
	return items ? (struct value){.kind = VALUE_LIST, .count = count, .items = items}
		     : (struct value){0};
}

struct value tf_nomad_var_list(struct call *call)
{
	return list_variables(call, false);
}

struct value tf_nomad_var_list_safe(struct call *call)
{
	return list_variables(call, true);
}
