// Iteration: for expressions, and the loops of templates use its parts.
#include "tools/hcl2/eval.h"

bool iterate_begin(struct hcl2_run *run, const struct hcl2_value *collection, struct hcl2_range at)
{
	enum hcl2_kind kind = collection->type->kind;
	if (collection->is_null)
		return hcl2_mistake(
			run, at, "There is nothing to iterate over: the value is null.");
	if (!kind_is_sequence(kind) && !kind_is_mapping(kind))
		return hcl2_mistake(run, at, "A %s has no elements to iterate over.",
			hcl2_type_name(run, collection->type));
	return true;
}

static const struct hcl2_value *iterate_key(
	struct hcl2_run *run, const struct hcl2_value *collection, uint32_t i)
{
	if (collection->type->kind == HCL2_SET)
		return collection->items[i];
	return collection->keys ? value_string(run, collection->keys[i]) : value_int(run, i);
}

const struct hcl2_value *hcl2_element(
	struct hcl2_run *run, const struct hcl2_value *collection, uint32_t i)
{
	const struct text names[2] = {TEXT("key"), TEXT("value")};
	const struct hcl2_value *values[2] = {
		iterate_key(run, collection, i), collection->items[i]};
	return hcl2_object(run, 2, names, values);
}

struct hcl2_scope iterate_scope(struct hcl2_run *run, const struct hcl2_scope *outer,
	const struct hcl2_node *names, const struct hcl2_value *collection, uint32_t i)
{
	struct hcl2_scope scope = {.outer = outer,
		.names = {names->name, names->key_name},
		.values = {collection->items[i]}};
	if (names->key_name.size)
		scope.values[1] = iterate_key(run, collection, i);
	return scope;
}

struct rounds {
	struct members members; // without keys, a list's elements
	const struct hcl2_node *node;
};

static bool take_round(struct hcl2_run *run, const struct hcl2_scope *scope, struct rounds *rounds)
{
	const struct hcl2_node *const *parts = rounds->node->inside;
	struct text key_text = {0};
	if (parts[FOR_CONDITION]) {
		const struct hcl2_value *wanted =
			evaluate_condition(run, scope, parts[FOR_CONDITION]);
		if (!wanted || !wanted->boolean)
			return wanted != NULL;
	}
	if (parts[FOR_KEY]) {
		const struct hcl2_value *key = hcl2_evaluate(run, scope, parts[FOR_KEY]);
		if (key && key->is_null)
			key = no_value(run, hcl2_range(parts[FOR_KEY]), "A key is never null.");
		if (key)
			key = value_as(run, key, &hcl2_text_type, hcl2_range(parts[FOR_KEY]),
				"Unsuitable key");
		if (!key)
			return false;
		key_text = key->string;
	}
	const struct hcl2_value *value = hcl2_evaluate(run, scope, parts[FOR_VALUE]);
	if (value)
		members_put(run, &rounds->members, key_text, value);
	return value != NULL;
}

static const struct hcl2_value *grouped(struct hcl2_run *run, struct members *members)
{
	struct members groups = {0};
	members_sort(run, members);
	for (uint32_t i = 0, end; i < members->count; i = end) {
		end = i + 1;
		while (end < members->count && text_equal(members->keys[i], members->keys[end]))
			end++;
		members_put(run, &groups, members->keys[i],
			value_tuple(run, members->items + i, end - i));
	}
	return members_object(run, &groups);
}

static const struct hcl2_value *for_object(struct hcl2_run *run, struct rounds *rounds)
{
	struct members *members = &rounds->members;
	if (rounds->node->flag)
		return grouped(run, members);
	members_sort(run, members);
	for (uint32_t i = 1; i < members->count; i++)
		if (text_equal(members->keys[i - 1], members->keys[i]))
			return no_value(run, hcl2_range(rounds->node->inside[FOR_KEY]),
				"Two elements have the key \"%.*s\"; with ... behind the value "
				"they "
				"are grouped.",
				(int)members->keys[i].size, members->keys[i].data);
	return members_object(run, members);
}

const struct hcl2_value *evaluate_for(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	const struct hcl2_node *from = node->inside[FOR_COLLECTION];
	const struct hcl2_value *collection = hcl2_evaluate(run, scope, from);
	struct rounds rounds = {.node = node};
	if (!collection || !iterate_begin(run, collection, hcl2_range(from)))
		return NULL;
	for (uint32_t i = 0; i < collection->count; i++) {
		struct hcl2_scope inner = iterate_scope(run, scope, node, collection, i);
		if (!take_round(run, &inner, &rounds))
			return NULL;
	}
	if (node->makes_object)
		return for_object(run, &rounds);
	return value_tuple(run, rounds.members.items, rounds.members.count);
}
