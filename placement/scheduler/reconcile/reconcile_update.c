// Decides which allocations another version of the job changes, and how many of them at once (steps 3m, 3p, 3s).
#include "placement/scheduler/reconcile/group_pass.h"
#include "state/base/check.h"

static enum alloc_change change_of(const struct group_pass *g, const struct member *m)
{
	CHECK(m->set == SET_UNTAINTED);
	const struct reconcile_ask *ask = g->r->ask;
	if (m->is_current)
		return CHANGE_NONE;
	enum alloc_change change = ask->change_of(ask->context, m->allocation);
	// An allocation that becomes unknown is not changed before it is back.
	CHECK(change <= CHANGE_DESTRUCTIVE);
	return m->unknown && change == CHANGE_IN_PLACE ? CHANGE_NONE : change;
}

static void update_member(struct group_pass *g, struct member *m)
{
	CHECK(!m->stopped && !m->destructive);
	switch (change_of(g, m)) {
	case CHANGE_NONE: g->desired->ignore++; break;
	case CHANGE_IN_PLACE:
		*APPEND(&g->r->result->in_place, const struct allocation *) = m->allocation;
		g->in_place_count++;
		break;
	case CHANGE_DESTRUCTIVE:
		m->destructive = true;
		g->destructive_count++;
		break;
	}
}

// Step 3m.
void compute_updates(struct group_pass *g)
{
	CHECK(g->in_place_count == 0 && g->destructive_count == 0);
	FOR_MEMBERS(m, g)
	if (m->set == SET_UNTAINTED)
		update_member(g, m);
	g->desired->in_place_update += g->in_place_count;
	if (!g->had_dstate)
		g->dstate->desired_total += g->destructive_count + g->in_place_count;
	CHECK(g->in_place_count + g->destructive_count <= g->count);
}

// max_parallel, less the allocations of the deployment whose health is not known yet; 0 when one is unhealthy.
static int64_t rest_of_max_parallel(const struct group_pass *g)
{
	CHECK(!update_is_empty(g->group->update));
	int64_t limit = g->group->update->max_parallel;
	FOR_MEMBERS(m, g)
	{
		if (m->set != SET_UNTAINTED)
			continue;
		if (m->health == HEALTH_BAD)
			return 0;
		limit -= m->health == HEALTH_UNKNOWN;
	}
	return limit > 0 ? limit : 0;
}

// Step 3p.
void compute_under_provisioned_by(struct group_pass *g)
{
	const struct reconciler *r = g->r;
	if (update_is_empty(g->group->update) ||
		g->destructive_count + member_count_of(g, SET_MIGRATE) == 0)
		g->limit = g->group->count;
	else if (!r->deployment)
		g->limit = g->group->update->max_parallel;
	else if (r->paused || r->failed || is_canarying(g))
		g->limit = 0;
	else
		g->limit = rest_of_max_parallel(g);
}

static void replace_member(struct group_pass *g, struct member *m)
{
	CHECK(g->limit > 0 && !m->stopped);
	*APPEND(&g->r->result->destructive, struct reconcile_place) =
		(struct reconcile_place){.group = g->number,
			.name_index = m->index,
			.previous = m->allocation,
			.destructive = true};
	m->stopped = true;
	g->desired->destructive_update++;
	g->limit--;
}

// Step 3s: allocations with the lowest names go first.
void compute_destructive_updates(struct group_pass *g)
{
	bool ready = is_place_ready(g);
	if (g->destructive_count == 0)
		return;
	FOR_MEMBERS(m, g)
	{
		if (!m->destructive)
			continue;
		if (ready && g->limit > 0 && !m->unknown)
			replace_member(g, m);
		else
			g->desired->ignore++;
	}
}
