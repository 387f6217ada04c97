// The numbers in names (step 3k, row C46).
#include "placement/scheduler/reconcile_private.h"

static bool holds_name(const struct member *m)
{
	return m->set == SET_UNTAINTED || m->set == SET_MIGRATE || m->set == SET_RESCHEDULE ||
	       m->set == SET_LOST;
}

// Members are in the order of their numbers, so the last has the highest.
static uint32_t size_for(const struct group_pass *g)
{
	return g->count ? g->members[g->count - 1].allocation->index + 1 : 0;
}

// Step 3k.
void index_names(struct group_pass *g)
{
	name_index_init(&g->names, (uint32_t)g->group->count, size_for(g));
	FOR_MEMBERS(m, g)
	if (holds_name(m))
		number_set_add(&g->names.taken, m->allocation->index);
}

// What takes another's place takes its name, unless one that goes on has it too.
static void repair_name(struct name_index *kept, struct reconcile_place *place)
{
	if (!place->previous || place->canary)
		return;
	if (number_set_has(&kept->taken, place->name_index)) {
		uint32_t number = name_index_lowest_free(kept);
		if (number < kept->count)
			place->name_index = number;
	}
	number_set_add(&kept->taken, place->name_index);
}

void repair_names(struct group_pass *g)
{
	struct reconciliation *result = g->r->result;
	struct name_index kept;
	name_index_init(&kept, (uint32_t)g->group->count, size_for(g));
	FOR_MEMBERS(m, g)
	if (m->set == SET_UNTAINTED && !m->stopped && !is_unknown(m))
		number_set_add(&kept.taken, m->allocation->index);
	for (uint32_t i = g->first_destructive; i < result->destructive.count; i++)
		repair_name(&kept, ARRAY_AT(&result->destructive, struct reconcile_place, i));
	for (uint32_t i = g->first_place; i < result->place.count; i++)
		repair_name(&kept, ARRAY_AT(&result->place, struct reconcile_place, i));
	name_index_release(&kept);
}
