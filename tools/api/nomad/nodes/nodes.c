#include "tools/api/nomad/nodes/nodes.h"
#include "state/records/nodes/node_pool.h"
#include "tools/api/lists/record_list.h"
#include "tools/api/nomad/nodes/routes.h"
#include "tools/api/server/one_record.h"
#include "tools/forms/node_json.h"

const struct node *node_named(const struct request *request)
{
	return record_of_path(request, STATE_NODES);
}

static void write_stub(struct json_writer *w, const struct record_list *list, const void *record)
{
	node_json_stub(w, record, list->resources, list->os);
}

static void write_whole(struct json_writer *w, const struct record_list *list, const void *record)
{
	node_json(w, list->state, record);
}

#define CACHE_LINE 64u

static void prefetch_lines(const void *at, uint32_t lines)
{
	for (uint32_t i = 0; i < lines; i++)
		__builtin_prefetch((const char *)at + i * CACHE_LINE);
}

// A node's name and its other texts are together.
static void prefetch_node(const struct record_list *list, const void *record, uint32_t step)
{
	const struct node *node = record;
	if (step == 0)
		prefetch_lines(node->name, 2);
}

const struct record_kind node_list = {.table = STATE_NODES,
	.by_id = true,
	.noun = "node",
	.write = write_stub,
	.write_whole = write_whole,
	.prefetch_id = state_node_prefetch_id,
	.prefetch = prefetch_node};

static bool is_of_pool(const struct record_list *list, const void *record)
{
	const struct node *node = record;
	return strcmp(list->path_name, NODE_POOL_ALL) == 0 ||
	       strcmp(list->path_name, node->node_class->pool) == 0;
}

const struct record_kind nodes_of_pool = {.table = STATE_NODES,
	.by_id = true,
	.noun = "node",
	.is_wanted = is_of_pool,
	.write = write_stub,
	.write_whole = write_whole,
	.prefetch_id = state_node_prefetch_id,
	.prefetch = prefetch_node};

static void write_one(struct json_writer *w, const struct request *request, const void *record)
{
	node_json(w, request->api->settings.state, record);
}

const struct one_record node_by_id = {.noun = "node", .table = STATE_NODES, .write = write_one};
