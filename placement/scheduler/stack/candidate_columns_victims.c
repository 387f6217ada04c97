// The best of nodes on which victims make room: by upper bounds of their scores that are kept by changes
// (placement/direct/victims), the most promising first, until so many rows are better than any bound that is left.
#include "placement/scheduler/common/growing.h"
#include "placement/scheduler/node/fit.h"
#include "placement/scheduler/node/preempt.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

// What spreads and distinct properties say of the nodes of a group that have no rows, which the finders of its classes
// know.
struct group_spread {
	bool is_open; // some finder's values are not used up
	bool has_none;
	double most; // of those that are not 0
};

struct tree_search {
	const struct candidate_columns *columns;
	const struct score_tree *tree;
	struct group_spread spread;
	struct bounds_search search;
};

static double bound_in_search(const void *context, uint32_t level, uint32_t at)
{
	const struct tree_search *t = context;
	const struct score_tree *tree = t->tree;
	const struct tree_scores most =
		score_trees_most(&t->columns->bounds->trees, tree, level, at);
	double bound = BOUND_NONE;

	if (most.sum == BOUND_NONE)
		return BOUND_NONE;
	if (t->spread.most > BOUND_NONE)
		bound = (most.sum + t->spread.most + most.victims) / (tree->scores + 1);
	double without = (most.sum + most.victims) / tree->scores;
	return !t->spread.has_none && bound > BOUND_NONE ? bound
	       : without > bound                         ? without
							 : bound;
}

static void find_spreads(const struct candidate_columns *c, struct group_spread *spreads)
{
	for (uint32_t i = 0; i < c->set->group_count; i++)
		spreads[i] = (struct group_spread){.most = BOUND_NONE};
	for (uint32_t i = 0; i < c->finder_count; i++) {
		struct group_spread *of = &spreads[c->finders[i].key.group];
		const struct column_bin *bin = c->property_count ? &c->bins[i] : NULL;
		bool all_have_rows = c->finders[i].ready == c->finders[i].rows;
		if (all_have_rows || (bin && bin->refused_by))
			continue;
		of->is_open = true;
		if (!bin || bin->spread == 0)
			of->has_none = true;
		else if (bin->spread > of->most)
			of->most = bin->spread;
	}
}

static bool are_same(const struct group_spread *a, const struct group_spread *b)
{
	return a->is_open == b->is_open && a->has_none == b->has_none && a->most == b->most;
}

static void begin_searches(struct candidate_columns *c, const struct group_spread *spreads)
{
	const struct score_trees *trees = &c->bounds->trees;

	c->searches = memory_take_array(trees->count + 1, sizeof *c->searches);
	for (uint32_t i = 0; i < trees->count; i++) {
		struct tree_search *t = &c->searches[i];
		t->columns = c;
		t->tree = &trees->items[i];
		t->spread = spreads[t->tree->group];
		bounds_search_begin_with(&t->search, bound_in_search, t, trees->counts,
			trees->level_count, c->s->first_slot);
	}
}

// Brings the searches up to what is planned now.
static void renew_searches(struct candidate_columns *c)
{
	struct group_spread spreads[CLASS_GROUPS_FEW];

	CHECK(c->set->group_count <= CLASS_GROUPS_FEW); // else all nodes were gathered
	find_spreads(c, spreads);
	if (!c->searches)
		begin_searches(c, spreads);
	for (uint32_t i = 0; i < c->bounds->trees.count; i++) {
		struct tree_search *t = &c->searches[i];
		if (are_same(&t->spread, &spreads[t->tree->group]))
			continue;
		t->spread = spreads[t->tree->group];
		bounds_search_renew(&t->search);
	}
}

static bool promises_more(
	const struct stack *s, const struct tree_search *a, const struct tree_search *b)
{
	double bound = a->search.items[0].bound, other = b->search.items[0].bound;

	if (a->tree->tier != b->tree->tier)
		return a->tree->tier > b->tree->tier;
	if (bound != other)
		return bound > other;
	return stack_is_first(s, bounds_search_first(&a->search), bounds_search_first(&b->search));
}

