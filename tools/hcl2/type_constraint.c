// Type constraints: string, number, bool, any, list(T), set(T), map(T), tuple([T, …]), object({name = T, …}).
#include "tools/hcl2/eval.h"

static const struct hcl2_type *no_type(struct hcl2_run *run, struct hcl2_range at, const char *what)
{
	hcl2_mistake(run, at,
		"%s A type is string, number, bool, any, list(T), set(T), map(T), tuple([T, …]) or "
		"object({name = T, …}).",
		what);
	return NULL;
}

static const struct hcl2_type *simple_type(struct hcl2_run *run, const struct hcl2_node *node)
{
	static const struct {
		const char *name;
		const struct hcl2_type *type;
	} simple[] = {{"string", &hcl2_text_type}, {"number", &hcl2_number_type},
		{"bool", &hcl2_bool_type}, {"any", &hcl2_any}};
	for (uint32_t i = 0; i < sizeof simple / sizeof simple[0]; i++)
		if (text_equal(node->name, text_of(simple[i].name)))
			return simple[i].type;
	return no_type(run, hcl2_range(node), "This is no type.");
}

static const struct hcl2_type *tuple_type(struct hcl2_run *run, const struct hcl2_node *node)
{
	const struct hcl2_type **members = hcl2_take(run, node->count * sizeof *members);
	if (node->kind != NODE_TUPLE)
		return no_type(run, hcl2_range(node), "A list of types is required here.");
	for (uint32_t i = 0; i < node->count; i++) {
		members[i] = hcl2_type_constraint(run, node->inside[i]);
		if (!members[i])
			return NULL;
	}
	return type_of_members(run, HCL2_TUPLE, node->count, members, NULL);
}

static bool add_attribute(struct hcl2_run *run, struct members *members,
	const struct hcl2_node *key, const struct hcl2_node *value)
{
	if ((key->kind != NODE_VARIABLE && key->kind != NODE_LITERAL) || !key->name.size ||
		key->step_count)
		return no_type(run, hcl2_range(key), "A name is required here.") != NULL;
	const struct hcl2_type *type = hcl2_type_constraint(run, value);
	if (!type)
		return false;
	members_put(run, members, key->name, value_null(run, type));
	return true;
}

static const struct hcl2_type *object_type(struct hcl2_run *run, const struct hcl2_node *node)
{
	struct members members = {0};
	if (node->kind != NODE_OBJECT)
		return no_type(run, hcl2_range(node), "Names with types are required here.");
	for (uint32_t i = 0; i < node->count; i += 2)
		if (!add_attribute(run, &members, node->inside[i], node->inside[i + 1]))
			return NULL;
	return members_object(run, &members)->type;
}

static const struct hcl2_type *composed_type(struct hcl2_run *run, const struct hcl2_node *node)
{
	static const struct {
		const char *name;
		enum hcl2_kind kind;
	} composed[] = {{"list", HCL2_LIST}, {"set", HCL2_SET}, {"map", HCL2_MAP},
		{"tuple", HCL2_TUPLE}, {"object", HCL2_OBJECT}};
	uint32_t row = 0, rows = sizeof composed / sizeof composed[0];
	while (row < rows && !text_equal(node->name, text_of(composed[row].name)))
		row++;
	if (row == rows)
		return no_type(run, hcl2_range(node), "This is no type.");
	if (node->count != 1)
		return no_type(run, hcl2_range(node), "One argument is required.");
	if (composed[row].kind == HCL2_TUPLE)
		return tuple_type(run, node->inside[0]);
	if (composed[row].kind == HCL2_OBJECT)
		return object_type(run, node->inside[0]);
	const struct hcl2_type *element = hcl2_type_constraint(run, node->inside[0]);
	return element ? type_of_elements(run, composed[row].kind, element) : NULL;
}

const struct hcl2_type *hcl2_type_constraint(struct hcl2_run *run, const struct hcl2_node *node)
{
	if (node->kind == NODE_CALL)
		return composed_type(run, node);
	if (node->kind == NODE_VARIABLE && !node->step_count)
		return simple_type(run, node);
	return no_type(run, hcl2_range(node), "This is no type.");
}
