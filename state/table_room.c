// Buckets for what is read at a start. The hash tables grow by themselves, but on a thread of their
// own, which a recovery outruns: its chains would be hundreds of items long.
#include "state/tables.h"
#include <urcu-qsbr.h>

// So many times the items: the next growth is far, and chains stay short until then.
#define BUCKETS_PER_ITEM 4
#define BUCKETS_LEAST 1024

static bool is_tight(const struct table_room *room, uint32_t count)
{
	return count > room->buckets;
}

static void widen(struct table_room *room, struct cds_lfht *table, uint32_t count)
{
	if (!is_tight(room, count))
		return;
	if (room->buckets == 0)
		room->buckets = BUCKETS_LEAST;
	while (room->buckets < (uint64_t)count * BUCKETS_PER_ITEM)
		room->buckets *= 2;
	cds_lfht_resize(table, room->buckets);
}

static uint32_t node_count(const struct state *state)
{
	return state_node_slots(state);
}

bool state_tables_are_tight(const struct state *state)
{
	return is_tight(&state->node_room, node_count(state)) ||
	       is_tight(&state->allocation_room, state->allocation_order.count) ||
	       is_tight(&state->request_room, state->request_order.count);
}

void state_tables_widen(struct state *state)
{
	widen(&state->node_room, state->nodes, node_count(state));
	widen(&state->allocation_room, state->allocations, state->allocation_order.count);
	widen(&state->request_room, state->requests, state->request_order.count);
}
