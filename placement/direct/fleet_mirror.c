#include "placement/direct/fleet_mirror.h"
#include "placement/direct/fit_input.h"
#include "state/base/memory.h"
#include <stdlib.h>

#define READ_AT_ONCE 64u

struct fleet_mirror {
	const struct state *state;
	struct fleet *fleet;
	uint64_t seen; // of the feed
};

static uint32_t mirror_slots(void *context)
{
	const struct fleet_mirror *m = context;
	return state_node_slots(m->state);
}

static bool mirror_read(void *context, uint32_t slot, struct fit_input *in)
{
	const struct fleet_mirror *m = context;
	const struct node *n = state_node_at(m->state, slot);

	if (!n)
		return false;
	state_node_prefetch(m->state, slot);
	struct node_use use = state_node_use(m->state, slot);
	*in = fit_input_of(n, use.used, &use.devices, NULL);
	return true;
}

static void mirror_catch_up(void *context, struct fleet *f)
{
	struct fleet_mirror *m = context;
	uint32_t slots[READ_AT_ONCE], count;

	while ((count = state_node_feed_read(m->state, &m->seen, slots, READ_AT_ONCE)) > 0) {
		if (count == NODE_FEED_LOST) {
			// Whatever changes after the head was read comes in the feed later.
			m->seen = state_node_feed_head(m->state);
			fleet_reread_all(f);
			return;
		}
		for (uint32_t i = 0; i < count; i++)
			fleet_reread(f, slots[i]);
	}
}

struct fleet_mirror *fleet_mirror_create(const struct state *state)
{
	struct fleet_mirror *m = memory_take(sizeof *m);
	struct fleet_source source = {mirror_slots, mirror_read, mirror_catch_up, m};
	m->state = state;
	m->seen = state_node_feed_head(state);
	m->fleet = fleet_create(&source);
	return m;
}

void fleet_mirror_destroy(struct fleet_mirror *m)
{
	if (!m)
		return;
	fleet_destroy(m->fleet);
	free(m);
}

struct fleet *fleet_mirror_fleet(struct fleet_mirror *m)
{
	return m->fleet;
}
