// Upper bounds of the scores of a fleet's nodes, by slot, and the greatest of each 64 of them, of each 64 of those, …:
// the most promising node is found in a few steps. A rank may come before the scores.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define BOUNDS_A_STEP 64u
#define BOUND_LEVELS 5u
// No instance will do there.
#define BOUND_NONE (-1e300)

struct bounds_tree {
	double *levels[BOUND_LEVELS]; // [0]: by slot
	uint8_t *ranks[BOUND_LEVELS]; // likewise; NULL: nodes have none
	uint32_t counts[BOUND_LEVELS];
	uint32_t level_count; // the last has at most BOUNDS_A_STEP
};

// Room for the bounds of so many slots, which the caller then writes into levels[0], and ranks[0] if they are ranked.
void bounds_tree_make_room(struct bounds_tree *, uint32_t slots, bool are_ranked);
// Finds the greatest of them all.
void bounds_tree_find_greatest(struct bounds_tree *);
void bounds_tree_put(struct bounds_tree *, uint32_t slot, uint8_t rank, double bound);
static inline uint8_t bounds_tree_rank(const struct bounds_tree *t, uint32_t level, uint32_t at)
{
	return t->ranks[level] ? t->ranks[level][at] : 0;
}
void bounds_tree_release(struct bounds_tree *);
