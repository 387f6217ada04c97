// The numbers in names (step 3k, row C46).
#include "placement/scheduler/reconcile/group_pass.h"
#include "state/base/check.h"

static bool holds_name(const struct member *m)
{
	return m->set == SET_UNTAINTED || m->set == SET_MIGRATE || m->set == SET_RESCHEDULE ||
	       m->set == SET_LOST;
}

// Members are in the order of their numbers, so the last has the highest.
static uint32_t size_for(const struct group_pass *g)
{
	return g->count ? g->members[g->count - 1].index + 1 : 0;
}

// Step 3k.
void index_names(struct group_pass *g)
{
	name_index_init(&g->names, (uint32_t)g->group->count, size_for(g));
	FOR_MEMBERS(m, g)
	if (holds_name(m))
		number_set_add(&g->names.taken, m->index);
	CHECK(g->names.taken.size >= g->names.count);
}

struct repair {
	struct name_index *names; // every allocation that is or will be there has its name here
	struct number_set given;  // names of allocations that go on, and of repaired places
	struct number_set twice;  // names that two allocations go on with
};

static struct reconcile_place *place_at(struct array *places, uint32_t i)
{
	CHECK(i < places->count);
	return ARRAY_AT(places, struct reconcile_place, i);
}

static void reserve_names(struct repair *r, struct array *places, uint32_t first)
{
	CHECK(first <= places->count);
	for (uint32_t i = first; i < places->count; i++) {
		const struct reconcile_place *place = place_at(places, i);
		for (uint32_t n = 0; n <= place->more; n++)
			if (place->name_index + n < r->names->taken.size)
				number_set_add(&r->names->taken, place->name_index + n);
	}
}

// A replacement takes the name of the allocation that it replaces, unless an allocation that goes on has that name and
// another name is free. A canary takes the name of the one allocation that it will replace, but none of two.
static bool takes_another(const struct repair *r, const struct reconcile_place *place)
{
	CHECK(r->twice.size == r->given.size && (place->more == 0 || !place->previous));
	if (name_index_lowest_free(r->names) == r->names->count)
		return false;
	if (place->canary && !place->previous)
		return number_set_has(&r->twice, place->name_index);
	return place->previous && !place->canary && number_set_has(&r->given, place->name_index);
}

static void repair_places(struct repair *r, struct array *places, uint32_t first)
{
	CHECK(first <= places->count);
	for (uint32_t i = first; i < places->count; i++) {
		struct reconcile_place *place = place_at(places, i);
		if (takes_another(r, place))
			place->name_index = name_index_next(r->names);
		if (place->previous && !place->canary)
			number_set_add(&r->given, place->name_index);
	}
}

// Without allocations no two have one name.
void repair_names(struct group_pass *g)
{
	CHECK(g->first_place <= g->r->result->place.count);
	if (g->count == 0)
		return;
	struct reconciliation *result = g->r->result;
	struct repair r = {.names = &g->names};
	number_set_init(&r.given, g->names.taken.size);
	number_set_init(&r.twice, g->names.taken.size);
	FOR_MEMBERS(m, g)
	{
		if (m->set != SET_UNTAINTED || m->stopped || (is_unknown(m) && !m->is_back))
			continue;
		if (number_set_has(&r.given, m->index))
			number_set_add(&r.twice, m->index);
		number_set_add(&r.given, m->index);
		number_set_add(&g->names.taken, m->index);
	}
	reserve_names(&r, &result->destructive, g->first_destructive);
	reserve_names(&r, &result->place, g->first_place);
	repair_places(&r, &result->destructive, g->first_destructive);
	repair_places(&r, &result->place, g->first_place);
	number_set_release(&r.given);
	number_set_release(&r.twice);
}
