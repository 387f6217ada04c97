// Types and values: how they are made and compared.
#include "state/base/check.h"
#include "tools/hcl2/values.h"
#include <glib.h>
#include <stdlib.h>

const struct hcl2_type hcl2_any = {.kind = HCL2_ANY}, hcl2_bool_type = {.kind = HCL2_BOOL},
		       hcl2_number_type = {.kind = HCL2_NUMBER},
		       hcl2_text_type = {.kind = HCL2_STRING},
		       hcl2_text_list_type = {.kind = HCL2_LIST, .element = &hcl2_text_type},
		       hcl2_text_map_type = {.kind = HCL2_MAP, .element = &hcl2_text_type};
const struct hcl2_value hcl2_null = {.type = &hcl2_any, .is_null = true};

const struct hcl2_type *type_of_elements(
	struct hcl2_run *run, enum hcl2_kind kind, const struct hcl2_type *element)
{
	struct hcl2_type *type = hcl2_take(run, sizeof *type);
	*type = (struct hcl2_type){.kind = kind, .element = element};
	return type;
}

const struct hcl2_type *type_of_members(struct hcl2_run *run, enum hcl2_kind kind, uint32_t count,
	const struct hcl2_type *const *members, const struct text *names)
{
	struct hcl2_type *type = hcl2_take(run, sizeof *type);
	*type = (struct hcl2_type){
		.kind = kind, .count = count, .members = members, .names = names};
	return type;
}

bool type_is_equal(struct hcl2_run *run, const struct hcl2_type *a, const struct hcl2_type *b)
{
	if (a == b)
		return true;
	if (a->kind != b->kind || a->count != b->count || !a->element != !b->element ||
		!hcl2_step(run, (struct hcl2_range){0}))
		return false;
	if (a->element)
		return type_is_equal(run, a->element, b->element);
	for (uint32_t i = 0; i < a->count; i++)
		if ((a->kind == HCL2_OBJECT && !text_equal(a->names[i], b->names[i])) ||
			!type_is_equal(run, a->members[i], b->members[i]))
			return false;
	return true;
}

const struct hcl2_value *value_null(struct hcl2_run *run, const struct hcl2_type *type)
{
	struct hcl2_value *value = hcl2_take(run, sizeof *value);
	value->type = type;
	value->is_null = true;
	return value;
}

const struct hcl2_value *value_bool(struct hcl2_run *run, bool boolean)
{
	static const struct hcl2_value no = {.type = &hcl2_bool_type};
	static const struct hcl2_value yes = {.type = &hcl2_bool_type, .boolean = true};
	return boolean ? &yes : &no;
}

static bool text_is_ascii(struct text text)
{
	for (uint32_t i = 0; i < text.size; i++)
		if ((unsigned char)text.data[i] >= 0x80)
			return false;
	return true;
}

const struct hcl2_value *value_string(struct hcl2_run *run, struct text text)
{
	struct hcl2_value *value = hcl2_take(run, sizeof *value);
	value->type = &hcl2_text_type;
	value->string = text.size ? text : (struct text){"", 0};
	if (text_is_ascii(text))
		return value;
	char *composed = g_utf8_normalize(text.data, text.size, G_NORMALIZE_NFC);
	if (composed)
		value->string = hcl2_copy(run, text_of(composed));
	g_free(composed);
	return value;
}

const struct hcl2_value *value_of_string(struct hcl2_run *run, const char *string)
{
	return value_string(run, text_of(string));
}

const struct hcl2_value *value_tuple(
	struct hcl2_run *run, const struct hcl2_value *const *items, uint32_t count)
{
	struct hcl2_value *value = hcl2_take(run, sizeof *value);
	const struct hcl2_type **types = hcl2_take(run, count * sizeof *types);
	for (uint32_t i = 0; i < count; i++)
		types[i] = items[i]->type;
	value->type = type_of_members(run, HCL2_TUPLE, count, types, NULL);
	value->items = items;
	value->count = count;
	return value;
}

