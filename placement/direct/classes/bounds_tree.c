#include "placement/direct/classes/bounds_tree.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdbool.h>
#include <stdlib.h>

void bounds_tree_make_room(struct bounds_tree *t, uint32_t slots)
{
	uint32_t count = slots;

	t->level_count = 0;
	do {
		CHECK(t->level_count < BOUND_LEVELS);
		double **level = &t->levels[t->level_count];
		*level = memory_resize(*level, (count + 1) * sizeof **level);
		t->counts[t->level_count++] = count;
		if (count <= BOUNDS_A_STEP)
			return;
		count = (count + BOUNDS_A_STEP - 1) / BOUNDS_A_STEP;
	} while (true);
}

static void find_greatest(struct bounds_tree *t, uint32_t level, uint32_t at)
{
	uint32_t from = at * BOUNDS_A_STEP, to = from + BOUNDS_A_STEP;
	double greatest = BOUND_NONE;

	to = to < t->counts[level - 1] ? to : t->counts[level - 1];
	for (uint32_t i = from; i < to; i++)
		greatest = t->levels[level - 1][i] > greatest ? t->levels[level - 1][i] : greatest;
	t->levels[level][at] = greatest;
}

void bounds_tree_find_greatest(struct bounds_tree *t)
{
	for (uint32_t level = 1; level < t->level_count; level++)
		for (uint32_t at = 0; at < t->counts[level]; at++)
			find_greatest(t, level, at);
}

void bounds_tree_put(struct bounds_tree *t, uint32_t slot, double bound)
{
	CHECK(slot < t->counts[0]);
	t->levels[0][slot] = bound;
	for (uint32_t level = 1, at = slot; level < t->level_count; level++) {
		at /= BOUNDS_A_STEP;
		find_greatest(t, level, at);
	}
}

void bounds_tree_release(struct bounds_tree *t)
{
	for (uint32_t i = 0; i < BOUND_LEVELS; i++)
		free(t->levels[i]);
}
