// Shared by the files of the fit tree: fit_tree.c keeps nodes in order, fit_flat.c those of a small fleet without, and
// fit_search.c searches both.
#pragma once
#include "placement/direct/fit_blocks.h"
#include "placement/direct/fit_node.h"
#include "placement/direct/fit_pool.h"

// 16 children a branch, at least half full when split: 12 levels hold far more than NODES_MAX.
#define FIT_HEIGHT_MAX 16u

// A fleet of at most so many nodes is looked at whole: that takes less than keeping a tree up to date.
#define FIT_FLAT_MOST 2048u

struct fit_flat {
	struct fit_flat_block *blocks; // NULL until there are nodes
	uint32_t count;                // nodes; they fill the blocks from the first on
};

struct fit_tree {
	enum placement_algorithm algorithm;
	const struct fit_scans *scans;
	struct fit_node *const *nodes;
	struct fit_pool leaves, branches;
	uint32_t root;
	uint32_t height; // 0: the root is a leaf
	// Nodes are in blocks of no order, and the tree has none. Never again once there were too many.
	bool is_flat;
	struct fit_flat flat;
	uint32_t flat_most;
};

static inline struct fit_leaf *leaf_at(const struct fit_tree *t, uint32_t leaf)
{
	return fit_pool_at(&t->leaves, leaf);
}

static inline struct fit_branch *branch_at(const struct fit_tree *t, uint32_t branch)
{
	return fit_pool_at(&t->branches, branch);
}

// Writes a node into the columns of a leaf.
void fit_lane_set(struct fit_leaf *, uint32_t lane, const struct fit_node *, uint32_t slot);

static inline uint32_t fit_flat_blocks(const struct fit_flat *f)
{
	return (f->count + FIT_LEAF_NODES - 1) / FIT_LEAF_NODES;
}
// Writes a node into a lane of a block.
void fit_flat_set(struct fit_flat_block *, uint32_t lane, const struct fit_node *, uint32_t slot);
void fit_flat_release(struct fit_tree *);

// Of a tree that is not flat.
void fit_ordered_insert(struct fit_tree *, uint32_t slot);
void fit_ordered_remove(struct fit_tree *, uint32_t slot);

// Whether a branch's bounds of its child i equal the child's own.
bool fit_bounds_are_tight(const struct fit_tree *, const struct fit_branch *, uint32_t i);
