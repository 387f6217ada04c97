// The scores of a fleet's nodes, by slot, in trees: each holds the nodes of one class group whose scores are equally
// many and that are in one tier, and knows the greatest of each 64 of its slots, of each 64 of those, …. What a spread
// adds to a score is the same for such nodes, so it is added when a bound is read.
#pragma once
#include "placement/direct/classes/bounds_tree.h"

struct tree_scores {
	double sum;     // of all but what victims say; BOUND_NONE: of no node
	double victims; // 0: there are none
};

struct score_tree {
	uint32_t group;
	uint8_t scores, tier;                     // how many a node has without a spread
	struct tree_scores *levels[BOUND_LEVELS]; // the greatest of each, apart; [0]: not used
};

struct score_trees {
	struct tree_scores *scores; // by slot
	uint16_t *tree_of;          // by slot, counted from 1; 0: none
	uint32_t counts[BOUND_LEVELS];
	uint32_t level_count; // the last has at most BOUNDS_A_STEP
	struct score_tree *items;
	uint32_t count, room;
};

// Begins anew, without nodes.
void score_trees_begin(struct score_trees *, uint32_t slots);
void score_trees_release(struct score_trees *);
// where: group, scores and tier; NULL: the node is in none.
void score_trees_put(
	struct score_trees *, uint32_t slot, const struct score_tree *where, struct tree_scores);
// At least what each node below the place has.
struct tree_scores score_trees_most(
	const struct score_trees *, const struct score_tree *, uint32_t level, uint32_t at);
