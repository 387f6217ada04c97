// Steps into values: attributes, keys and splats.
#include "tools/hcl2/build.h"
#include "tools/hcl2/values.h"

static void add_step(struct feed *feed, struct hcl2_node *node, struct node_step step)
{
	if (node->step_count == node->step_room) {
		uint32_t room = 2 * node->step_room + 4;
		struct node_step *wider = hcl2_take(feed->run, room * sizeof *wider);
		if (node->step_count)
			memcpy(wider, node->steps, node->step_count * sizeof *wider);
		node->steps = wider;
		node->step_room = room;
	}
	node->steps[node->step_count++] = step;
	node->to = node->start_to = step.to;
}

// What a splat does with each element; a step behind a splat is one of each element.
static struct hcl2_node *each_of(struct hcl2_node *splat)
{
	return (struct hcl2_node *)splat->inside[1];
}

static void set_each(struct feed *feed, struct hcl2_node *splat, struct hcl2_node *each)
{
	splat->inside[1] = each;
	splat->to = each->to;
	if (each->depth >= splat->depth)
		splat->depth = each->depth + 1;
	if (splat->depth > HCL2_DEPTH_MAX)
		feed_too_deep(feed, node_place(splat));
}

static bool takes_steps(const struct hcl2_node *node, bool of_name)
{
	return node->kind == NODE_SPLAT && (!node->flag || of_name);
}

static struct hcl2_node *with_step(
	struct feed *feed, struct hcl2_node *node, struct node_step step, bool of_name)
{
	if (takes_steps(node, of_name)) {
		set_each(feed, node, with_step(feed, each_of(node), step, of_name));
		return node;
	}
	if (node->kind != NODE_VARIABLE && node->kind != NODE_STEPS) {
		struct hcl2_node *steps = node_new(feed, NODE_STEPS, node_place(node));
		node_add(feed, steps, node);
		node = steps;
	}
	add_step(feed, node, step);
	return node;
}

struct hcl2_node *build_name_step(struct feed *feed, struct hcl2_node *node, struct text name,
	struct place dot, struct place at)
{
	return with_step(
		feed, node, (struct node_step){.name = name, .from = dot.from, .to = at.to}, true);
}

struct hcl2_node *build_number_step(
	struct feed *feed, struct hcl2_node *node, struct place dot, struct place at)
{
	struct text text = {feed->tokens.source->text.data + at.from, at.to - at.from};
	const struct hcl2_value *key = value_parse_number(feed->run, text);
	if (!key || memchr(text.data, '.', text.size)) {
		hcl2_mistake(feed->run, feed_range(feed, at),
			"Indexes that follow one another are written in brackets: [0][1].");
		feed->failed = true;
		key = &hcl2_null;
	}
	return with_step(
		feed, node, (struct node_step){.key = key, .from = dot.from, .to = at.to}, true);
}

static struct hcl2_node *new_splat(struct feed *feed, struct hcl2_node *source, bool attributes,
	struct place open, struct place close)
{
	struct place marker = {open.from, close.to};
	struct hcl2_node *splat =
		node_new(feed, NODE_SPLAT, (struct place){source->from, close.to});
	struct hcl2_node *item = node_new(feed, NODE_ITEM, marker);
	node_start_is(splat, marker);
	splat->flag = attributes;
	node_add(feed, splat, source);
	node_add(feed, splat, item);
	node_add(feed, splat, item);
	return splat;
}

struct hcl2_node *build_splat(struct feed *feed, struct hcl2_node *node, bool attributes,
	struct place open, struct place close)
{
	if (node->kind == NODE_SPLAT && node->flag && attributes) {
		hcl2_mistake(feed->run, feed_range(feed, close),
			"A splat of attributes cannot be within another.");
		feed->failed = true;
	}
	if (!takes_steps(node, false))
		return new_splat(feed, node, attributes, open, close);
	set_each(feed, node, build_splat(feed, each_of(node), attributes, open, close));
	return node;
}

// The value of a key that is written out: a number, true, false, null, or a string without templates.
static const struct hcl2_value *literal_of(struct feed *feed, const struct hcl2_node *key)
{
	if (key->kind == NODE_LITERAL)
		return key->literal;
	if (key->kind == NODE_TEMPLATE && key->count == 1 && key->inside[0]->kind == NODE_LITERAL)
		return key->inside[0]->literal;
	return NULL;
}

struct hcl2_node *build_index(struct feed *feed, struct hcl2_node *node, struct hcl2_node *key,
	struct place open, struct place close)
{
	struct place brackets = {open.from, close.to};
	const struct hcl2_value *literal = literal_of(feed, key);
	if (literal)
		return with_step(feed, node,
			(struct node_step){.key = literal, .from = open.from, .to = close.to},
			false);
	if (takes_steps(node, false)) {
		set_each(feed, node, build_index(feed, each_of(node), key, open, close));
		return node;
	}
	struct hcl2_node *index = node_new(feed, NODE_INDEX, (struct place){node->from, close.to});
	node_start_is(index, brackets);
	node_add(feed, index, node);
	node_add(feed, index, key);
	return index;
}
