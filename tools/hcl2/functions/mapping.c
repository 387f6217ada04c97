// Functions of maps and objects, and of sets.
#include "tools/hcl2/functions/functions.h"

static bool is_mapping(const struct hcl2_value *value)
{
	return kind_is_mapping(value->type->kind);
}

static const struct hcl2_value *fn_keys(struct call *call)
{
	const struct hcl2_value *map = call->arguments[0];
	if (!is_mapping(map))
		return call_wrong(call, 0, "a map or object is required");
	const struct hcl2_value **items = hcl2_take(call->run, map->count * sizeof *items);
	for (uint32_t i = 0; i < map->count; i++)
		items[i] = value_string(call->run, map->keys[i]);
	return map->type->kind == HCL2_MAP ? call_strings(call, items, map->count)
					   : value_tuple(call->run, items, map->count);
}

static const struct hcl2_value *fn_values(struct call *call)
{
	const struct hcl2_value *map = call->arguments[0];
	if (!is_mapping(map))
		return call_failed(call, "a map or object is required");
	if (map->type->kind == HCL2_OBJECT)
		return value_tuple(call->run, map->items, map->count);
	return value_collection(call->run,
		type_of_elements(call->run, HCL2_LIST, map->type->element), map->items, NULL,
		map->count);
}

static const struct hcl2_value *fn_lookup(struct call *call)
{
	const struct hcl2_value *map = call->arguments[0], *standard = call->arguments[2];
	if (!is_mapping(map))
		return call_wrong(call, 0, "a map is required");
	if (map->type->kind == HCL2_MAP) {
		standard = hcl2_convert(call->run, standard, map->type->element, &call->problem);
		if (!standard)
			return call_wrong(call, 2, "it must be of the type of the elements");
	}
	const struct hcl2_value *found = hcl2_member(map, call_text(call, 1));
	return found ? found : standard;
}

static const struct hcl2_value *fn_merge(struct call *call)
{
	struct members members = {0};
	const struct hcl2_type *first = NULL;
	bool maps = call->count > 0;
	for (uint32_t i = 0; i < call->count; i++) {
		const struct hcl2_value *map = call->arguments[i];
		if (!is_mapping(map) && map->type->kind != HCL2_ANY)
			return call_failed(call, "all arguments must be maps or objects");
		first = first ? first : map->type;
		maps = maps && map->type->kind == HCL2_MAP &&
		       type_is_equal(call->run, first, map->type);
		for (uint32_t j = 0; j < map->count; j++)
			members_put(call->run, &members, map->keys[j], map->items[j]);
		if (members.count > 4 * HCL2_ELEMENTS_MAX)
			return call_failed(call, "the result has too many elements");
	}
	const struct hcl2_value *object = members_object(call->run, &members);
	return maps ? value_collection(call->run, first, object->items, object->keys, object->count)
		    : object;
}

static const struct hcl2_value *fn_zipmap(struct call *call)
{
	const struct hcl2_value *keys = call->arguments[0], *values = call->arguments[1];
	struct members members = {0};
	if (values->type->kind != HCL2_LIST && values->type->kind != HCL2_TUPLE)
		return call_failed(call, "the values must be a list or tuple");
	if (keys->count != values->count)
		return call_failed(
			call, "there are %u keys and %u values", keys->count, values->count);
	for (uint32_t i = 0; i < keys->count; i++) {
		if (keys->items[i]->is_null)
			return call_failed(call, "key %u is null", i);
		members_put(call->run, &members, keys->items[i]->string, values->items[i]);
	}
	const struct hcl2_value *object = members_object(call->run, &members);
	if (values->type->kind == HCL2_TUPLE)
		return object;
	return value_collection(call->run,
		type_of_elements(call->run, HCL2_MAP, values->type->element), object->items,
		object->keys, object->count);
}

const struct function mapping_functions[] = {
	{"keys", "a", fn_keys},
	{"lookup", "asa", fn_lookup},
	{"merge", "?a*", fn_merge},
	{"values", "a", fn_values},
	{"zipmap", "la", fn_zipmap},
	{0},
};

static bool set_has(struct call *call, const struct hcl2_value *set, const struct hcl2_value *item)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (value_is_equal(call->run, set->items[i], item))
			return true;
	return false;
}

