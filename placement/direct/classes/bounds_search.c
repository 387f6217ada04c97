#include "placement/direct/classes/bounds_search.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdbool.h>
#include <stdlib.h>

// Of the slots of a place, the one that goes first.
static uint32_t first_below(const struct bounds_search *s, uint32_t level, uint32_t at)
{
	uint64_t step = 1;
	for (uint32_t i = 0; i < level; i++)
		step *= BOUNDS_A_STEP;
	uint64_t from = at * step;
	bool begins_inside = from <= s->first_slot && s->first_slot < from + step;

	return begins_inside ? s->first_slot : (uint32_t)from;
}

static void sift_up(struct bounds_search *s, uint32_t to, struct promise one)
{
	for (; to > 0 && promise_goes_before(&one, &s->items[(to - 1) / 2]); to = (to - 1) / 2)
		s->items[to] = s->items[(to - 1) / 2];
	s->items[to] = one;
}

static void sift_down(struct bounds_search *s, uint32_t at, struct promise one)
{
	for (uint32_t child; (child = 2 * at + 1) < s->count; at = child) {
		if (child + 1 < s->count &&
			promise_goes_before(&s->items[child + 1], &s->items[child]))
			child++;
		if (!promise_goes_before(&s->items[child], &one))
			break;
		s->items[at] = s->items[child];
	}
	s->items[at] = one;
}

static void add_promise(struct bounds_search *s, uint32_t level, uint32_t at)
{
	struct promise one = {s->bound_of(s->context, level, at), level, at,
		first_below(s, level, at) - s->first_slot,
		s->ranked ? bounds_tree_rank(s->ranked, level, at) : 0};

	if (one.bound == BOUND_NONE)
		return;
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 2 * BOUNDS_A_STEP;
		s->items = memory_resize(s->items, s->room * sizeof s->items[0]);
	}
	s->count++;
	sift_up(s, s->count - 1, one);
}

static struct promise take_promise(struct bounds_search *s)
{
	struct promise taken = s->items[0], last = s->items[--s->count];

	sift_down(s, 0, last);
	return taken;
}

static double bound_in_tree(const void *context, uint32_t level, uint32_t at)
{
	const struct bounds_tree *tree = context;
	return tree->levels[level][at];
}

static void begin_at_top(struct bounds_search *s)
{
	uint32_t top = s->level_count - 1;

	CHECK(s->level_count > 0);
	s->count = 0;
	for (uint32_t at = 0; at < s->counts[top]; at++)
		add_promise(s, top, at);
}

void bounds_search_begin_with(struct bounds_search *s, bound_of_place *bound_of,
	const void *context, const uint32_t *counts, uint32_t level_count, uint32_t first_slot)
{
	*s = (struct bounds_search){.bound_of = bound_of,
		.context = context,
		.counts = counts,
		.level_count = level_count,
		.first_slot = first_slot,
		.items = s->items,
		.room = s->room};
	begin_at_top(s);
}

void bounds_search_begin(
	struct bounds_search *s, const struct bounds_tree *tree, uint32_t first_slot)
{
	*s = (struct bounds_search){.bound_of = bound_in_tree,
		.context = tree,
		.ranked = tree,
		.counts = tree->counts,
		.level_count = tree->level_count,
		.first_slot = first_slot,
		.items = s->items,
		.room = s->room};
	begin_at_top(s);
}

void bounds_search_renew(struct bounds_search *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		s->items[i].bound = s->bound_of(s->context, s->items[i].level, s->items[i].at);
	for (uint32_t i = s->count / 2; i-- > 0;)
		sift_down(s, i, s->items[i]);
}

void bounds_search_release(struct bounds_search *s)
{
	free(s->items);
}

uint32_t bounds_search_first(const struct bounds_search *s)
{
	CHECK(s->count > 0);
	return s->items[0].order + s->first_slot;
}

uint32_t bounds_search_take(struct bounds_search *s)
{
	CHECK(s->count > 0);
	struct promise taken = take_promise(s);
	uint32_t from = taken.at * BOUNDS_A_STEP, to = from + BOUNDS_A_STEP;

	if (taken.level == 0)
		return taken.at;
	for (uint32_t at = from; at < to && at < s->counts[taken.level - 1]; at++)
		add_promise(s, taken.level - 1, at);
	return BOUNDS_SEARCH_ON;
}