const struct hcl2_value *value_object(struct hcl2_run *run, const struct hcl2_value *const *items,
	const struct text *keys, uint32_t count)
{
	struct hcl2_value *value = hcl2_take(run, sizeof *value);
	const struct hcl2_type **types = hcl2_take(run, count * sizeof *types);
	for (uint32_t i = 0; i < count; i++)
		types[i] = items[i]->type;
	value->type = type_of_members(run, HCL2_OBJECT, count, types, keys);
	value->items = items;
	value->keys = keys;
	value->count = count;
	return value;
}

int text_order(struct text a, struct text b)
{
	uint32_t size = a.size < b.size ? a.size : b.size;
	int order = size ? memcmp(a.data, b.data, size) : 0;
	return order ? order : (a.size > b.size) - (a.size < b.size);
}

// Texts, numbers and booleans have an order; other values stay as they come.
static int value_order(const struct hcl2_value *a, const struct hcl2_value *b)
{
	if (a->is_null || b->is_null)
		return a->is_null - b->is_null;
	switch (a->type->kind) {
	case HCL2_STRING: return text_order(a->string, b->string);
	case HCL2_NUMBER: return mpfr_cmp(a->number, b->number);
	case HCL2_BOOL: return a->boolean - b->boolean;
	default: return 0;
	}
}

static int by_value(const void *a, const void *b)
{
	const struct hcl2_value *const *left = a, *const *right = b;
	return value_order(*left, *right);
}

static bool is_there_already(struct hcl2_run *run, const struct hcl2_value *const *items,
	uint32_t count, const struct hcl2_value *item)
{
	bool ordered = item->type->kind <= HCL2_STRING && item->type->kind != HCL2_ANY;
	for (uint32_t i = count; i > 0; i--)
		if (value_is_equal(run, items[i - 1], item))
			return true;
		else if (ordered)
			return false;
	return false;
}

// Orders what has an order, and drops what is there twice.
static void make_set(struct hcl2_run *run, struct hcl2_value *set)
{
	const struct hcl2_value **items = hcl2_take(run, set->count * sizeof *items);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < set->count; i++)
		items[i] = set->items[i];
	if (set->type->element->kind <= HCL2_STRING)
		qsort(items, set->count, sizeof *items, by_value);
	for (uint32_t i = 0; i < set->count; i++)
		if (!is_there_already(run, items, kept, items[i]))
			items[kept++] = items[i];
	set->items = items;
	set->count = kept;
}

const struct hcl2_value *value_collection(struct hcl2_run *run, const struct hcl2_type *type,
	const struct hcl2_value *const *items, const struct text *keys, uint32_t count)
{
	struct hcl2_value *value = hcl2_take(run, sizeof *value);
	*value = (struct hcl2_value){.type = type, .items = items, .keys = keys, .count = count};
	if (type->kind == HCL2_SET)
		make_set(run, value);
	return value;
}

bool value_is_equal(struct hcl2_run *run, const struct hcl2_value *a, const struct hcl2_value *b)
{
	if (a->is_null || b->is_null)
		return a->is_null && b->is_null;
	if (!type_is_equal(run, a->type, b->type) || !hcl2_step(run, (struct hcl2_range){0}))
		return false;
	switch (a->type->kind) {
	case HCL2_BOOL: return a->boolean == b->boolean;
	case HCL2_NUMBER: return mpfr_equal_p(a->number, b->number);
	case HCL2_STRING: return text_equal(a->string, b->string);
	default: break;
	}
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if ((a->keys && !text_equal(a->keys[i], b->keys[i])) ||
			!value_is_equal(run, a->items[i], b->items[i]))
			return false;
	return true;
}

const struct hcl2_value *hcl2_member(const struct hcl2_value *value, struct text name)
{
	uint32_t from = 0, to = kind_is_mapping(value->type->kind) ? value->count : 0;
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;
		int order = text_order(value->keys[middle], name);
		if (order == 0)
			return value->items[middle];
		if (order < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}

const struct hcl2_value *hcl2_text_value(struct hcl2_run *run, struct text text)
{
	return value_string(run, text);
}
