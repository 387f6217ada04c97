#include "tools/api/nomad/nodes/nodes.h"
#include "tools/api/lists/id_list.h"
#include "tools/api/nomad/nodes/routes.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/blocking_query.h"
#include "tools/api/server/one_record.h"
#include "tools/forms/node_json.h"

// Slots that one read section visits while it collects a list.
#define SLOTS_PER_SECTION 8192u

const void *node_named(const struct request *request)
{
	struct uuid id;
	if (!uuid_parse(request->ids[0], &id))
		return NULL;
	return state_node_by_id(request->api->settings.state, &id);
}

static void write_stub(struct id_list *list, struct json_writer *w, const struct id_item *item)
{
	const struct node *node = state_node_at(list->api->settings.state, item->slot);
	if (node && uuid_equal(&node->id, &item->id))
		node_json_stub(w, node, list->detailed, list->os);
}

static void write_whole(struct id_list *list, struct json_writer *w, const struct id_item *item)
{
	struct state *state = list->api->settings.state;
	const struct node *node = state_node_at(state, item->slot);
	if (node && uuid_equal(&node->id, &item->id))
		node_json(w, state, node);
}

static bool is_wanted(const struct node *node, const struct id_prefix *prefix, const char *pool)
{
	return id_prefix_fits(prefix, &node->id) &&
	       (!pool || strcmp(pool, node->node_class->pool) == 0);
}

static void collect_nodes(struct id_list *list, const struct id_prefix *prefix, const char *pool)
{
	const struct state *state = list->api->settings.state;
	for (uint32_t slot = 0; slot < state_node_slots(state);) {
		state_read_begin();
		uint32_t slots = state_node_slots(state);
		for (uint32_t i = 0; i < SLOTS_PER_SECTION && slot < slots; i++, slot++) {
			const struct node *node = state_node_at(state, slot);
			if (node && is_wanted(node, prefix, pool))
				id_list_add(list, &node->id, slot);
		}
		state_read_end();
	}
}

void nodes_of_pool(struct request *request, const char *pool, struct reply *reply)
{
	struct id_prefix prefix;
	if (list_begins_in_background(request, reply, request->route->answer) ||
		!id_prefix_read(request, "node", &prefix, reply))
		return;
	struct id_list *list = id_list_create(request->api);
	list->write = write_stub;
	list->write_whole = write_whole;
	list->detailed = request_flag(request, "resources");
	list->os = request_flag(request, "os");
	uint64_t index = list_index(request);
	collect_nodes(list, &prefix, pool);
	id_list_answer(list, index, request, reply);
}

void nodes_list(struct request *request, struct reply *reply)
{
	nodes_of_pool(request, NULL, reply);
}

static void write_one(struct json_writer *w, const struct request *request, const void *record)
{
	node_json(w, request->api->settings.state, record);
}

const struct one_record node_by_id = {.noun = "node", .find = node_named, .write = write_one};