// All arguments as sets of one type. NULL after a failure.
static const struct hcl2_value **unified_sets(struct call *call)
{
	const struct hcl2_type **types = hcl2_take(call->run, call->count * sizeof *types);
	const struct hcl2_value **sets = hcl2_take(call->run, call->count * sizeof *sets);
	for (uint32_t i = 0; i < call->count; i++)
		types[i] = call->arguments[i]->type->element;
	const struct hcl2_type *element = type_unify(call->run, types, call->count);
	for (uint32_t i = 0; element && i < call->count; i++) {
		sets[i] = hcl2_convert(call->run, call->arguments[i],
			type_of_elements(call->run, HCL2_SET, element), &call->problem);
		if (!sets[i])
			return NULL;
	}
	if (!element)
		call_failed(call, "the elements of all sets must be of one type");
	return element ? sets : NULL;
}

// What is in each set, or in any.
static const struct hcl2_value *combine(struct call *call, bool in_each)
{
	const struct hcl2_value **sets = unified_sets(call);
	struct members kept = {0};
	if (!sets)
		return NULL;
	for (uint32_t i = 0; i < (in_each ? 1 : call->count); i++)
		for (uint32_t j = 0; j < sets[i]->count; j++) {
			bool wanted = true;
			for (uint32_t k = 1; in_each && wanted && k < call->count; k++)
				wanted = set_has(call, sets[k], sets[i]->items[j]);
			if (wanted)
				members_put(call->run, &kept, (struct text){0}, sets[i]->items[j]);
		}
	return value_collection(call->run, sets[0]->type, kept.items, NULL, kept.count);
}

static const struct hcl2_value *fn_setintersection(struct call *call)
{
	return combine(call, true);
}

static const struct hcl2_value *fn_setunion(struct call *call)
{
	return combine(call, false);
}

// Elements of an argument, all of one type. False after a failure.
static bool product_items(struct call *call, uint32_t i, const struct hcl2_value **list)
{
	const struct hcl2_value *value = call->arguments[i];
	*list = value->type->kind == HCL2_TUPLE
			? value_unified_list(call->run, value->items, value->count)
			: value;
	if (!kind_is_sequence(value->type->kind))
		call_wrong(call, (int)i, "a set or a list is required");
	else if (!*list)
		call_wrong(call, (int)i, "all elements must be of one type");
	return kind_is_sequence(value->type->kind) && *list;
}

static const struct hcl2_value *product_of(
	struct call *call, const struct hcl2_value *const *lists, uint64_t total, bool ordered)
{
	const struct hcl2_value **rows = hcl2_take(call->run, total * sizeof *rows);
	const struct hcl2_type **types = hcl2_take(call->run, call->count * sizeof *types);
	for (uint32_t i = 0; i < call->count; i++)
		types[i] = lists[i]->type->element;
	for (uint64_t row = 0; row < total; row++) {
		const struct hcl2_value **items = hcl2_take(call->run, call->count * sizeof *items);
		uint64_t rest = row;
		for (uint32_t i = call->count; i > 0; i--) {
			items[i - 1] = lists[i - 1]->items[rest % lists[i - 1]->count];
			rest /= lists[i - 1]->count;
		}
		rows[row] = value_tuple(call->run, items, call->count);
	}
	const struct hcl2_type *tuple =
		type_of_members(call->run, HCL2_TUPLE, call->count, types, NULL);
	return value_collection(call->run,
		type_of_elements(call->run, ordered ? HCL2_LIST : HCL2_SET, tuple), rows, NULL,
		(uint32_t)total);
}

static const struct hcl2_value *fn_setproduct(struct call *call)
{
	const struct hcl2_value **lists = hcl2_take(call->run, call->count * sizeof *lists);
	uint64_t total = 1;
	bool ordered = true;
	if (call->count < 2)
		return call_failed(call, "at least two sets are required");
	for (uint32_t i = 0; i < call->count; i++) {
		if (!product_items(call, i, &lists[i]))
			return NULL;
		total *= lists[i]->count;
		ordered = ordered && call->arguments[i]->type->kind != HCL2_SET;
		if (total * call->count > HCL2_ELEMENTS_MAX)
			return call_failed(call, "the result has too many elements");
	}
	return product_of(call, lists, total, ordered);
}

const struct function set_functions[] = {
	{"setintersection", "xx*", fn_setintersection},
	{"setproduct", "a*", fn_setproduct},
	{"setunion", "xx*", fn_setunion},
	{0},
};
