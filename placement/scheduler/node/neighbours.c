#include "placement/scheduler/node/neighbours.h"
#include "state/base/check.h"
#include <string.h>

struct counting {
	struct neighbour_counts *counts;
	const char *group;
	// The group asked for last: most allocations are of one version.
	const struct job *job;
	uint32_t number;
	bool is_same;
};

static bool is_named(const struct job *job, uint32_t group, const char *name)
{
	return strcmp(ARRAY_AT(&job->task_groups, struct task_group, group)->name, name) == 0;
}

static bool is_of_group(struct counting *c, const struct allocation *a)
{
	if (a->job != c->job || a->group != c->number) {
		c->job = a->job;
		c->number = a->group;
		c->is_same = is_named(a->job, a->group, c->group);
	}
	return c->is_same;
}

static bool count_allocation(const struct allocation *a, void *context)
{
	struct counting *c = context;
	struct neighbour_counts *counts = c->counts;

	if (!allocation_holds_room(a) || a->node_slot >= counts->at.slots)
		return true;
	uint32_t at = slot_map_get(&counts->at, a->node_slot);
	if (at == 0) {
		ARENA_GROW(counts->at.arena, counts->items, counts->count, counts->room);
		counts->items[counts->count++] = (struct neighbour_count){.slot = a->node_slot};
		at = counts->count;
		slot_map_put(&counts->at, a->node_slot, at);
	}
	CHECK(counts->items[at - 1].slot == a->node_slot);
	counts->items[at - 1].near.of_job++;
	counts->items[at - 1].near.of_group += is_of_group(c, a);
	return true;
}

struct neighbour_counts *neighbour_counts_create(struct stack *s, const struct group_rules *g)
{
	CHECK(g->job == s->job);
	struct neighbour_counts *counts = arena_take(&s->of_job, sizeof *counts);
	struct counting counting = {.counts = counts, .group = g->group->name};

	slot_map_begin(&counts->at, s->proposal.slots, &s->of_job);
	for (uint32_t i = 0; s->allocations && i < s->allocations->count; i++)
		(void)count_allocation(
			*ARRAY_AT(s->allocations, const struct allocation *, i), &counting);
	if (!s->allocations)
		s->view.job_allocations(s->view.context, s->job->namespace_name, s->job->id,
			count_allocation, &counting);
	return counts;
}

static bool is_of_job(const struct stack *s, const struct job *job)
{
	return job == s->job || (strcmp(job->id, s->job->id) == 0 &&
					strcmp(job->namespace_name, s->job->namespace_name) == 0);
}

// An allocation may have ended between the walk that counted and the look at what the plan takes away.
static void take_off(struct neighbours *near, bool is_of_group)
{
	near->of_job -= near->of_job > 0;
	near->of_group -= is_of_group && near->of_group > 0;
}

struct neighbours neighbour_counts_of(const struct neighbour_counts *counts, const struct stack *s,
	const struct group_rules *g, uint32_t slot)
{
	const struct proposal *p = &s->proposal;
	const struct touched_node *t = proposal_touched(p, slot);
	uint32_t number = slot_map_get(&counts->at, slot);
	struct neighbours near =
		number ? counts->items[number - 1].near : (struct neighbours){0, 0};

	for (uint32_t at = t ? t->gone : 0; at; at = p->gone[at - 1].next) {
		const struct allocation *a = p->gone[at - 1].allocation;
		if (!p->gone[at - 1].withdrawn && allocation_holds_room(a) && is_of_job(s, a->job))
			take_off(&near, is_named(a->job, a->group, g->group->name));
	}
	for (uint32_t at = t ? t->fresh : 0; at; at = p->fresh[at - 1].next) {
		struct proposed_allocation a = proposal_fresh(p, at - 1);
		if (!is_of_job(s, a.job))
			continue;
		near.of_job++;
		near.of_group += is_named(a.job, a.group, g->group->name);
	}
	CHECK(near.of_group <= near.of_job);
	return near;
}

struct neighbour_search {
	const struct stack *s;
	const struct group_rules *g;
	struct neighbours found;
};

static bool count_neighbour(const struct proposed_allocation *a, void *context)
{
	struct neighbour_search *c = context;
	if (!is_of_job(c->s, a->job))
		return true;
	c->found.of_job++;
	c->found.of_group += is_named(a->job, a->group, c->g->group->name);
	return true;
}

struct neighbours stack_neighbours(
	const struct stack *s, const struct group_rules *g, uint32_t slot)
{
	struct neighbour_search c = {s, g, {0, 0}};
	if (s->near[g->number])
		return neighbour_counts_of(s->near[g->number], s, g, slot);
	proposal_walk(&s->proposal, slot, count_neighbour, &c);
	return c.found;
}
