#include "state/tables/nodes/node_pool_table.h"
#include "state/base/check.h"
#include "state/base/limits.h"
#include "state/records/nodes/node_pool.h"
#include "state/tables/state.h"
#include "state/tables/table.h"

static bool is_node_pool_sound(const void *record)
{
	const struct node_pool *pool = record;
	struct text name = text_of(pool->name);

	CHECK(record);
	return node_pool_name_is_fit(name) && !node_pool_is_built_in(name) &&
	       text_of(pool->description).size <= NODE_POOL_DESCRIPTION_MAX &&
	       node_pool_meta_is_fit(&pool->meta) &&
	       record_is_sound(&node_pool_description, record);
}

const struct kind node_pool_kind = {
	.name = "node pool",
	.key = KEY_NAME,
	.key_offset = offsetof(struct node_pool, name),
	.cell_bytes = sizeof(struct cell),
	.fields = &node_pool_description,
	.limit_offset = offsetof(struct state_limits, node_pools),
	.limit_max = NODE_POOLS_MAX,
	.is_sound = is_node_pool_sound,
};

const struct node_pool *state_node_pool(const struct state *state, struct text name)
{
	CHECK(state);
	return table_published(state, STATE_NODE_POOLS, &name);
}
