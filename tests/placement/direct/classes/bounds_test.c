// Random bounds that change: a search must take all slots in the order of a plain look at each of them.
#include "placement/direct/classes/bounds_best.h"
#include "state/base/prng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define SLOTS_MOST 20000u

struct run {
	struct prng prng;
	double bounds[SLOTS_MOST];
	uint8_t ranks[SLOTS_MOST];
	bool taken[SLOTS_MOST], are_ranked;
	uint32_t slots, first_slot;
	struct bounds_tree tree;
	struct bounds_search search;
};

static double random_bound(struct run *r)
{
	return prng_below(&r->prng, 4) == 0 ? BOUND_NONE
					    : (double)prng_below(&r->prng, 9) / 8 - 0.5;
}

static void choose(struct run *r, uint32_t slot)
{
	r->bounds[slot] = random_bound(r);
	bool is_ranked = r->are_ranked && r->bounds[slot] != BOUND_NONE;
	r->ranks[slot] = is_ranked ? (uint8_t)prng_below(&r->prng, 4) : 0;
}

static void begin(struct run *r, uint32_t slots)
{
	r->are_ranked = prng_below(&r->prng, 2);
	r->slots = slots;
	r->first_slot = slots ? (uint32_t)prng_below(&r->prng, slots) : 0;
	bounds_tree_make_room(&r->tree, slots, r->are_ranked);
	for (uint32_t i = 0; i < slots; i++) {
		choose(r, i);
		r->tree.levels[0][i] = r->bounds[i];
		if (r->are_ranked)
			r->tree.ranks[0][i] = r->ranks[i];
	}
	bounds_tree_find_greatest(&r->tree);
}

static bool goes_before(const struct run *r, uint32_t slot, uint32_t other)
{
	if (r->ranks[slot] != r->ranks[other])
		return r->ranks[slot] > r->ranks[other];
	if (r->bounds[slot] != r->bounds[other])
		return r->bounds[slot] > r->bounds[other];
	return slot - r->first_slot < other - r->first_slot;
}

// UINT32_MAX: none is left.
static uint32_t best_left(const struct run *r)
{
	uint32_t best = UINT32_MAX;
	for (uint32_t i = 0; i < r->slots; i++)
		if (!r->taken[i] && r->bounds[i] != BOUND_NONE &&
			(best == UINT32_MAX || goes_before(r, i, best)))
			best = i;
	return best;
}

// UINT32_MAX: none is left.
static uint32_t take_slot(struct run *r)
{
	while (r->search.count > 0) {
		double bound = r->search.items[0].bound;
		uint32_t first = bounds_search_first(&r->search);
		uint32_t slot = bounds_search_take(&r->search);
		if (slot == BOUNDS_SEARCH_ON)
			continue;
		assert_true(bound == r->bounds[slot]);
		assert_int_equal(first, slot);
		return slot;
	}
	return UINT32_MAX;
}

// Of slots that are among those to be taken.
static void change_bounds_meanwhile(struct run *r)
{
	for (uint32_t i = 0; i < r->slots; i++)
		if (r->bounds[i] != BOUND_NONE && prng_below(&r->prng, 3) == 0) {
			r->bounds[i] = (double)prng_below(&r->prng, 9) / 8 - 0.5;
			bounds_tree_put(&r->tree, i, r->ranks[i], r->bounds[i]);
		}
	bounds_search_renew(&r->search);
}

static void check_search(struct run *r, uint32_t most)
{
	for (uint32_t i = 0; i < r->slots; i++)
		r->taken[i] = false;
	bounds_search_begin(&r->search, &r->tree, r->first_slot);
	for (uint32_t i = 0; i < most; i++) {
		uint32_t wanted = best_left(r);
		assert_int_equal(take_slot(r), wanted);
		if (wanted == UINT32_MAX)
			return;
		r->taken[wanted] = true;
		if (i % 40 == 39)
			change_bounds_meanwhile(r);
	}
}

static void slots_are_taken_in_order(void **state)
{
	static const uint32_t sizes[] = {0, 1, 63, 64, 65, 1000, 4096, 4097, SLOTS_MOST, 90};
	static struct run r;
	prng_seed(&r.prng, 1);
	for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		bounds_tree_release(&r.tree);
		r.tree = (struct bounds_tree){0};
		begin(&r, sizes[i]);
		for (uint32_t round = 0; round < 4; round++) {
			check_search(&r, sizes[i] > 1000 ? 100 : UINT32_MAX);
			for (uint32_t n = 0; n < sizes[i] / 4; n++) {
				uint32_t slot = (uint32_t)prng_below(&r.prng, sizes[i]);
				choose(&r, slot);
				bounds_tree_put(&r.tree, slot, r.ranks[slot], r.bounds[slot]);
			}
		}
	}
	bounds_search_release(&r.search);
	bounds_tree_release(&r.tree);
}

static void check_best(struct run *r, struct bounds_best *best)
{
	bounds_best_find(best, &r->tree, r->first_slot);
	for (uint32_t i = 0; i < r->slots; i++)
		r->taken[i] = false;
	for (uint32_t i = 0; i < best->count; i++) {
		assert_int_equal(best->slots[i], best_left(r));
		r->taken[best->slots[i]] = true;
	}
	assert_true(best->is_complete || best->count >= 8);
	assert_true(!best->is_complete || best_left(r) == UINT32_MAX);
}

// Often of one of the best.
static void change_one(struct run *r, struct bounds_best *best)
{
	bool is_best = best->count > 0 && prng_below(&r->prng, 2);
	uint32_t slot = is_best ? best->slots[prng_below(&r->prng, best->count)]
				: (uint32_t)prng_below(&r->prng, r->slots);

	choose(r, slot);
	bounds_tree_put(&r->tree, slot, r->ranks[slot], r->bounds[slot]);
	bounds_best_follow(best, &r->tree, slot);
}

static void the_best_follow_changes(void **state)
{
	static const uint32_t sizes[] = {1, 7, 16, 17, 40, 90, 1000};
	static struct run r;
	prng_seed(&r.prng, 2);
	for (uint32_t i = 0; i < 3 * sizeof sizes / sizeof sizes[0]; i++) {
		struct bounds_best best = {.count = 0};
		begin(&r, sizes[i / 3]);
		for (uint32_t round = 0; round < 500; round++) {
			for (uint64_t n = prng_below(&r.prng, 6); n > 0; n--)
				change_one(&r, &best);
			if (prng_below(&r.prng, 30) == 0)
				r.first_slot = (uint32_t)prng_below(&r.prng, r.slots);
			check_best(&r, &best);
		}
		bounds_best_release(&best);
		bounds_tree_release(&r.tree);
		r.tree = (struct bounds_tree){0};
	}
	bounds_search_release(&r.search);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(slots_are_taken_in_order),
		cmocka_unit_test(the_best_follow_changes)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
