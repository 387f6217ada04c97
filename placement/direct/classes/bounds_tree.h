// Upper bounds of the scores of a fleet's nodes, by slot, and the greatest of each 64 of them, of each 64 of those, …:
// the most promising node is found in a few steps.
#pragma once
#include <stdint.h>

#define BOUNDS_A_STEP 64u
#define BOUND_LEVELS 5u
// No instance will do there.
#define BOUND_NONE (-1e300)

struct bounds_tree {
	double *levels[BOUND_LEVELS]; // [0]: by slot
	uint32_t counts[BOUND_LEVELS];
	uint32_t level_count; // the last has at most BOUNDS_A_STEP
};

// Room for the bounds of so many slots, which the caller then writes into levels[0].
void bounds_tree_make_room(struct bounds_tree *, uint32_t slots);
// Finds the greatest of them all.
void bounds_tree_find_greatest(struct bounds_tree *);
void bounds_tree_put(struct bounds_tree *, uint32_t slot, double bound);
void bounds_tree_release(struct bounds_tree *);
