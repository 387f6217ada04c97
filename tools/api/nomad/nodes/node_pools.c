// Node pools: those that nodes name, and the two that always exist.
#include "tools/api/lists/name_set.h"
#include "tools/api/nomad/nodes/nodes.h"
#include "tools/api/nomad/nodes/routes.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/blocking_query.h"

#define EVERYTHING "all"
#define USUAL "default"
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

static void collect_pools(struct request *request, struct name_set *pools)
{
	name_set_add(pools, EVERYTHING);
	name_set_add(pools, USUAL);
	add_pools_of_nodes(request->api->settings.state, pools);
}

static const char *description_of(const char *name)
{
	if (strcmp(name, EVERYTHING) == 0)
		return "Node pool with all nodes in the cluster.";
	return strcmp(name, USUAL) == 0 ? "Default node pool." : "";
}

static void put_pool(struct json_writer *w, const struct request *request, const char *name)
{
	json_begin_object(w);
	json_put_string(w, "Name", name);
	json_put_string(w, "Description", description_of(name));
	json_put_null(w, "Meta");
	json_put_null(w, "SchedulerConfiguration");
	json_put_null(w, "Hash");
	json_put_u64(w, "CreateIndex", 1);
	json_put_u64(w, "ModifyIndex", 1);
	json_end_object(w);
}

void node_pools_list(struct request *request, struct reply *reply)
{
	struct name_set pools = {0};
	if (list_begins_in_background(request, reply, node_pools_list))
		return;
	uint64_t index = list_index(request);
	collect_pools(request, &pools);
	if (name_set_answer(&pools, request, reply, put_pool))
		reply_index(reply, index ? index : 1);
	name_set_free(&pools);
}

void node_pool_read(struct request *request, struct reply *reply)
{
	struct name_set pools = {0};
	if (list_begins_in_background(request, reply, node_pool_read))
		return;
	uint64_t index = state_index(request->api->settings.state);
	collect_pools(request, &pools);
	if (name_set_has(&pools, request->ids[0]))
		put_pool(reply_json(request, reply), request, request->ids[0]);
	else
		reply_error(reply, MHD_HTTP_NOT_FOUND, "node pool not found");
	name_set_free(&pools);
	reply_index(reply, index);
}

void node_pool_nodes(struct request *request, struct reply *reply)
{
	const char *name = request->ids[0];
	nodes_of_pool(request, strcmp(name, EVERYTHING) == 0 ? NULL : name, reply);
}

void pools_not_made(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED,
		"node pools are not made here: a pool is there as long as a node says that it is "
		"in it");
}
