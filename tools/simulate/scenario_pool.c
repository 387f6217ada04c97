#include "tools/simulate/scenario_pool.h"
#include <stdlib.h>
#include <string.h>

void scenario_pool_read(
	struct node_pool *pool, json_t *value, const char *path, struct json_report *report)
{
	json_read_exact(&node_pool_description, pool, value, path, report);
	if (!pool->name || !*pool->name)
		json_sentence(&report->errors, "%s.Name: is missing", path);
}

void scenario_pools_release(struct array *pools)
{
	for (uint32_t i = 0; i < pools->count; i++)
		record_release(&node_pool_description, ARRAY_AT(pools, struct node_pool, i));
	free(pools->items);
	*pools = (struct array){0};
}

const struct node_pool *scenario_pool_find(const struct array *pools, const char *name)
{
	for (uint32_t i = 0; i < pools->count; i++) {
		const struct node_pool *pool = ARRAY_AT(pools, struct node_pool, i);
		if (strcmp(pool->name, name) == 0)
			return pool;
	}
	return NULL;
}
