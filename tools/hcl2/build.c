// Nodes of expressions.
#include "tools/hcl2/build.h"
#include "tools/hcl2/grammar.h"
#include "tools/hcl2/values.h"

struct hcl2_node *node_new(struct feed *feed, enum node_kind kind, struct place place)
{
	struct hcl2_node *node = hcl2_take(feed->run, sizeof *node);
	node->kind = kind;
	node->source = feed->tokens.source;
	node->from = node->start_from = place.from;
	node->to = node->start_to = place.to;
	node->depth = 1;
	return node;
}

struct place node_place(const struct hcl2_node *node)
{
	return (struct place){node->from, node->to};
}

void node_start_is(struct hcl2_node *node, struct place place)
{
	node->start_from = place.from;
	node->start_to = place.to;
}

static struct place start_of(const struct hcl2_node *node)
{
	return (struct place){node->start_from, node->start_to};
}

static struct place both(struct place a, struct place b)
{
	return (struct place){a.from, b.to};
}

void node_add(struct feed *feed, struct hcl2_node *node, const struct hcl2_node *inside)
{
	if (node->count == node->room) {
		uint32_t room = 2 * node->room + 4;
		const struct hcl2_node **wider = hcl2_take(feed->run, room * sizeof *wider);
		if (node->count)
			memcpy(wider, node->inside, node->count * sizeof *wider);
		node->inside = wider;
		node->room = room;
	}
	node->inside[node->count++] = inside;
	if (inside && inside->depth >= node->depth)
		node->depth = inside->depth + 1;
	if (node->depth > HCL2_DEPTH_MAX)
		feed_too_deep(feed, node_place(node));
}

struct hcl2_node *build_empty(struct feed *feed, enum node_kind kind)
{
	return node_new(feed, kind, (struct place){0});
}

struct hcl2_node *build_add(struct feed *feed, struct hcl2_node *to, struct hcl2_node *inside)
{
	node_add(feed, to, inside);
	return to;
}

struct hcl2_node *build_add_all(struct feed *feed, struct hcl2_node *to, struct hcl2_node *from)
{
	for (uint32_t i = 0; i < from->count; i++)
		node_add(feed, to, from->inside[i]);
	return to;
}

struct hcl2_node *build_conditional(
	struct feed *feed, struct hcl2_node *condition, struct hcl2_node *yes, struct hcl2_node *no)
{
	struct hcl2_node *node =
		node_new(feed, NODE_CONDITIONAL, both(node_place(condition), node_place(no)));
	node_start_is(node, start_of(condition));
	node_add(feed, node, condition);
	node_add(feed, node, yes);
	node_add(feed, node, no);
	return node;
}

struct hcl2_node *build_binary(
	struct feed *feed, int operation, struct hcl2_node *left, struct hcl2_node *right)
{
	struct hcl2_node *node =
		node_new(feed, NODE_BINARY, both(node_place(left), node_place(right)));
	node_start_is(node, start_of(left));
	node->operation = operation;
	node_add(feed, node, left);
	node_add(feed, node, right);
	return node;
}

struct hcl2_node *build_unary(
	struct feed *feed, int operation, struct place sign, struct hcl2_node *operand)
{
	struct hcl2_node *node = node_new(feed, NODE_UNARY, both(sign, node_place(operand)));
	node_start_is(node, sign);
	node->operation = operation;
	node_add(feed, node, operand);
	return node;
}

struct hcl2_node *build_parentheses(struct feed *feed, struct hcl2_node *inside, struct place place)
{
	struct hcl2_node *node = node_new(feed, NODE_PARENTHESES, place);
	node_add(feed, node, inside);
	return node;
}

struct hcl2_node *build_number(struct feed *feed, struct place place)
{
	struct hcl2_node *node = node_new(feed, NODE_LITERAL, place);
	struct text text = {feed->tokens.source->text.data + place.from, place.to - place.from};
	node->literal = value_parse_number(feed->run, text);
	if (!node->literal) {
		node->literal = &hcl2_null;
		feed->failed = true;
		hcl2_mistake(feed->run, feed_range(feed, place), "This is no number.");
	}
	return node;
}

