// Node pools: those that operators described, those that nodes name, and the two that always exist.
#include "state/records/nodes/node_pool.h"
#include "tools/api/lists/name_set.h"
#include "tools/api/nomad/nodes/nodes.h"
#include "tools/api/nomad/nodes/routes.h"
#include "tools/api/server/access.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/blocking_query.h"
#include "tools/forms/node_pool_json.h"

// Slots that one read section visits.
#define SLOTS_PER_SECTION 8192u

static void add_pools_of_nodes(const struct state *state, struct name_set *pools)
{
	for (uint32_t slot = 0; slot < state_node_slots(state);) {
		// Nodes share their class, and most have the class of the node before.
		const struct node_class *seen = NULL;
		state_read_begin();
		uint32_t slots = state_node_slots(state);
		for (uint32_t i = 0; i < SLOTS_PER_SECTION && slot < slots; i++, slot++) {
			const struct node *node = state_node_at(state, slot);
			if (!node || node->node_class == seen)
				continue;
			seen = node->node_class;
			name_set_add(pools, seen->pool);
		}
		state_read_end();
	}
}

static void add_described_pools(const struct state *state, struct name_set *pools)
{
	const struct node_pool *pool;
	uint64_t cursor = 0;
	state_read_begin();
	while ((pool = state_next(state, STATE_NODE_POOLS, &cursor)))
		name_set_add(pools, pool->name);
	state_read_end();
}

static void node_pools_collect(const struct state *state, struct name_set *pools)
{
	name_set_add(pools, NODE_POOL_ALL);
	name_set_add(pools, NODE_POOL_DEFAULT);
	add_described_pools(state, pools);
	add_pools_of_nodes(state, pools);
}

static bool may_read(const struct request *request, const char *name)
{
	const struct acl *acl = request_acl(request);
	return !acl || acl_allows_pool(acl, name, ACL_POOL_READ);
}

void node_pools_collect_visible(const struct request *request, struct name_set *pools)
{
	node_pools_collect(request->api->settings.state, pools);
	name_set_keep(pools, request, may_read);
}

static void put_pool(struct json_writer *w, const struct request *request, const char *name)
{
	const struct node_pool *pool = state_node_pool(request->api->settings.state, text_of(name));
	if (pool)
		node_pool_json(w, pool);
	else
		node_pool_json_undescribed(w, name);
}

// A pool comes with its description or with a node, and goes with both.
uint64_t node_pools_watched(const struct request *request)
{
	uint64_t pools = table_index(request, STATE_NODE_POOLS);
	uint64_t nodes = table_index(request, STATE_NODES);
	uint64_t index = pools > nodes ? pools : nodes;
	return index ? index : 1;
}

void node_pools_list(struct request *request, struct reply *reply)
{
	struct name_set pools = {0};
	if (list_begins_in_background(request, reply, node_pools_list))
		return;
	uint64_t index = list_index(request);
	node_pools_collect_visible(request, &pools);
	if (name_set_answer(&pools, request, reply, put_pool))
		reply_index(reply, index);
	name_set_free(&pools);
}

uint64_t node_pool_watched(const struct request *request)
{
	const struct node_pool *pool =
		state_node_pool(request->api->settings.state, text_of(request->ids[0]));
	return pool ? pool->record.modify_index : node_pools_watched(request);
}

void node_pool_read(struct request *request, struct reply *reply)
{
	struct name_set pools = {0};
	if (list_begins_in_background(request, reply, node_pool_read))
		return;
	uint64_t index = list_index(request);
	node_pools_collect(request->api->settings.state, &pools);
	if (name_set_has(&pools, request->ids[0])) {
		struct json_writer *w = reply_json(request, reply);
		state_read_begin();
		put_pool(w, request, request->ids[0]);
		state_read_end();
	} else {
		reply_error(reply, MHD_HTTP_NOT_FOUND, "node pool not found");
	}
	name_set_free(&pools);
	reply_index(reply, index);
}
