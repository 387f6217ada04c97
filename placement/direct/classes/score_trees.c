#include "placement/direct/classes/score_trees.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct tree_scores none = {BOUND_NONE, 0};

static void release_trees(struct score_trees *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		for (uint32_t level = 1; level < BOUND_LEVELS; level++)
			free(t->items[i].levels[level]);
	t->count = 0;
}

void score_trees_release(struct score_trees *t)
{
	release_trees(t);
	free(t->items);
	free(t->scores);
	free(t->tree_of);
}

void score_trees_begin(struct score_trees *t, uint32_t slots)
{
	uint32_t count = slots;

	release_trees(t);
	t->scores = memory_resize(t->scores, (slots + 1) * sizeof t->scores[0]);
	t->tree_of = memory_resize(t->tree_of, (slots + 1) * sizeof t->tree_of[0]);
	memset(t->tree_of, 0, (slots + 1) * sizeof t->tree_of[0]);
	t->counts[0] = slots;
	for (t->level_count = 1; count > BOUNDS_A_STEP; t->level_count++) {
		CHECK(t->level_count < BOUND_LEVELS);
		count = (count + BOUNDS_A_STEP - 1) / BOUNDS_A_STEP;
		t->counts[t->level_count] = count;
	}
}

static uint32_t add_tree(struct score_trees *t, const struct score_tree *where)
{
	if (t->count == t->room) {
		t->room = t->room ? 2 * t->room : 4;
		t->items = memory_resize(t->items, t->room * sizeof t->items[0]);
	}
	struct score_tree *tree = &t->items[t->count++];
	*tree = (struct score_tree){
		.group = where->group, .scores = where->scores, .tier = where->tier};
	for (uint32_t level = 1; level < t->level_count; level++) {
		tree->levels[level] =
			memory_take_array(t->counts[level], sizeof tree->levels[level][0]);
		for (uint32_t at = 0; at < t->counts[level]; at++)
			tree->levels[level][at] = none;
	}
	CHECK(t->count < UINT16_MAX);
	return t->count;
}

// Counted from 1.
static uint32_t find_tree(struct score_trees *t, const struct score_tree *where)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (t->items[i].group == where->group && t->items[i].scores == where->scores &&
			t->items[i].tier == where->tier)
			return i + 1;
	return add_tree(t, where);
}

struct tree_scores score_trees_most(
	const struct score_trees *t, const struct score_tree *tree, uint32_t level, uint32_t at)
{
	CHECK(level < t->level_count && at < t->counts[level]);
	if (level > 0)
		return tree->levels[level][at];
	return t->tree_of[at] == tree - t->items + 1 ? t->scores[at] : none;
}

// Returns whether there was less.
static bool raise_to(struct tree_scores *most, struct tree_scores to)
{
	bool is_less = most->sum < to.sum || most->victims < to.victims;

	most->sum = most->sum < to.sum ? to.sum : most->sum;
	most->victims = most->victims < to.victims ? to.victims : most->victims;
	return is_less;
}

static void find_most(struct score_trees *t, struct score_tree *tree, uint32_t level, uint32_t at)
{
	uint32_t from = at * BOUNDS_A_STEP, to = from + BOUNDS_A_STEP;
	struct tree_scores most = none;

	to = to < t->counts[level - 1] ? to : t->counts[level - 1];
	for (uint32_t i = from; i < to; i++)
		(void)raise_to(&most, score_trees_most(t, tree, level - 1, i));
	tree->levels[level][at] = most;
}

static void take_out(struct score_trees *t, uint32_t slot)
{
	struct score_tree *tree = &t->items[t->tree_of[slot] - 1];

	t->tree_of[slot] = 0;
	for (uint32_t level = 1, at = slot; level < t->level_count; level++) {
		at /= BOUNDS_A_STEP;
		find_most(t, tree, level, at);
	}
}

void score_trees_put(struct score_trees *t, uint32_t slot, const struct score_tree *where,
	struct tree_scores scores)
{
	CHECK(slot < t->counts[0]);
	if (t->tree_of[slot])
		take_out(t, slot);
	if (!where)
		return;
	uint32_t number = find_tree(t, where), at = slot;
	t->tree_of[slot] = (uint16_t)number;
	t->scores[slot] = scores;
	for (uint32_t level = 1; level < t->level_count; level++) {
		at /= BOUNDS_A_STEP;
		if (!raise_to(&t->items[number - 1].levels[level][at], scores))
			break;
	}
}
