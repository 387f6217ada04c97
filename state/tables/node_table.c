#include "state/tables/node_table.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

static uint32_t blocks_of(uint32_t slots)
{
	return (slots + NODE_BLOCK_SLOTS - 1) / NODE_BLOCK_SLOTS;
}

struct node_table *node_table_create(uint32_t slots_max)
{
	CHECK(slots_max > 0 && slots_max <= NODES_MAX);
	struct node_table *t = memory_take(sizeof *t);
	t->slots_max = slots_max;
	t->lines = memory_map((size_t)slots_max * sizeof t->lines[0]);
	t->last_heard_ms = memory_map((size_t)slots_max * sizeof t->last_heard_ms[0]);
	t->news = memory_take_array((slots_max + 63) / 64, sizeof t->news[0]);
	t->stale_keys = memory_take_array((slots_max + 63) / 64, sizeof t->stale_keys[0]);
	t->block_news = memory_take_array(blocks_of(slots_max), sizeof t->block_news[0]);
	t->block_owner = memory_take_array(blocks_of(slots_max), sizeof t->block_owner[0]);
	for (uint32_t i = 0; i < blocks_of(slots_max); i++)
		t->block_owner[i] = NODE_BLOCK_UNOWNED;
	if (t->lines && t->last_heard_ms)
		return t;
	node_table_destroy(t);
	return NULL;
}

void node_table_destroy(struct node_table *t)
{
	if (!t)
		return;
	memory_unmap(t->lines, (size_t)t->slots_max * sizeof t->lines[0]);
	memory_unmap(t->last_heard_ms, (size_t)t->slots_max * sizeof t->last_heard_ms[0]);
	free(t->news);
	free(t->stale_keys);
	free(t->block_news);
	free(t->block_owner);
	free(t);
}
