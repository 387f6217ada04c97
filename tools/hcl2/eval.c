// Values of expressions.
#include "tools/hcl2/eval.h"
#include "tools/hcl2/grammar.h"
#include <stdarg.h>
#include <stdio.h>

const struct hcl2_value *no_value(
	struct hcl2_run *run, struct hcl2_range at, const char *format, ...)
{
	char sentence[512];
	va_list values;
	va_start(values, format);
	vsnprintf(sentence, sizeof sentence, format, values);
	va_end(values);
	text_make_printable(sentence);
	hcl2_mistake(run, at, "%s", sentence);
	return NULL;
}

const struct hcl2_value *value_as(struct hcl2_run *run, const struct hcl2_value *value,
	const struct hcl2_type *type, struct hcl2_range at, const char *what)
{
	const char *problem;
	const struct hcl2_value *converted = hcl2_convert(run, value, type, &problem);
	return converted ? converted : no_value(run, at, "%s: %s.", what, problem);
}

const struct hcl2_value *evaluate_condition(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	const struct hcl2_value *value = hcl2_evaluate(run, scope, node);
	if (!value)
		return NULL;
	if (value->is_null)
		return no_value(run, hcl2_range(node), "A condition is true or false, not null.");
	return value_as(run, value, &hcl2_bool_type, hcl2_range(node), "Unsuitable condition");
}

const struct hcl2_value *evaluate_quietly(struct hcl2_run *run, const struct hcl2_scope *scope,
	const struct hcl2_node *node, struct hcl2_mistake *mistake)
{
	uint32_t before = run->mistake_count;
	run->mistake_count = 0;
	struct hcl2_mistake kept = run->mistakes[0];
	const struct hcl2_value *value = hcl2_evaluate(run, scope, node);
	*mistake = run->mistakes[0];
	run->mistakes[0] = kept;
	run->mistake_count = before;
	return value;
}

// Of true and false, the one value as the type that both can become.
static const struct hcl2_value *chosen_value(struct hcl2_run *run, const struct hcl2_node *node,
	bool condition, const struct hcl2_value *const values[2])
{
	const struct hcl2_node *branch = node->inside[condition ? 1 : 2];
	const struct hcl2_value *value = values[condition ? 0 : 1];
	const struct hcl2_value *other = values[condition ? 1 : 0];
	if (!other || value->type->kind == HCL2_ANY || other->type->kind == HCL2_ANY) {
		if (value->type->kind == HCL2_ANY && other)
			return value_null(run, other->type);
		return value;
	}
	const struct hcl2_type *types[2] = {values[0]->type, values[1]->type};
	const struct hcl2_type *type = type_unify(run, types, 2);
	return value_as(run, value, type, hcl2_range(branch), "Unsuitable result");
}

// Both results are looked at, as their types decide the type of either; what is wrong with the other one is not said.
const struct hcl2_value *evaluate_conditional(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	struct hcl2_mistake mistakes[2];
	const struct hcl2_value *values[2];
	for (int i = 0; i < 2; i++)
		values[i] = evaluate_quietly(run, scope, node->inside[1 + i], &mistakes[i]);
	if (values[0] && values[1] && values[0]->type->kind != HCL2_ANY &&
		values[1]->type->kind != HCL2_ANY) {
		const struct hcl2_type *types[2] = {values[0]->type, values[1]->type};
		if (!type_unify(run, types, 2))
			return no_value(run,
				(struct hcl2_range){
					node->source, node->inside[1]->from, node->inside[2]->to},
				"Both results must be of one type; they are %s and %s.",
				hcl2_type_name(run, types[0]), hcl2_type_name(run, types[1]));
	}
	const struct hcl2_value *condition = evaluate_condition(run, scope, node->inside[0]);
	if (!condition)
		return NULL;
	int chosen = condition->boolean ? 0 : 1;
	if (!values[chosen])
		return no_value(run, mistakes[chosen].at, "%s", mistakes[chosen].text);
	return chosen_value(run, node, condition->boolean, values);
}

static const struct hcl2_value *evaluate_tuple(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	const struct hcl2_value **items = hcl2_take(run, node->count * sizeof *items);
	bool fine = true;
	for (uint32_t i = 0; i < node->count; i++) {
		items[i] = hcl2_evaluate(run, scope, node->inside[i]);
		fine = fine && items[i];
	}
	return fine ? value_tuple(run, items, node->count) : NULL;
}

// A bare word is its own name as a key.
static const struct hcl2_value *evaluate_key(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	if (node->kind == NODE_VARIABLE && node->step_count > 0)
		return no_value(run, hcl2_range(node),
			"A key that is computed stands in parentheses, one with periods in "
			"quotes.");
	if ((node->kind == NODE_VARIABLE || node->kind == NODE_LITERAL) && node->name.size)
		return value_string(run, node->name);
	return hcl2_evaluate(run, scope, node);
}

static const struct hcl2_value *evaluate_object(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	struct members members = {0};
	bool fine = true;
	for (uint32_t i = 0; i < node->count; i += 2) {
		const struct hcl2_node *key_node = node->inside[i];
		const struct hcl2_value *key = evaluate_key(run, scope, key_node);
		const struct hcl2_value *item = hcl2_evaluate(run, scope, node->inside[i + 1]);
		if (key && key->is_null)
			key = no_value(
				run, hcl2_range(node->inside[i + 1]), "A key is never null.");
		else if (key)
			key = value_as(
				run, key, &hcl2_text_type, hcl2_range(key_node), "Unsuitable key");
		fine = fine && key && item;
		if (fine)
			members_put(run, &members, key->string, item);
	}
	return fine ? members_object(run, &members) : NULL;
}

static const struct hcl2_value *evaluate_inner(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	return hcl2_evaluate(run, scope, node->inside[0]);
}

static const struct hcl2_value *evaluate_literal(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	return node->literal;
}

const struct hcl2_value *hcl2_evaluate(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	static evaluate_fn *const by_kind[] = {
		[NODE_LITERAL] = evaluate_literal,
		[NODE_TEMPLATE] = evaluate_template,
		[NODE_WRAP] = evaluate_inner,
		[NODE_TEMPLATE_IF] = evaluate_template_if,
		[NODE_TEMPLATE_FOR] = evaluate_template_for,
		[NODE_VARIABLE] = evaluate_variable,
		[NODE_STEPS] = evaluate_steps,
		[NODE_INDEX] = evaluate_index,
		[NODE_SPLAT] = evaluate_splat,
		[NODE_ITEM] = evaluate_item,
		[NODE_CALL] = evaluate_call,
		[NODE_TUPLE] = evaluate_tuple,
		[NODE_OBJECT] = evaluate_object,
		[NODE_FOR] = evaluate_for,
		[NODE_CONDITIONAL] = evaluate_conditional,
		[NODE_UNARY] = evaluate_unary,
		[NODE_BINARY] = evaluate_binary,
		[NODE_PARENTHESES] = evaluate_inner,
	};
	if (!hcl2_step(run, hcl2_range(node)))
		return NULL;
	return by_kind[node->kind](run, scope, node);
}
