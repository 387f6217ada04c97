// Suspended nodes: when one has been lost or flaky for long enough, or its readiness begins to count, asks the
// decider to look at it (rows E18 to E20). The decider judges again, by its own clock.
#include "placement/watch/nodes/suspended_nodes.h"
#include "placement/broker/heap.h"
#include "placement/broker/lookup.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/log/command.h"
#include <stdlib.h>

// Pause before a swept node that is still due is asked about again: the command was refused, or clocks differ.
#define AGAIN_NS (100 * NS_PER_MS)

struct suspended_node {
	struct lookup_node by_id;
	struct heap_node by_time;
	struct uuid id;
	int64_t due_ns;
};

struct suspended_nodes {
	struct watch_tools tools;
	pthread_mutex_t mutex; // of everything below
	struct lookup nodes;
	struct heap due;
};

static bool sooner_of(const struct heap_node *a, const struct heap_node *b)
{
	return CONTAINER_OF(a, const struct suspended_node, by_time)->due_ns <
	       CONTAINER_OF(b, const struct suspended_node, by_time)->due_ns;
}

static void *suspended_nodes_create(const struct watch_tools *tools)
{
	struct suspended_nodes *l = memory_take(sizeof *l);

	l->tools = *tools;
	heap_init(&l->due, sooner_of);
	pthread_mutex_init(&l->mutex, NULL);
	return l;
}

static void suspended_nodes_destroy(void *context)
{
	struct suspended_nodes *l = context;
	struct heap_node *top;

	while ((top = heap_pop(&l->due)))
		free(CONTAINER_OF(top, struct suspended_node, by_time));
	lookup_free(&l->nodes);
	heap_free(&l->due);
	pthread_mutex_destroy(&l->mutex);
	free(l);
}

static struct suspended_node *find_suspended(const struct suspended_nodes *l, const struct uuid *id)
{
	for (struct lookup_node *at = lookup_first(&l->nodes, uuid_hash(id)); at;
		at = lookup_next(at)) {
		struct suspended_node *node = CONTAINER_OF(at, struct suspended_node, by_id);
		if (uuid_equal(&node->id, id))
			return node;
	}
	return NULL;
}

static void set_due(struct suspended_nodes *l, const struct uuid *id, int64_t due_ns)
{
	struct suspended_node *node = find_suspended(l, id);

	if (node) {
		heap_remove(&l->due, &node->by_time);
	} else {
		node = memory_take(sizeof *node);
		node->id = *id;
		lookup_add(&l->nodes, &node->by_id, uuid_hash(id));
	}
	node->due_ns = due_ns;
	heap_push(&l->due, &node->by_time);
}

static void forget_suspended(struct suspended_nodes *l, const struct uuid *id)
{
	struct suspended_node *node = find_suspended(l, id);

	if (!node)
		return;
	lookup_remove(&l->nodes, &node->by_id);
	heap_remove(&l->due, &node->by_time);
	free(node);
}

// Notes when something is due for the node. True: there is such a time.
static bool follow_node(struct suspended_nodes *l, const struct node *node)
{
	int64_t due_ns = node->record.deleted
				 ? INT64_MAX
				 : standing_due_ns(&node->standing, &l->tools.standing);

	pthread_mutex_lock(&l->mutex);
	if (due_ns == INT64_MAX)
		forget_suspended(l, &node->id);
	else
		set_due(l, &node->id, due_ns);
	pthread_mutex_unlock(&l->mutex);
	return due_ns != INT64_MAX;
}

static bool suspended_nodes_changed(void *context, const struct state_change *change)
{
	return change->table == STATE_NODES &&
	       follow_node(context, (const struct node *)change->after);
}

static void suspended_nodes_take_over(void *context)
{
	struct suspended_nodes *l = context;

	for (uint32_t slot = 0; slot < state_node_slots(l->tools.state); slot++) {
		state_read_begin();
		const struct node *node = state_node_at(l->tools.state, slot);
		if (node)
			(void)follow_node(l, node);
		state_read_end();
	}
}

// Takes due nodes, at most as many as one sweep takes. Sets the next turn.
static uint32_t take_due(
	struct suspended_nodes *l, int64_t now_ns, struct uuid *ids, int64_t *next_ns)
{
	uint32_t count = 0;
	struct heap_node *top;

	*next_ns = WATCH_NEVER;
	pthread_mutex_lock(&l->mutex);
	while ((top = heap_top(&l->due))) {
		struct suspended_node *node = CONTAINER_OF(top, struct suspended_node, by_time);
		*next_ns = node->due_ns;
		if (node->due_ns > now_ns || count == NODE_SWEEP_MAX)
			break;
		ids[count++] = node->id;
		heap_remove(&l->due, top);
		node->due_ns = now_ns + AGAIN_NS;
		heap_push(&l->due, top);
	}
	pthread_mutex_unlock(&l->mutex);
	return count;
}

static int64_t suspended_nodes_turn(void *context, int64_t now_ns, bool *done)
{
	struct suspended_nodes *l = context;
	struct uuid ids[NODE_SWEEP_MAX];
	int64_t next_ns;
	uint32_t count = take_due(l, now_ns, ids, &next_ns);

	if (count > 0) {
		struct command_node_standing sweep = {
			.action = STANDING_SWEEP, .nodes = ids, .count = count};
		struct command c = {.type = COMMAND_NODE_STANDING, .standing = &sweep};
		uint64_t begin_ns = time_monotonic_ns(l->tools.time);
		(void)watch_run(&l->tools, &c); // a refused one is asked about again
		uint64_t took_ns = time_monotonic_ns(l->tools.time) - begin_ns;
		watch_gauge(&l->tools, &l->tools.stats->sweep_us, (uint32_t)(took_ns / 1000));
		watch_count(&l->tools, &l->tools.stats->nodes_swept, sweep.changed);
	}
	*done |= count > 0;
	return next_ns;
}

const struct watcher suspended_nodes_watcher = {
	.name = "suspended nodes",
	.create = suspended_nodes_create,
	.destroy = suspended_nodes_destroy,
	.take_over = suspended_nodes_take_over,
	.changed = suspended_nodes_changed,
	.turn = suspended_nodes_turn,
};
