#include "tools/template/values.h"
#include <stdlib.h>

const char *value_kind_name(enum value_kind kind)
{
	static const char *const names[] = {"nil", "a boolean", "an integer", "a number", "a text",
		"a list", "a map", "a variable"};
	return names[kind];
}

bool value_is_true(struct value v)
{
	switch (v.kind) {
	case VALUE_BOOL: return v.truth;
	case VALUE_INT: return v.integer != 0;
	case VALUE_FLOAT: return v.real != 0;
	case VALUE_TEXT: return v.text.size > 0;
	case VALUE_LIST:
	case VALUE_MAP: return v.count > 0;
	case VALUE_RECORD:
		return v.record->plain.kind == VALUE_TEXT || value_is_true(v.record->plain);
	case VALUE_NIL: break;
	}
	return false;
}

static int order_names(struct text a, struct text b)
{
	uint32_t common = a.size < b.size ? a.size : b.size;
	int order = common ? memcmp(a.data, b.data, common) : 0;
	return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int order_members(const void *one, const void *other)
{
	return order_names(
		((const struct member *)one)->name, ((const struct member *)other)->name);
}

const struct value *value_member(const struct member *members, uint32_t count, struct text name)
{
	const struct member wanted = {.name = name};
	const struct member *found =
		count ? bsearch(&wanted, members, count, sizeof *members, order_members) : NULL;
	return found ? &found->value : NULL;
}

void value_sort_members(struct member *members, uint32_t count)
{
	if (count > 1)
		qsort(members, count, sizeof *members, order_members);
}

json_t *value_to_json(struct value v, uint32_t depth)
{
	v = value_plain(v);
	json_t *json = NULL;

	if (depth > VALUE_DEPTH_MAX)
		return NULL;
	switch (v.kind) {
	case VALUE_BOOL: return json_boolean(v.truth);
	case VALUE_INT: return json_integer(v.integer);
	case VALUE_FLOAT: return json_real(v.real);
	case VALUE_TEXT: return json_stringn(v.text.data, v.text.size);
	case VALUE_LIST:
		json = json_array();
		for (uint32_t i = 0; json && i < v.count; i++)
			if (json_array_append_new(json, value_to_json(v.items[i], depth + 1)) < 0) {
				json_decref(json);
				json = NULL;
			}
		return json;
	case VALUE_MAP:
		json = json_object();
		for (uint32_t i = 0; json && i < v.count; i++)
			if (json_object_setn_new(json, v.members[i].name.data,
				    v.members[i].name.size,
				    value_to_json(v.members[i].value, depth + 1)) < 0) {
				json_decref(json);
				json = NULL;
			}
		return json;
	default: return json_null();
	}
}