// NULL: nothing is promised any more.
static struct tree_search *most_promising(const struct candidate_columns *c)
{
	struct tree_search *best = NULL;

	for (uint32_t i = 0; i < c->bounds->trees.count; i++) {
		struct tree_search *t = &c->searches[i];
		if (t->search.count > 0 && t->spread.is_open &&
			(!best || promises_more(c->s, t, best)))
			best = t;
	}
	return best;
}

// Whether so many rows are better than what is promised.
static bool is_outdone(
	struct candidate_columns *c, const struct tree_search *promising, uint32_t wanted)
{
	if (c->row_count < wanted || candidate_columns_best_blocks(c, wanted) < wanted)
		return false;
	const struct contender *last = &c->tree[c->leaves + c->best_blocks[wanted - 1]];
	double bound = promising->search.items[0].bound;
	if (last->tier != promising->tree->tier)
		return last->tier > promising->tree->tier;
	return last->score > bound ||
	       (last->score == bound && stack_is_first(c->s, c->slot_of[last->row],
						bounds_search_first(&promising->search)));
}

// A row of a class whose values are used up would be made for nothing.
static void make_row_unless_refused(struct candidate_columns *c, uint32_t slot)
{
	uint32_t id = candidate_columns_class_number(c, slot);

	if (candidate_columns_distinct_count(c) == 0 || !candidate_columns_class(c, id)->refusal) {
		(void)candidate_columns_row_for(c, slot);
		return;
	}
	GROW(c->aside, c->aside_count, c->aside_room);
	c->aside[c->aside_count++] = slot;
}

static void look_at_those_aside(struct candidate_columns *c)
{
	uint32_t count = c->aside_count;

	if (!c->has_reopened)
		return;
	c->has_reopened = false;
	c->aside_count = 0;
	for (uint32_t i = 0; i < count; i++)
		make_row_unless_refused(c, c->aside[i]);
}

void candidate_columns_fetch_evicting(struct candidate_columns *c, uint32_t wanted)
{
	struct tree_search *next;

	CHECK(c->block_rows == 1);
	renew_searches(c);
	look_at_those_aside(c);
	while ((next = most_promising(c)) && !is_outdone(c, next, wanted)) {
		uint32_t slot = bounds_search_take(&next->search);
		if (slot != BOUNDS_SEARCH_ON)
			make_row_unless_refused(c, slot);
	}
}

struct victims *candidate_columns_evictable(const struct candidate_columns *c)
{
	return fleet_victims(c->s->view.fleet, c->s->job->priority - PRIORITY_DELTA);
}

static void keep_reasons(struct candidate_columns *c)
{
	const struct victim_bounds *b = c->bounds;
	c->bound_reasons = memory_take_array(b->reason_count, sizeof *c->bound_reasons);
	for (uint32_t i = 0; i < b->reason_count; i++)
		c->bound_reasons[i] = i < FIT_SHORTAGES
					      ? shortage_reasons[i]
					      : reasons_keep(&c->s->reasons, b->reasons[i]);
}

bool candidate_columns_open_bounds(struct candidate_columns *c, struct victims *victims)
{
	bool room_says_it_all = c->g->plain && !c->g->snapshot;
	struct looker *l = room_says_it_all ? NULL : candidate_columns_open_looker(c);
	const struct victim_ask ask = {.look = l ? candidate_columns_look : NULL,
		.look_context = l,
		.affinity = c->g->affinity_unique ? candidate_columns_rate_affinity : NULL,
		.affinity_context = c};
	c->bounds = victim_bounds_of(c->set, c->fleet->fit, victims, &ask);
	candidate_columns_close_looker(l);
	if (c->bounds->has_too_many_reasons)
		return false;
	keep_reasons(c);
	return true;
}

void candidate_columns_close_bounds(struct candidate_columns *c)
{
	for (uint32_t i = 0; c->searches && i < c->bounds->trees.count; i++)
		bounds_search_release(&c->searches[i].search);
	free(c->searches);
	free(c->aside);
	free(c->bound_reasons);
	c->searches = NULL;
	c->aside = NULL;
	c->bound_reasons = NULL;
	c->bounds = NULL;
}
