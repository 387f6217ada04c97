// Every node in a few bytes, for who shows a fleet as a whole; and then only those that changed.
//
// What a client has seen is a place in the feed of changed nodes, named so that it means nothing to another process.
#include "state/base/memory.h"
#include "tools/api/berth/routes.h"
#include "tools/api/lists/list_stream.h"
#include "tools/api/server/blocking_query.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// Nodes that one read section visits.
#define NODES_PER_SECTION 256u
#define PREFETCH_AHEAD 16u

struct fleet_walk {
	struct state *state;
	bool is_whole;       // of all slots; else of those that the feed names
	bool tells_of_none;  // slots that hold no node are told, too
	uint32_t slot;       // of all: the next one
	uint64_t seen, head; // of the feed: what was read, and how far this answer goes
};

static void write_columns(struct json_writer *w)
{
	static const char *const columns[] = {"Slot", "ID", "Name", "Datacenter", "NodeClass",
		"NodePool", "Status", "Eligible", "Draining", "CPU", "CPUUsed", "MemoryMB",
		"MemoryMBUsed", "Allocations"};
	json_open_array(w, "Columns");
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
		json_write_string(w, columns[i]);
	json_end_array(w);
}

static void write_node(struct json_writer *w, const struct state *state, const struct node *node)
{
	const struct node_use use = state_node_use(state, node->slot);
	json_write_uuid(w, &node->id);
	json_write_string(w, node->name);
	json_write_string(w, node->node_class->datacenter);
	json_write_string(w, node->node_class->class_name);
	json_write_string(w, node->node_class->pool);
	json_write_string(w, node_status_names[node->status]);
	json_write_bool(w, node->eligibility == NODE_ELIGIBLE);
	json_write_bool(w, node->drain != NULL);
	json_write_u64(w, node->total.cpu_mhz);
	json_write_u64(w, use.used.cpu_mhz);
	json_write_u64(w, node->total.memory_mb);
	json_write_u64(w, use.used.memory_mb);
	json_write_u64(w, use.living);
}

// Under read lock.
static void write_slot(struct json_writer *w, const struct fleet_walk *walk, uint32_t slot)
{
	const struct node *node = state_node_at(walk->state, slot);
	if (!node && !walk->tells_of_none)
		return;
	json_begin_array(w);
	json_write_u64(w, slot);
	if (node)
		write_node(w, walk->state, node);
	json_end_array(w);
}

static bool write_next_slots(struct fleet_walk *walk, struct json_writer *w)
{
	state_read_begin();
	uint32_t end = state_node_slots(walk->state);
	for (uint32_t i = 0; i < NODES_PER_SECTION && walk->slot < end; i++, walk->slot++) {
		if (walk->slot + PREFETCH_AHEAD < end)
			state_node_prefetch(walk->state, walk->slot + PREFETCH_AHEAD);
		write_slot(w, walk, walk->slot);
	}
	state_read_end();
	return walk->slot < end;
}

static bool write_next_changes(struct fleet_walk *walk, struct json_writer *w)
{
	uint32_t slots[NODES_PER_SECTION];
	uint64_t left = walk->head - walk->seen;
	uint32_t wanted = left < NODES_PER_SECTION ? (uint32_t)left : NODES_PER_SECTION;
	uint32_t count = state_node_feed_read(walk->state, &walk->seen, slots, wanted);
	// The client reads more slowly than the fleet changes. To tell it of every slot tells it of those that changed.
	if (count == NODE_FEED_LOST) {
		walk->is_whole = true;
		return true;
	}
	state_read_begin();
	for (uint32_t i = 0; i < count; i++)
		write_slot(w, walk, slots[i]);
	state_read_end();
	return walk->seen < walk->head;
}

static bool produce_nodes(void *context, struct json_writer *w, size_t bytes_wanted)
{
	struct fleet_walk *walk = context;
	return walk->is_whole ? write_next_slots(walk, w) : write_next_changes(walk, w);
}

static uint64_t feed_name(const struct request *request)
{
	uint64_t name;
	memcpy(&name, request->api->id.bytes, sizeof name);
	return name;
}

// The place that the client names; false when this process did not name it, or when a look at all nodes is less work.
static bool find_place(const struct request *request, struct fleet_walk *walk)
{
	const char *since = request_parameter(request, "since");
	uint64_t name, seen;
	int size = 0;
	if (!since || sscanf(since, "%16" SCNx64 "-%19" SCNu64 "%n", &name, &seen, &size) != 2 ||
		since[size] || name != feed_name(request) || seen > walk->head ||
		walk->head - seen > state_node_slots(walk->state))
		return false;
	walk->seen = seen;
	uint64_t first = seen;
	uint32_t slot;
	return state_node_feed_read(walk->state, &first, &slot, 1) != NODE_FEED_LOST;
}

uint64_t fleet_watched(const struct request *request)
{
	uint64_t nodes = table_index(request, STATE_NODES);
	uint64_t allocations = table_index(request, STATE_ALLOCATIONS);
	return nodes > allocations ? nodes : allocations;
}

void fleet_read(struct request *request, struct reply *reply)
{
	struct fleet_walk *walk = memory_take(sizeof *walk);
	struct json_writer w = {.pretty = request_flag(request, "pretty")};
	char since[48];
	// Both before anything is looked at, so that no change after them can be missed.
	reply_index(reply, list_index(request));
	*walk = (struct fleet_walk){.state = request->api->settings.state};
	walk->head = state_node_feed_head(walk->state);
	walk->is_whole = !find_place(request, walk);
	walk->tells_of_none = !walk->is_whole;
	snprintf(since, sizeof since, "%016" PRIx64 "-%" PRIu64, feed_name(request), walk->head);
	json_begin_object(&w);
	json_put_string(&w, "Since", since);
	json_put_bool(&w, "Whole", walk->is_whole);
	write_columns(&w);
	json_open_array(&w, "Nodes");
	reply_stream(request, reply, walk, &w, produce_nodes, free);
}
