#include "placement/direct/classes/bounds_tree.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdbool.h>
#include <stdlib.h>

void bounds_tree_make_room(struct bounds_tree *t, uint32_t slots, bool are_ranked)
{
	uint32_t count = slots;

	t->level_count = 0;
	do {
		CHECK(t->level_count < BOUND_LEVELS);
		double **level = &t->levels[t->level_count];
		*level = memory_resize(*level, (count + 1) * sizeof **level);
		if (are_ranked)
			t->ranks[t->level_count] =
				memory_resize(t->ranks[t->level_count], count + 1);
		t->counts[t->level_count++] = count;
		if (count <= BOUNDS_A_STEP)
			return;
		count = (count + BOUNDS_A_STEP - 1) / BOUNDS_A_STEP;
	} while (true);
}

// Slots where no instance will do have rank 0.
static bool is_greater(const struct bounds_tree *t, uint32_t level, uint32_t at, uint32_t than)
{
	uint8_t rank = bounds_tree_rank(t, level, at), other = bounds_tree_rank(t, level, than);

	return rank != other ? rank > other : t->levels[level][at] > t->levels[level][than];
}

static void find_greatest(struct bounds_tree *t, uint32_t level, uint32_t at)
{
	uint32_t from = at * BOUNDS_A_STEP, to = from + BOUNDS_A_STEP, best = from;

	to = to < t->counts[level - 1] ? to : t->counts[level - 1];
	for (uint32_t i = from + 1; i < to; i++)
		best = is_greater(t, level - 1, i, best) ? i : best;
	t->levels[level][at] = t->levels[level - 1][best];
	if (t->ranks[level])
		t->ranks[level][at] = t->ranks[level - 1][best];
}

void bounds_tree_find_greatest(struct bounds_tree *t)
{
	for (uint32_t level = 1; level < t->level_count; level++)
		for (uint32_t at = 0; at < t->counts[level]; at++)
			find_greatest(t, level, at);
}

void bounds_tree_put(struct bounds_tree *t, uint32_t slot, uint8_t rank, double bound)
{
	CHECK(slot < t->counts[0] && (rank == 0 || t->ranks[0]));
	t->levels[0][slot] = bound;
	if (t->ranks[0])
		t->ranks[0][slot] = rank;
	for (uint32_t level = 1, at = slot; level < t->level_count; level++) {
		at /= BOUNDS_A_STEP;
		find_greatest(t, level, at);
	}
}

void bounds_tree_release(struct bounds_tree *t)
{
	for (uint32_t i = 0; i < BOUND_LEVELS; i++) {
		free(t->levels[i]);
		free(t->ranks[i]);
	}
}
