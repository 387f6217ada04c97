// Templates: texts with values, conditions and loops within.
#include "tools/hcl2/build.h"
#include "tools/hcl2/values.h"

struct hcl2_node *build_parts(struct feed *feed, struct place place)
{
	return node_new(feed, NODE_TEMPLATE, place);
}

struct hcl2_node *build_text(struct feed *feed, struct text text, struct place place)
{
	struct hcl2_node *node = node_new(feed, NODE_LITERAL, place);
	node->literal = value_string(feed->run, text);
	return node;
}

struct hcl2_node *build_interpolation(
	struct feed *feed, struct hcl2_node *node, struct place open, struct place close)
{
	struct hcl2_node *wrap = node_new(feed, NODE_WRAP, (struct place){open.from, close.to});
	node_add(feed, wrap, node);
	return wrap;
}

// A part stands for itself in mistakes, without the "${" around it.
static const struct hcl2_node *bare_part(const struct hcl2_node *part)
{
	return part->kind == NODE_WRAP ? part->inside[0] : part;
}

static void add_empty_text(struct feed *feed, struct hcl2_node *parts, uint32_t at)
{
	node_add(feed, parts, build_text(feed, (struct text){"", 0}, (struct place){at, at}));
}

static struct hcl2_node *finish_parts(struct feed *feed, struct hcl2_node *parts, uint32_t empty_at)
{
	if (!parts->count)
		add_empty_text(feed, parts, empty_at);
	for (uint32_t i = 0; i < parts->count; i++)
		parts->inside[i] = bare_part(parts->inside[i]);
	parts->from = parts->inside[0]->from;
	parts->to = parts->inside[parts->count - 1]->to;
	node_start_is(
		parts, (struct place){parts->inside[0]->start_from, parts->inside[0]->start_to});
	return parts;
}

struct hcl2_node *build_template(struct feed *feed, struct hcl2_node *parts, struct place place)
{
	bool wraps = parts->count == 1 && parts->inside[0]->kind == NODE_WRAP;
	parts = finish_parts(feed, parts, place.from + 1);
	parts->from = place.from;
	parts->to = place.to;
	if (wraps) {
		parts->kind = NODE_WRAP;
		node_start_is(parts, place);
	}
	return parts;
}

struct hcl2_node *build_if(struct feed *feed, struct place place, struct hcl2_node *condition,
	struct hcl2_node *yes, struct hcl2_node *no)
{
	struct hcl2_node *node = node_new(feed, NODE_TEMPLATE_IF, place);
	node_add(feed, node, condition);
	node_add(feed, node, finish_parts(feed, yes, condition->to));
	if (!no)
		no = build_parts(feed, place);
	node_add(feed, node, finish_parts(feed, no, condition->to));
	return node;
}

struct hcl2_node *build_template_for(struct feed *feed, struct place place, struct names names,
	struct hcl2_node *collection, struct hcl2_node *body)
{
	struct hcl2_node *node = node_new(feed, NODE_TEMPLATE_FOR, place);
	node->name = names.value;
	node->key_name = names.key;
	node_add(feed, node, collection);
	node_add(feed, node, NULL);
	node_add(feed, node, finish_parts(feed, body, collection->to));
	node_add(feed, node, NULL);
	return node;
}
