// Places missing instances and moves others (steps 3q, 3r, 3t).
#include "placement/scheduler/reconcile/group_pass.h"
#include "state/base/check.h"

static struct reconcile_place replacement_of(const struct group_pass *g, const struct member *m)
{
	CHECK(g->group && m->allocation);
	bool canary = is_canary(m->allocation);
	return (struct reconcile_place){
		.group = g->number,
		.name_index = m->index,
		.canary = canary,
		.previous = m->allocation,
		.downgrade = is_canarying(g) && !canary,
		.min_version = m->allocation->job->version,
	};
}

static struct reconcile_place *append_missing(struct group_pass *g, const struct member *m)
{
	CHECK(m->set == SET_RESCHEDULE || m->set == SET_LOST);
	struct reconcile_place *place = APPEND(&g->place, struct reconcile_place);
	*place = replacement_of(g, m);
	return place;
}

// Whether a member counts as an instance. An unknown allocation does not once it was replaced since it became unknown,
// unless it stays in its replacement's stead. A replacement from an earlier disconnect, which was stopped when the
// client came back, makes no difference.
static bool is_there(const struct group_pass *g, const struct member *m)
{
	if (m->set == SET_MIGRATE || m->set == SET_RESCHEDULE)
		return true;
	bool is_stood_in_for = is_unknown(m) && !m->is_back && was_replaced_since(g, m->allocation);
	return m->set == SET_UNTAINTED && !is_stood_in_for;
}

static int64_t replace_failed(struct group_pass *g)
{
	int64_t there = 0;
	FOR_MEMBERS(m, g)
	{
		there += is_there(g, m);
		if (m->set == SET_RESCHEDULE)
			append_missing(g, m)->reschedule = true;
	}
	CHECK(there <= g->count);
	return there;
}

static int64_t replace_lost(struct group_pass *g, int64_t there)
{
	if (!may_have(g, SET_LOST))
		return there;
	FOR_MEMBERS(m, g)
	{
		if (m->set != SET_LOST || there >= g->group->count)
			continue;
		append_missing(g, m)->lost = true;
		there++;
	}
	return there;
}

static void fill_up(struct group_pass *g, int64_t there)
{
	struct reconcile_place *run = NULL;
	for (; there < g->group->count; there++) {
		uint32_t name_index = name_index_next(&g->names);
		if (run && name_index == run->name_index + run->more + 1) {
			run->more++;
			continue;
		}
		run = APPEND(&g->place, struct reconcile_place);
		*run = (struct reconcile_place){
			.group = g->number,
			.name_index = name_index,
			.downgrade = is_canarying(g),
		};
	}
}

static int64_t count_missing(const struct group_pass *g)
{
	int64_t count = 0;
	for (uint32_t i = 0; i < g->place.count; i++)
		count += 1 + (int64_t)ARRAY_AT(&g->place, struct reconcile_place, i)->more;
	CHECK(count >= g->place.count);
	return count;
}

// Step 3q.
void compute_placements(struct group_pass *g)
{
	CHECK(g->place.count == 0);
	if (g->waits)
		return;
	fill_up(g, replace_lost(g, replace_failed(g)));
	if (!g->had_dstate)
		g->dstate->desired_total += count_missing(g);
}

static void place_missing(struct group_pass *g, const struct reconcile_place *missing)
{
	CHECK(missing->group == g->number);
	*APPEND(&g->r->result->place, struct reconcile_place) = *missing;
	g->desired->place += 1 + (int64_t)missing->more;
}

// While a deployment is paused, failed or tries canaries out, only lost and failed allocations are replaced, without
// those that failed with a failed deployment.
static bool is_placed_anyway(const struct group_pass *g, const struct reconcile_place *missing)
{
	CHECK(!missing->reschedule || missing->previous);
	const struct reconciler *r = g->r;
	if (missing->lost)
		return true;
	return missing->reschedule &&
	       !(r->failed && is_of_deployment(missing->previous, r->deployment));
}

static const struct reconcile_place *missing_at(const struct group_pass *g, uint32_t i)
{
	CHECK(i < g->place.count);
	return ARRAY_AT(&g->place, struct reconcile_place, i);
}

// Stops failed allocations that are replaced. Unknown ones go on, as they may come back.
static void stop_replaced(struct group_pass *g, bool ready)
{
	CHECK(!g->waits);
	if (!may_have(g, SET_RESCHEDULE))
		return;
	FOR_MEMBERS(m, g)
	{
		if (m->set != SET_RESCHEDULE || is_unknown(m))
			continue;
		if (!ready && g->r->failed && is_of_deployment(m->allocation, g->r->deployment))
			continue;
		note_stop(g, m, STOP_RESCHEDULED);
		g->desired->stop++;
	}
}

// Step 3r.
void compute_replacements(struct group_pass *g)
{
	bool ready = is_place_ready(g);
	if (g->waits)
		return;
	for (uint32_t i = 0; i < g->place.count; i++)
		if (ready || is_placed_anyway(g, missing_at(g, i)))
			place_missing(g, missing_at(g, i));
	stop_replaced(g, ready);
	int64_t missing = count_missing(g);
	if (ready)
		g->limit -= missing < g->limit ? missing : g->limit;
}

// Step 3t: drains go on whatever becomes of the deployment (row C35).
void compute_migrations(struct group_pass *g)
{
	CHECK(g->group);
	if (!may_have(g, SET_MIGRATE))
		return;
	FOR_MEMBERS(m, g)
	{
		if (m->set != SET_MIGRATE)
			continue;
		struct reconcile_place *moved =
			APPEND(&g->r->result->place, struct reconcile_place);
		*moved = replacement_of(g, m);
		moved->migrate = true;
		note_stop(g, m, STOP_MIGRATING);
		g->desired->migrate++;
	}
}
