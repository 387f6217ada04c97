#include "placement/direct/classes/bounds_best.h"
#include "state/base/check.h"

// Fewer are too few: a decision looks at five, and passes over some that the job has.
#define BEST_LEAST 8u

void bounds_best_release(struct bounds_best *b)
{
	bounds_search_release(&b->search);
}

static struct promise promise_of(
	const struct bounds_best *b, const struct bounds_tree *t, uint32_t slot)
{
	return (struct promise){t->levels[0][slot], 0, slot, slot - b->search.first_slot,
		bounds_tree_rank(t, 0, slot)};
}

static void drop(struct bounds_best *b, uint32_t slot)
{
	uint32_t i = 0;
	while (i < b->count && b->slots[i] != slot)
		i++;
	if (i == b->count)
		return;
	for (b->count--; i < b->count; i++)
		b->slots[i] = b->slots[i + 1];
}

// The last one stays outside from now on.
static void make_room(struct bounds_best *b, const struct bounds_tree *t)
{
	CHECK(b->count == BOUNDS_BEST_MOST);
	b->horizon = promise_of(b, t, b->slots[--b->count]);
	b->is_complete = false;
}

static void offer(struct bounds_best *b, const struct bounds_tree *t, struct promise one)
{
	if (b->count == BOUNDS_BEST_MOST)
		make_room(b, t);
	if (!b->is_complete && !promise_goes_before(&one, &b->horizon))
		return;
	uint32_t i = b->count++;
	for (; i > 0; i--) {
		struct promise before = promise_of(b, t, b->slots[i - 1]);
		if (!promise_goes_before(&one, &before))
			break;
		b->slots[i] = b->slots[i - 1];
	}
	b->slots[i] = one.at;
}

void bounds_best_follow(struct bounds_best *b, const struct bounds_tree *t, uint32_t slot)
{
	if (!b->is_known)
		return;
	struct promise one = promise_of(b, t, slot);
	drop(b, slot);
	if (one.bound != BOUND_NONE && (b->is_complete || promise_goes_before(&one, &b->horizon)))
		offer(b, t, one);
}

static void search_anew(struct bounds_best *b, const struct bounds_tree *t, uint32_t first_slot)
{
	struct bounds_search *search = &b->search;

	b->count = 0;
	bounds_search_begin(search, t, first_slot);
	while (b->count < BOUNDS_BEST_MOST && search->count > 0) {
		uint32_t slot = bounds_search_take(search);
		if (slot != BOUNDS_SEARCH_ON)
			b->slots[b->count++] = slot;
	}
	b->is_known = true;
	b->is_complete = b->count < BOUNDS_BEST_MOST;
	if (!b->is_complete)
		b->horizon = promise_of(b, t, b->slots[b->count - 1]);
}

void bounds_best_find(struct bounds_best *b, const struct bounds_tree *t, uint32_t first_slot)
{
	bool has_enough = b->is_complete || b->count >= BEST_LEAST;

	if (!b->is_known || b->search.first_slot != first_slot || !has_enough)
		search_anew(b, t, first_slot);
}
