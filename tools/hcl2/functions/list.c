// Functions of lists.
#include "tools/hcl2/functions/functions.h"
#include <stdlib.h>

static const struct hcl2_type list_of_numbers = {.kind = HCL2_LIST, .element = &hcl2_number_type};

// What a list of this type, or a tuple, makes of items.
static const struct hcl2_value *same_kind(struct call *call, const struct hcl2_type *type,
	const struct hcl2_value *const *items, uint32_t count)
{
	return type->kind == HCL2_LIST ? value_collection(call->run, type, items, NULL, count)
				       : value_tuple(call->run, items, count);
}

static bool is_list(const struct hcl2_value *value)
{
	return value->type->kind == HCL2_LIST || value->type->kind == HCL2_TUPLE;
}

static const struct hcl2_value *fn_length(struct call *call)
{
	enum hcl2_kind kind = call->arguments[0]->type->kind;
	if (!kind_is_sequence(kind) && !kind_is_mapping(kind))
		return call_failed(call, "a collection is required");
	if (kind == HCL2_OBJECT)
		return call_failed(call, "a list, a map or a tuple is required");
	return value_int(call->run, call->arguments[0]->count);
}

static const struct hcl2_value *fn_concat(struct call *call)
{
	uint32_t total = 0, at = 0;
	bool lists = true;
	if (!call->count)
		return call_failed(call, "at least one list is required");
	for (uint32_t i = 0; i < call->count; i++) {
		if (!is_list(call->arguments[i]))
			return call_wrong(call, (int)i, "all arguments must be lists or tuples");
		lists = lists && call->arguments[i]->type->kind == HCL2_LIST;
		total += call->arguments[i]->count;
		if (total > HCL2_ELEMENTS_MAX)
			return call_failed(call, "the result has too many elements");
	}
	const struct hcl2_value **items = hcl2_take(call->run, total * sizeof *items);
	for (uint32_t i = 0; i < call->count; i++)
		for (uint32_t j = 0; j < call->arguments[i]->count; j++)
			items[at++] = call->arguments[i]->items[j];
	const struct hcl2_value *list =
		lists && total ? value_unified_list(call->run, items, total) : NULL;
	if (lists && !total)
		return call->arguments[0];
	return list ? list : value_tuple(call->run, items, total);
}

static bool flatten_into(struct call *call, struct members *out, const struct hcl2_value *from)
{
	for (uint32_t i = 0; i < from->count; i++) {
		const struct hcl2_value *item = from->items[i];
		if (!hcl2_step(call->run, hcl2_range(call->node)) || out->count > HCL2_ELEMENTS_MAX)
			return false;
		if (item->is_null || !kind_is_sequence(item->type->kind))
			members_put(call->run, out, (struct text){0}, item);
		else if (!flatten_into(call, out, item))
			return false;
	}
	return true;
}

static const struct hcl2_value *fn_flatten(struct call *call)
{
	struct members out = {0};
	if (!kind_is_sequence(call->arguments[0]->type->kind))
		return call_failed(call, "only lists, sets and tuples can be flattened");
	if (!flatten_into(call, &out, call->arguments[0]))
		return call_failed(call, "the result has too many elements");
	return value_tuple(call->run, out.items, out.count);
}

static const struct hcl2_value *fn_distinct(struct call *call)
{
	const struct hcl2_value *list = call->arguments[0];
	const struct hcl2_value **items = hcl2_take(call->run, list->count * sizeof *items);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < list->count; i++) {
		bool known = false;
		for (uint32_t j = 0; j < kept && !known; j++)
			known = value_is_equal(call->run, items[j], list->items[i]);
		if (hcl2_exhausted(call->run))
			return call_failed(call, "there is too much to compare");
		if (!known)
			items[kept++] = list->items[i];
	}
	return value_collection(call->run, list->type, items, NULL, kept);
}

static const struct hcl2_value *fn_range(struct call *call)
{
	const struct hcl2_value *zero = value_int(call->run, 0);
	mpfr_srcptr start = zero->number, end, step;
	if (call->count < 1 || call->count > 3)
		return call_failed(call, "one, two or three numbers are required");
	end = call->arguments[call->count > 1]->number;
	if (call->count > 1)
		start = call->arguments[0]->number;
	bool down = mpfr_less_p(end, start);
	step = call->count == 3 ? call->arguments[2]->number
				: value_int(call->run, down ? -1 : 1)->number;
	if (mpfr_zero_p(step))
		return call_wrong(call, 2, "the step must not be zero");
	if (!mpfr_equal_p(end, start) && down != (mpfr_sgn(step) < 0))
		return call_wrong(call, 1, "the step leads away from the end");
	struct members list = {0};
	for (mpfr_srcptr at = start; down ? mpfr_greater_p(at, end) : mpfr_less_p(at, end);) {
		if (list.count == 1024)
			return call_failed(call, "it makes more than 1024 numbers");
		members_put(call->run, &list, (struct text){0}, value_number(call->run, at));
		mpfr_ptr next = number_new(call->run);
		mpfr_add(next, at, step, MPFR_RNDN);
		at = next;
	}
	return value_collection(call->run, &list_of_numbers, list.items, NULL, list.count);
}

static const struct hcl2_value *fn_element(struct call *call)
{
	const struct hcl2_value *list = call->arguments[0];
	int64_t index;
	if (!is_list(list))
		return call_failed(call, "a list is required");
	if (!call_int(call, 1, 0, INT64_MAX, &index))
		return NULL;
	if (!list->count)
		return call_failed(call, "the list is empty");
	return list->items[index % list->count];
}

