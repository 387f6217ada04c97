// Names, and steps into what they name.
#include "tools/hcl2/eval.h"

static const struct hcl2_value *index_sequence(struct hcl2_run *run, const struct hcl2_value *value,
	const struct hcl2_value *key, struct hcl2_range at)
{
	int64_t index;
	key = value_as(run, key, &hcl2_number_type, at, "Unsuitable index");
	if (!key)
		return NULL;
	if (!hcl2_number_is_int(key, 0, (int64_t)value->count - 1, &index))
		return no_value(run, at, "There is no such element; there are %u.", value->count);
	return value->items[index];
}

// Element `key` of a value; NULL after a mistake.
static const struct hcl2_value *value_index(struct hcl2_run *run, const struct hcl2_value *value,
	const struct hcl2_value *key, struct hcl2_range at)
{
	enum hcl2_kind kind = value->type->kind;
	if (value->is_null)
		return no_value(run, at, "The value is null, so it has no elements.");
	if (key->is_null)
		return no_value(run, at, "The index is null.");
	if (kind == HCL2_LIST || kind == HCL2_TUPLE)
		return index_sequence(run, value, key, at);
	if (!kind_is_mapping(kind))
		return no_value(run, at, "A %s has no elements to choose by an index.",
			hcl2_type_name(run, value->type));
	key = value_as(run, key, &hcl2_text_type, at, "Unsuitable index");
	const struct hcl2_value *member = key ? hcl2_member(value, key->string) : NULL;
	if (key && !member)
		return no_value(run, at, "There is no element named \"%.*s\".",
			(int)key->string.size, key->string.data);
	return member;
}

static const struct hcl2_value *attribute_of(struct hcl2_run *run, const struct hcl2_value *value,
	struct text name, struct hcl2_range at)
{
	if (value->is_null)
		return no_value(run, at, "The value is null, so it has no attributes.");
	if (!kind_is_mapping(value->type->kind))
		return no_value(
			run, at, "A %s has no attributes.", hcl2_type_name(run, value->type));
	const struct hcl2_value *member = hcl2_member(value, name);
	if (!member)
		return no_value(run, at, "There is no attribute named \"%.*s\".", (int)name.size,
			name.data);
	return member;
}

static const struct hcl2_value *follow_steps(
	struct hcl2_run *run, const struct hcl2_node *node, const struct hcl2_value *value)
{
	for (uint32_t i = 0; value && i < node->step_count; i++) {
		const struct node_step *step = &node->steps[i];
		struct hcl2_range at = {node->source, step->from, step->to};
		value = step->key ? value_index(run, value, step->key, at)
				  : attribute_of(run, value, step->name, at);
	}
	return value;
}

const struct hcl2_value *evaluate_steps(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	return follow_steps(run, node, hcl2_evaluate(run, scope, node->inside[0]));
}

const struct hcl2_value *evaluate_index(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	const struct hcl2_value *value = hcl2_evaluate(run, scope, node->inside[0]);
	const struct hcl2_value *key = hcl2_evaluate(run, scope, node->inside[1]);
	struct hcl2_range at = {node->source, node->start_from, node->start_to};
	return value && key ? value_index(run, value, key, at) : NULL;
}

// A name that nobody knows is one of the machine that runs the job: it stays in the text, with "${" before it and, as
// far as the text has them, the blanks in between. What follows a name within braces counts as its end once a character
// that is no blank has come.
static const struct hcl2_value *text_of_unknown(struct hcl2_run *run, const struct hcl2_node *node)
{
	struct text source = node->source->text;
	struct writer w = {.run = run};
	uint32_t before = node->from, end = node->to;
	while (before > 0 && source.data[before - 1] == ' ')
		before--;
	bool in_braces =
		before > 1 && source.data[before - 1] == '{' && source.data[before - 2] == '$';
	if (!in_braces) {
		write_string(&w, "${");
		write_text(&w, (struct text){source.data + node->from, end - node->from});
		write_char(&w, '}');
		return value_string(run, writer_text(&w));
	}
	write_text(&w, (struct text){source.data + before - 2, end - before + 2});
	for (uint32_t i = end + 1; i < source.size; i++) {
		if (source.data[i] == '}') {
			write_text(&w, (struct text){source.data + end, i - end});
		} else if (source.data[i] != ' ') {
			write_char(&w, '}');
			break;
		}
	}
	return value_string(run, writer_text(&w));
}

static const struct hcl2_value *root_value(
	const struct hcl2_scope *scope, struct text name, const struct hcl2_scope **outermost)
{
	for (; scope; scope = scope->outer) {
		for (uint32_t i = 0; i < 2; i++)
			if (scope->names[i].size && text_equal(scope->names[i], name))
				return scope->values[i];
		*outermost = scope;
	}
	return NULL;
}

const struct hcl2_value *evaluate_variable(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	const struct hcl2_scope *outermost = NULL;
	const struct hcl2_value *value = root_value(scope, node->name, &outermost);
	struct hcl2_range at = hcl2_range(node);
	if (value)
		return follow_steps(run, node, value);
	if (outermost && outermost->unknown_is_text)
		return text_of_unknown(run, node);
	if (!outermost || outermost->without_variables)
		return no_value(run, at, "Variables may not be used here.");
	at.to = at.from + node->name.size;
	return no_value(run, at, "There is no variable named \"%.*s\".", (int)node->name.size,
		node->name.data);
}

const struct hcl2_value *evaluate_item(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	for (; scope; scope = scope->outer)
		if (scope->item_of == node)
			return scope->item;
	return no_value(run, hcl2_range(node), "There is no element here.");
}

// Of anything but a sequence a splat makes a list of one; of null, of none.
const struct hcl2_value *evaluate_splat(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	const struct hcl2_value *source = hcl2_evaluate(run, scope, node->inside[0]);
	if (!source)
		return NULL;
	bool sequence = kind_is_sequence(source->type->kind);
	if (source->is_null && sequence)
		return no_value(run, hcl2_range(node->inside[0]), "The value is null.");
	uint32_t count = sequence ? source->count : !source->is_null;
	const struct hcl2_value **items = hcl2_take(run, count * sizeof *items);
	for (uint32_t i = 0; i < count; i++) {
		struct hcl2_scope each = {.outer = scope,
			.item_of = node->inside[2],
			.item = sequence ? source->items[i] : source};
		items[i] = hcl2_evaluate(run, &each, node->inside[1]);
		if (!items[i])
			return NULL;
	}
	if (sequence && source->type->kind != HCL2_TUPLE) {
		const struct hcl2_value *list = value_unified_list(run, items, count);
		if (list)
			return list;
	}
	return value_tuple(run, items, count);
}
