// Canaries: allocations that try a version out before the others follow (steps 3d, 3n, 3o).
#include "placement/scheduler/common/taint.h"
#include "placement/scheduler/reconcile/group_pass.h"
#include "state/base/check.h"
#include <stdlib.h>

static void stop_unneeded(struct group_pass *g, struct member *m)
{
	if (allocation_is_over(g, m->allocation))
		put_member(g, m, SET_NONE);
	else {
		stop_member(g, m, STOP_NOT_NEEDED);
		g->desired->stop++;
	}
	CHECK(m->set == SET_NONE);
}

// A canary that has to leave its node stops being a canary: step 3o places another one if it is still needed.
static void keep_canary(struct group_pass *g, struct member *m)
{
	CHECK(!m->stopped && !m->canary);
	const struct reconcile_ask *ask = g->r->ask;
	switch (allocation_taint(ask->view, m->allocation, ask->now_ns)) {
	case TAINT_NONE:
	case TAINT_IGNORE: m->canary = g->has_canaries = true; break;
	case TAINT_MIGRATE: stop_member(g, m, STOP_MIGRATING); break;
	case TAINT_LOST: stop_member(g, m, STOP_LOST); break;
	case TAINT_DISCONNECTING:
	case TAINT_RECONNECTING: break;
	}
}

// Step 3d (row C45).
void cancel_unneeded_canaries(struct group_pass *g)
{
	const struct reconciler *r = g->r;
	if (r->canaries.count + r->unneeded.count == 0)
		return;
	FOR_MEMBERS(m, g)
	{
		if (m->set == SET_NONE)
			continue;
		if (id_set_has(&r->unneeded, &m->allocation->id))
			stop_unneeded(g, m);
		else if (id_set_has(&r->canaries, &m->allocation->id))
			keep_canary(g, m);
	}
}

struct canary_names {
	struct group_pass *g;
	struct number_set used, destructive;
	int64_t missing;
};

static void place_canary(struct canary_names *names, uint32_t number)
{
	CHECK(names->missing > 0);
	struct group_pass *g = names->g;
	*APPEND(&g->r->result->place, struct reconcile_place) =
		(struct reconcile_place){.group = g->number, .name_index = number, .canary = true};
	if (number < g->names.taken.size)
		number_set_add(&g->names.taken, number);
	names->missing--;
}

// Places canaries under numbers below the count that are in the set (or are not in it) and that no canary has.
static void place_canaries_at(struct canary_names *names, const struct number_set *set, bool in_set)
{
	uint32_t count = names->g->names.count;
	for (uint32_t number = 0; number < count && names->missing > 0; number++)
		if (number_set_has(set, number) == in_set && !number_set_has(&names->used, number))
			place_canary(names, number);
}

static void collect_names(struct canary_names *names)
{
	FOR_MEMBERS(m, names->g)
	{
		if (m->canary)
			number_set_add(&names->used, m->index);
		if (m->destructive)
			number_set_add(&names->destructive, m->index);
	}
}

// Gives canaries the names of allocations that will be replaced first, so that no name is there twice in the end (row
// C46).
static void place_canaries(struct group_pass *g, int64_t missing)
{
	CHECK(missing > 0);
	struct canary_names names = {.g = g, .missing = missing};
	number_set_init(&names.used, g->names.taken.size);
	number_set_init(&names.destructive, g->names.taken.size);
	collect_names(&names);
	g->desired->canary += missing;
	place_canaries_at(&names, &names.destructive, true);
	place_canaries_at(&names, &g->names.taken, false);
	for (uint32_t number = g->names.count; names.missing > 0; number++)
		place_canary(&names, number);
	number_set_release(&names.used);
	number_set_release(&names.destructive);
	CHECK(names.missing == 0);
}

static int64_t canary_count(const struct group_pass *g)
{
	int64_t count = 0;
	if (!g->has_canaries)
		return 0;
	FOR_MEMBERS(m, g)
	count += m->canary;
	CHECK(count <= g->count);
	return count;
}

static bool requires_canaries(const struct group_pass *g, int64_t there)
{
	const struct update_strategy *update = g->group->update;

	return update && g->destructive_count > 0 && there < update->canary && !g->dstate->promoted;
}

// Steps 3n and 3o (rows C32, C33).
void compute_canaries(struct group_pass *g)
{
	CHECK(g->dstate && g->group);
	int64_t there = canary_count(g);
	if (is_canarying(g) && there > 0)
		FOR_MEMBERS(m, g)
	if (m->canary && m->set == SET_UNTAINTED)
		put_member(g, m, SET_NONE);
	g->requires_canaries = requires_canaries(g, there);
	if (!g->requires_canaries)
		return;
	g->dstate->desired_canaries = g->group->update->canary;
	if (!g->r->paused && !g->r->failed)
		place_canaries(g, g->group->update->canary - there);
}