struct hcl2_node *build_name(struct feed *feed, struct text name, struct place place)
{
	struct hcl2_node *node = node_new(feed, NODE_VARIABLE, place);
	node->name = name;
	if (text_equal(name, TEXT("null")))
		node->literal = &hcl2_null;
	else if (text_equal(name, TEXT("true")) || text_equal(name, TEXT("false")))
		node->literal = value_bool(feed->run, *name.data == 't');
	if (node->literal)
		node->kind = NODE_LITERAL;
	return node;
}

struct hcl2_node *build_call(struct feed *feed, struct text name, struct place name_at,
	struct place open, struct hcl2_node *arguments, struct place close)
{
	arguments->name = name;
	arguments->from = name_at.from;
	arguments->to = close.to;
	arguments->close = close.from;
	node_start_is(arguments, both(name_at, open));
	return arguments;
}

struct hcl2_node *build_spread(struct feed *feed, struct hcl2_node *arguments)
{
	arguments->flag = true;
	return arguments;
}

struct hcl2_node *build_tuple(
	struct feed *feed, struct hcl2_node *tuple, struct place open, struct place close)
{
	tuple->from = open.from;
	tuple->to = close.to;
	node_start_is(tuple, open);
	return tuple;
}

struct hcl2_node *build_object(struct feed *feed, struct hcl2_node *object, struct place place)
{
	object->from = place.from;
	object->to = place.to;
	node_start_is(object, (struct place){place.from, place.from + 1});
	return object;
}

struct hcl2_node *build_member(struct feed *feed, struct hcl2_node *key, struct hcl2_node *value)
{
	struct hcl2_node *pair = build_empty(feed, NODE_OBJECT);
	node_add(feed, pair, key);
	node_add(feed, pair, value);
	return pair;
}

struct hcl2_node *build_for_result(struct feed *feed, struct hcl2_node *key,
	struct hcl2_node *value, const struct place *group)
{
	struct hcl2_node *node = build_empty(feed, NODE_FOR);
	node_add(feed, node, NULL);
	node_add(feed, node, key);
	node_add(feed, node, value);
	node->flag = group != NULL;
	if (group)
		node->close = group->from;
	return node;
}

struct hcl2_node *build_for_clause(struct feed *feed, struct names names,
	struct hcl2_node *collection, struct hcl2_node *result, struct hcl2_node *condition)
{
	node_add(feed, result, condition);
	result->inside[FOR_COLLECTION] = collection;
	if (collection->depth >= result->depth)
		result->depth = collection->depth + 1;
	result->name = names.value;
	result->key_name = names.key;
	return result;
}

static void wrong_for(struct feed *feed, struct place place, const char *sentence)
{
	hcl2_mistake(feed->run, feed_range(feed, place), "%s", sentence);
	feed->failed = true;
}

struct hcl2_node *build_for(struct feed *feed, struct hcl2_node *node, bool object,
	struct place open, struct place close)
{
	const struct hcl2_node *key = node->inside[FOR_KEY];
	node->from = open.from;
	node->to = close.to;
	node->makes_object = object;
	node_start_is(node, open);
	if (object && !key)
		wrong_for(feed, node_place(node->inside[FOR_VALUE]),
			"An object is made of keys and values: write KEY => VALUE.");
	else if (!object && key)
		wrong_for(feed, node_place(key), "A list has no keys: write the value alone.");
	else if (!object && node->flag)
		wrong_for(feed, (struct place){node->close, node->close + 3},
			"Only the values of an object can be grouped.");
	return node;
}

bool hcl2_name_of(const struct hcl2_node *node, struct text *name)
{
	if (node->kind != NODE_VARIABLE || node->step_count)
		return false;
	*name = node->name;
	return true;
}

void hcl2_visit_variables(const struct hcl2_node *node,
	void visit(void *context, struct hcl2_range, struct text name, struct text attribute),
	void *context)
{
	if (node->kind == NODE_VARIABLE)
		visit(context, hcl2_range(node), node->name,
			node->step_count ? node->steps[0].name : (struct text){0});
	for (uint32_t i = 0; i < node->count; i++)
		if (node->inside[i])
			hcl2_visit_variables(node->inside[i], visit, context);
}
