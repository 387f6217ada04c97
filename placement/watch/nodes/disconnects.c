// Disconnected nodes: asks about each once per time to live, until it is back or everything on it that may reconnect
// has expired; then the node is decided to be down (row B53, docs/spec/states.md).
#include "placement/watch/nodes/disconnects.h"
#include "placement/broker/heap.h"
#include "placement/broker/lookup.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/log/command.h"
#include <stdlib.h>

struct missing_node {
	struct lookup_node by_id;
	struct heap_node by_time;
	struct uuid id;
	int64_t due_ns;
};

struct disconnects {
	struct watch_tools tools;
	int64_t interval_ns;
	pthread_mutex_t mutex; // of everything below
	struct lookup nodes;
	struct heap due;
};

static bool sooner_of(const struct heap_node *a, const struct heap_node *b)
{
	return CONTAINER_OF(a, const struct missing_node, by_time)->due_ns <
	       CONTAINER_OF(b, const struct missing_node, by_time)->due_ns;
}

static void *disconnects_create(const struct watch_tools *tools)
{
	struct disconnects *d = memory_take(sizeof *d);

	d->tools = *tools;
	d->interval_ns = tools->node_ttl_ns > NS_PER_S ? tools->node_ttl_ns : NS_PER_S;
	heap_init(&d->due, sooner_of);
	pthread_mutex_init(&d->mutex, NULL);
	return d;
}

static void disconnects_destroy(void *context)
{
	struct disconnects *d = context;
	struct heap_node *top;

	while ((top = heap_pop(&d->due)))
		free(CONTAINER_OF(top, struct missing_node, by_time));
	lookup_free(&d->nodes);
	heap_free(&d->due);
	pthread_mutex_destroy(&d->mutex);
	free(d);
}

static struct missing_node *find_node(const struct disconnects *d, const struct uuid *id)
{
	for (struct lookup_node *at = lookup_first(&d->nodes, uuid_hash(id)); at;
		at = lookup_next(at)) {
		struct missing_node *node = CONTAINER_OF(at, struct missing_node, by_id);
		if (uuid_equal(&node->id, id))
			return node;
	}
	return NULL;
}

static void add_node(struct disconnects *d, const struct uuid *id)
{
	struct missing_node *node = memory_take(sizeof *node);

	node->id = *id;
	node->due_ns = (int64_t)time_wall_ns(d->tools.time) + d->interval_ns;
	lookup_add(&d->nodes, &node->by_id, uuid_hash(id));
	heap_push(&d->due, &node->by_time);
}

static void forget_node(struct disconnects *d, struct missing_node *node)
{
	lookup_remove(&d->nodes, &node->by_id);
	heap_remove(&d->due, &node->by_time);
	free(node);
}

static bool follow_node(struct disconnects *d, const struct node *after)
{
	bool is_missing = after->status == NODE_DISCONNECTED && !after->record.deleted;

	pthread_mutex_lock(&d->mutex);
	struct missing_node *known = find_node(d, &after->id);
	bool is_other = is_missing != (known != NULL);
	if (is_other && is_missing)
		add_node(d, &after->id);
	else if (is_other)
		forget_node(d, known);
	pthread_mutex_unlock(&d->mutex);
	return is_other;
}

static bool disconnects_changed(void *context, const struct state_change *change)
{
	return change->table == STATE_NODES &&
	       follow_node(context, (const struct node *)change->after);
}

static void disconnects_take_over(void *context)
{
	struct disconnects *d = context;

	for (uint32_t slot = 0; slot < state_node_slots(d->tools.state); slot++) {
		state_read_begin();
		const struct node *node = state_node_at(d->tools.state, slot);
		if (node)
			(void)follow_node(d, node);
		state_read_end();
	}
}

#define ASKED_AT_ONCE 256u

// Takes due nodes, at most as many as are asked about at once; each is due again later. Sets the next turn.
static uint32_t take_due(struct disconnects *d, int64_t now_ns, struct uuid *ids, int64_t *next_ns)
{
	uint32_t count = 0;
	struct heap_node *top;

	*next_ns = WATCH_NEVER;
	pthread_mutex_lock(&d->mutex);
	while ((top = heap_top(&d->due))) {
		struct missing_node *node = CONTAINER_OF(top, struct missing_node, by_time);
		*next_ns = node->due_ns;
		if (node->due_ns > now_ns || count == ASKED_AT_ONCE)
			break;
		ids[count++] = node->id;
		heap_remove(&d->due, top);
		node->due_ns = now_ns + d->interval_ns;
		heap_push(&d->due, top);
	}
	pthread_mutex_unlock(&d->mutex);
	return count;
}

static void ask_node(struct disconnects *d, const struct uuid *ids, uint32_t count)
{
	struct command commands[ASKED_AT_ONCE], *asked[ASKED_AT_ONCE];
	uint32_t known = 0;

	state_read_begin();
	for (uint32_t i = 0; i < count; i++) {
		const struct node *node = state_node_by_id(d->tools.state, &ids[i]);
		if (!node)
			continue;
		commands[known] = (struct command){.type = COMMAND_NODE_EXPIRED,
			.node = {node->slot, node->generation, .if_disconnected = true}};
		asked[known] = &commands[known];
		known++;
	}
	state_read_end();
	watch_run_all(&d->tools, asked, known); // a refused one is asked about again at its time
}

static int64_t disconnects_turn(void *context, int64_t now_ns, bool *done)
{
	struct disconnects *d = context;
	struct uuid ids[ASKED_AT_ONCE];
	int64_t next_ns;
	uint32_t count = take_due(d, now_ns, ids, &next_ns);

	if (count > 0)
		ask_node(d, ids, count);
	*done |= count > 0;
	pthread_mutex_lock(&d->mutex);
	uint32_t missing = d->nodes.count;
	pthread_mutex_unlock(&d->mutex);
	watch_gauge(&d->tools, &d->tools.stats->nodes_disconnected, missing);
	return next_ns;
}

const struct watcher disconnect_watcher = {
	.name = "disconnects",
	.create = disconnects_create,
	.destroy = disconnects_destroy,
	.take_over = disconnects_take_over,
	.changed = disconnects_changed,
	.turn = disconnects_turn,
};
