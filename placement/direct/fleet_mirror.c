#include "placement/direct/fleet_mirror.h"
#include "placement/direct/fit_input.h"
#include "state/base/memory.h"
#include <stdlib.h>

#define READ_AT_ONCE 64u

struct fleet_mirror {
	const struct state *state;
	struct claims *claims; // NULL: nobody claims anything
	struct fleet *fleet;
	uint64_t seen, claims_seen; // of the feeds
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
	if (m->claims)
		claims_add(m->claims, NULL, slot, &use);
	const char *snapshot = n->snapshot ? n->snapshot : "";
	*in = fit_input_of(n, use.used, &use.devices, use.living > 0 ? NULL : snapshot);
	in->has_details = use.with_details > 0;
	return true;
}

static void mirror_allocations(
	void *context, uint32_t slot, state_allocation_visit *visit, void *visit_context)
{
	const struct fleet_mirror *m = context;
	state_node_allocations(m->state, slot, visit, visit_context);
}

// Whatever changes after the heads were read comes in the feeds later.
static void mirror_begin_feeds(struct fleet_mirror *m)
{
	m->seen = state_node_feed_head(m->state);
	m->claims_seen = m->claims ? claims_feed_head(m->claims) : 0;
}

static uint32_t mirror_read_feeds(struct fleet_mirror *m, uint32_t slots[static READ_AT_ONCE])
{
	uint32_t count = state_node_feed_read(m->state, &m->seen, slots, READ_AT_ONCE);

	return count > 0 || !m->claims
		       ? count
		       : claims_feed_read(m->claims, &m->claims_seen, slots, READ_AT_ONCE);
}

static void mirror_catch_up(void *context, struct fleet *f)
{
	struct fleet_mirror *m = context;
	uint32_t slots[READ_AT_ONCE], count;

	while ((count = mirror_read_feeds(m, slots)) > 0) {
		if (count == NODE_FEED_LOST) {
			mirror_begin_feeds(m);
			fleet_reread_all(f);
			return;
		}
		for (uint32_t i = 0; i < count; i++)
			fleet_reread(f, slots[i]);
	}
}

struct fleet_mirror *fleet_mirror_create(const struct state *state, struct claims *claims)
{
	struct fleet_mirror *m = memory_take(sizeof *m);
	struct fleet_source source = {
		mirror_slots, mirror_read, mirror_allocations, mirror_catch_up, m};
	m->state = state;
	m->claims = claims;
	mirror_begin_feeds(m);
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