static const struct hcl2_value *fn_index(struct call *call)
{
	const struct hcl2_value *collection = call->arguments[0], *key = call->arguments[1];
	int64_t index;
	if (collection->type->kind == HCL2_MAP && key->type->kind == HCL2_STRING) {
		const struct hcl2_value *member = hcl2_member(collection, key->string);
		return member ? member : call_failed(call, "invalid index");
	}
	if (!is_list(collection))
		return call_failed(call, "a list, a map or a tuple is required");
	if (key->type->kind != HCL2_NUMBER)
		return call_failed(call, "the key of a list is a number");
	if (!hcl2_number_is_int(key, 0, (int64_t)collection->count - 1, &index))
		return call_failed(call, "invalid index");
	return collection->items[index];
}

static const struct hcl2_value *fn_contains(struct call *call)
{
	const struct hcl2_value *list = call->arguments[0];
	if (!kind_is_sequence(list->type->kind))
		return call_failed(call, "a list, tuple or set is required");
	for (uint32_t i = 0; i < list->count; i++)
		if (value_is_equal(call->run, list->items[i], call->arguments[1]))
			return value_bool(call->run, true);
	return value_bool(call->run, false);
}

static int by_text(const void *a, const void *b)
{
	const struct hcl2_value *const *left = a, *const *right = b;
	return text_order((*left)->string, (*right)->string);
}

static const struct hcl2_value *fn_sort(struct call *call)
{
	const struct hcl2_value *list = call->arguments[0];
	const struct hcl2_value **items = hcl2_take(call->run, list->count * sizeof *items);
	for (uint32_t i = 0; i < list->count; i++) {
		if (list->items[i]->is_null)
			return call_wrong(call, 0, "element %u is null", i);
		items[i] = list->items[i];
	}
	qsort(items, list->count, sizeof *items, by_text);
	return call_strings(call, items, list->count);
}

static const struct hcl2_value *fn_slice(struct call *call)
{
	const struct hcl2_value *list = call->arguments[0];
	int64_t from, to;
	if (!is_list(list))
		return call_wrong(call, 0, "a list or tuple is required");
	if (!hcl2_number_is_int(call->arguments[1], 0, list->count, &from))
		return call_wrong(call, 1, "the start is no index of the list");
	if (!hcl2_number_is_int(call->arguments[2], 0, list->count, &to))
		return call_wrong(call, 2, "the end is no index of the list");
	if (from > to)
		return call_wrong(call, 1, "the start is behind the end");
	return same_kind(call, list->type, list->items + from, (uint32_t)(to - from));
}

static const struct hcl2_value *fn_compact(struct call *call)
{
	const struct hcl2_value *list = call->arguments[0];
	const struct hcl2_value **items = hcl2_take(call->run, list->count * sizeof *items);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < list->count; i++)
		if (!list->items[i]->is_null && list->items[i]->string.size)
			items[kept++] = list->items[i];
	return call_strings(call, items, kept);
}

static const struct hcl2_value *fn_chunklist(struct call *call)
{
	const struct hcl2_value *list = call->arguments[0];
	struct members chunks = {0};
	int64_t size;
	if (!call_int(call, 1, 0, INT32_MAX, &size))
		return NULL;
	if (size == 0)
		size = list->count;
	for (int64_t at = 0; at < list->count; at += size) {
		uint32_t left = list->count - (uint32_t)at;
		members_put(call->run, &chunks, (struct text){0},
			value_collection(call->run, list->type, list->items + at, NULL,
				left < size ? left : (uint32_t)size));
	}
	return value_collection(call->run, type_of_elements(call->run, HCL2_LIST, list->type),
		chunks.items, NULL, chunks.count);
}

static const struct hcl2_value *fn_coalesce(struct call *call)
{
	const struct hcl2_type **types = hcl2_take(call->run, call->count * sizeof *types);
	for (uint32_t i = 0; i < call->count; i++)
		types[i] = call->arguments[i]->type;
	const struct hcl2_type *type = type_unify(call->run, types, call->count);
	if (!type)
		return call_failed(call, "all arguments must be of one type");
	for (uint32_t i = 0; i < call->count; i++)
		if (!call->arguments[i]->is_null)
			return hcl2_convert(call->run, call->arguments[i], type, &call->problem);
	return call_failed(call, "all arguments are null");
}

static const struct hcl2_value *fn_coalescelist(struct call *call)
{
	for (uint32_t i = 0; i < call->count; i++)
		if (!is_list(call->arguments[i]))
			return call_failed(call, "all arguments must be lists or tuples");
	for (uint32_t i = 0; i < call->count; i++)
		if (!call->arguments[i]->is_null && call->arguments[i]->count)
			return call->arguments[i];
	return call_failed(call, "all lists are empty");
}

const struct function list_functions[] = {
	{"chunklist", "en", fn_chunklist},
	{"coalesce", "?a*", fn_coalesce},
	{"coalescelist", "?a*", fn_coalescelist},
	{"compact", "l", fn_compact},
	{"concat", "a*", fn_concat},
	{"contains", "aa", fn_contains},
	{"distinct", "e", fn_distinct},
	{"element", "an", fn_element},
	{"flatten", "a", fn_flatten},
	{"index", "aa", fn_index},
	{"length", "a", fn_length},
	{"range", "n*", fn_range},
	{"slice", "ann", fn_slice},
	{"sort", "l", fn_sort},
	{0},
};
