// The scores of a fleet's nodes, by slot, in trees: each holds the nodes of one class group whose scores are equally
// many and that are in one tier, and knows the greatest of each 64 of its slots, of each 64 of those, …. What a spread
// adds to a score is the same for such nodes, so it is added when a bound is read.
#pragma once
#include "placement/direct/classes/bounds_tree.h"

struct victim_scores {
	double sum;     // of all but what victims say; BOUND_NONE: of no node
	double victims; // 0: there are none
};

struct victim_tree {
	uint32_t group;
	uint8_t scores, tier;                       // how many a node has without a spread
	struct victim_scores *levels[BOUND_LEVELS]; // the greatest of each, apart; [0]: not used
};

struct victim_trees {
	struct victim_scores *scores; // by slot
	uint16_t *tree_of;            // by slot, counted from 1; 0: none
	uint32_t counts[BOUND_LEVELS];
	uint32_t level_count; // the last has at most BOUNDS_A_STEP
	struct victim_tree *items;
	uint32_t count, room;
};

// Begins anew, without nodes.
void victim_trees_begin(struct victim_trees *, uint32_t slots);
void victim_trees_release(struct victim_trees *);
// where: group, scores and tier; NULL: the node is in none.
void victim_trees_put(struct victim_trees *, uint32_t slot, const struct victim_tree *where,
	struct victim_scores);
// At least what each node below the place has.
struct victim_scores victim_trees_most(
	const struct victim_trees *, const struct victim_tree *, uint32_t level, uint32_t at);
