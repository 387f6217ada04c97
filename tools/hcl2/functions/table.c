// All functions by their names.
#include "tools/hcl2/functions/functions.h"

static const struct function *const tables[] = {text_functions, format_functions, pattern_functions,
	list_functions, mapping_functions, set_functions, math_functions, code_functions,
	document_functions, yaml_functions, digest_functions, time_functions, network_functions,
	file_functions};

const struct function *function_find(struct text name)
{
	for (uint32_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		for (const struct function *f = tables[i]; f->name; f++)
			if (text_equal(name, text_of(f->name)))
				return f;
	return NULL;
}

static const struct hcl2_value *wants_arguments(
	struct hcl2_run *run, const struct hcl2_node *node, const char *what)
{
	return no_value(run, (struct hcl2_range){node->source, node->close, node->to},
		"%.*s() wants %s.", (int)node->name.size, node->name.data, what);
}

// The first argument that has a value.
static const struct hcl2_value *special_try(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	struct hcl2_mistake mistake = {0};
	if (!node->count)
		return wants_arguments(run, node, "at least one argument");
	for (uint32_t i = 0; i < node->count; i++) {
		const struct hcl2_value *value =
			evaluate_quietly(run, scope, node->inside[i], &mistake);
		if (value)
			return value;
	}
	if (hcl2_exhausted(run))
		return no_value(run, mistake.at, "%s", mistake.text);
	return no_value(run, hcl2_start_range(node), "No expression of try() has a value: %s",
		mistake.text);
}

static const struct hcl2_value *special_can(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	struct hcl2_mistake mistake;
	if (node->count != 1)
		return wants_arguments(run, node, "one argument");
	return value_bool(run, evaluate_quietly(run, scope, node->inside[0], &mistake) != NULL);
}

static const struct hcl2_value *special_convert(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	if (node->count != 2)
		return wants_arguments(run, node, "a value and a type");
	const struct hcl2_value *value = hcl2_evaluate(run, scope, node->inside[0]);
	const struct hcl2_type *type = hcl2_type_constraint(run, node->inside[1]);
	return value && type ? value_as(run, value, type, hcl2_start_range(node->inside[0]),
				       "Unsuitable argument")
			     : NULL;
}

evaluate_fn *function_find_special(struct text name)
{
	static const struct {
		const char *name;
		evaluate_fn *run;
	} specials[] = {{"try", special_try}, {"can", special_can}, {"convert", special_convert}};
	for (uint32_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
		if (text_equal(name, text_of(specials[i].name)))
			return specials[i].run;
	return NULL;
}
