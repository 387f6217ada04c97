// Blocks and attributes of a text.
#include "tools/hcl2/build.h"
#include "tools/hcl2/values.h"
#include <stdlib.h>

struct hcl2_body *build_body(struct feed *feed, struct place place)
{
	struct hcl2_body *body = hcl2_take(feed->run, sizeof *body);
	body->end = feed_range(feed, (struct place){place.from, place.from});
	body->last_attribute = &body->attributes;
	body->last_block = &body->blocks;
	return body;
}

struct hcl2_body *build_attribute(
	struct feed *feed, struct hcl2_body *body, struct hcl2_attribute *attribute)
{
	*body->last_attribute = attribute;
	body->last_attribute = &attribute->next;
	body->attribute_count++;
	return body;
}

static int by_name_and_place(const void *a, const void *b)
{
	const struct hcl2_attribute *const *left = a, *const *right = b;
	int order = text_order((*left)->name, (*right)->name);
	if (order)
		return order;
	return ((*left)->at.from > (*right)->at.from) - ((*left)->at.from < (*right)->at.from);
}

static void say_twice(
	struct feed *feed, const struct hcl2_attribute *first, const struct hcl2_attribute *second)
{
	uint32_t line, column;
	hcl2_place(first->at.source, first->at.from, &line, &column);
	hcl2_mistake(feed->run, second->name_at,
		"\"%.*s\" is set a second time; the first is on line %u.", (int)second->name.size,
		second->name.data, line);
	feed->failed = true;
}

struct hcl2_body *build_finish_body(struct feed *feed, struct hcl2_body *body)
{
	const struct hcl2_attribute **sorted =
		hcl2_take(feed->run, body->attribute_count * sizeof *sorted);
	uint32_t count = 0;
	for (const struct hcl2_attribute *a = body->attributes; a; a = a->next)
		sorted[count++] = a;
	qsort(sorted, count, sizeof *sorted, by_name_and_place);
	for (uint32_t i = 1; i < count; i++)
		if (text_equal(sorted[i - 1]->name, sorted[i]->name))
			say_twice(feed, sorted[i - 1], sorted[i]);
	return body;
}

struct hcl2_body *build_block(struct feed *feed, struct hcl2_body *body, struct hcl2_block *block)
{
	*body->last_block = block;
	body->last_block = &block->next;
	return body;
}

struct hcl2_attribute *build_argument(struct feed *feed, struct text name, struct place name_at,
	struct place at, const struct hcl2_node *expression)
{
	struct hcl2_attribute *attribute = hcl2_take(feed->run, sizeof *attribute);
	attribute->name = name;
	attribute->name_at = feed_range(feed, name_at);
	attribute->at = feed_range(feed, at);
	attribute->expression = expression;
	return attribute;
}

struct hcl2_block *build_new_block(struct feed *feed, struct text type, struct place type_at,
	struct labels labels, struct hcl2_body *body)
{
	struct hcl2_block *block = hcl2_take(feed->run, sizeof *block);
	block->type = type;
	block->type_at = feed_range(feed, type_at);
	block->labels = labels.rows;
	block->label_count = labels.count;
	block->body = body;
	return block;
}

void build_block_places(struct hcl2_block *block, struct place labels, struct place brace)
{
	block->header = block->type_at;
	if (block->label_count)
		block->header.to = labels.to;
	block->open = block->type_at;
	block->open.from = brace.from;
	block->open.to = brace.to;
	block->body->end = block->open;
	block->body->end.to = block->open.from;
}

struct labels build_label(
	struct feed *feed, struct labels labels, struct text text, struct place place)
{
	if (labels.count == labels.room) {
		uint32_t room = 2 * labels.room + 2;
		struct hcl2_label *wider = hcl2_take(feed->run, room * sizeof *wider);
		if (labels.count)
			memcpy(wider, labels.rows, labels.count * sizeof *wider);
		labels.rows = wider;
		labels.room = room;
	}
	labels.rows[labels.count++] = (struct hcl2_label){text, feed_range(feed, place)};
	return labels;
}

struct text build_joined(struct feed *feed, struct text a, struct text b)
{
	if (!a.size)
		return b;
	char *both = hcl2_take(feed->run, a.size + b.size + 1);
	memcpy(both, a.data, a.size);
	memcpy(both + a.size, b.data, b.size);
	return (struct text){both, a.size + b.size};
}
