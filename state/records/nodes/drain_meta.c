#include "state/records/nodes/drain_meta.h"
#include "state/base/memory.h"
#include "state/records/nodes/node_description.h"
#include <stdlib.h>

static bool is_text(struct text text, uint32_t bytes_max)
{
	return text.size <= bytes_max && text_is_printable(text);
}

static int by_name(const void *left, const void *right)
{
	const struct attribute *a = left, *b = right;
	return strcmp(a->name, b->name);
}

static void drain_meta_add(struct drain_meta *meta, struct text name, struct text value)
{
	meta->items[meta->count++] = (struct attribute){text_copy(name), text_copy(value)};
}

static bool is_in_order(const struct drain_meta *meta)
{
	for (uint32_t i = 1; i < meta->count; i++)
		if (strcmp(meta->items[i - 1].name, meta->items[i].name) >= 0)
			return false;
	return true;
}

bool drain_meta_take(struct drain_meta *meta, const struct node_pair *pairs, uint32_t count)
{
	*meta = (struct drain_meta){0};
	if (count > NODE_DRAIN_META_MAX)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (pairs[i].name.size == 0 || !is_text(pairs[i].name, ATTRIBUTE_NAME_BYTES_MAX) ||
			!is_text(pairs[i].value, ATTRIBUTE_VALUE_BYTES_MAX))
			return false;
	meta->items = memory_take_array(count, sizeof meta->items[0]);
	for (uint32_t i = 0; i < count; i++)
		drain_meta_add(meta, pairs[i].name, pairs[i].value);
	qsort(meta->items, meta->count, sizeof meta->items[0], by_name);
	if (is_in_order(meta))
		return true;
	drain_meta_release(meta);
	return false;
}

void drain_meta_release(struct drain_meta *meta)
{
	for (uint32_t i = 0; i < meta->count; i++) {
		free((char *)meta->items[i].name);
		free((char *)meta->items[i].value);
	}
	free(meta->items);
	*meta = (struct drain_meta){0};
}
