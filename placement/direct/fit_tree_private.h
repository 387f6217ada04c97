// Shared by the files of the fit tree: fit_tree.c changes it, fit_search.c searches it.
#pragma once
#include "placement/direct/fit_blocks.h"
#include "placement/direct/fit_node.h"
#include "placement/direct/fit_pool.h"

// 16 children a branch, at least half full when split: 12 levels hold far more than NODES_MAX.
#define FIT_HEIGHT_MAX 16u

struct fit_tree {
	enum placement_algorithm algorithm;
	const struct fit_scans *scans;
	struct fit_node *const *nodes;
	struct fit_pool leaves, branches;
	uint32_t root;
	uint32_t height; // 0: the root is a leaf
};

static inline struct fit_leaf *leaf_at(const struct fit_tree *t, uint32_t leaf)
{
	return fit_pool_at(&t->leaves, leaf);
}

static inline struct fit_branch *branch_at(const struct fit_tree *t, uint32_t branch)
{
	return fit_pool_at(&t->branches, branch);
}

// Whether a branch's bounds of its child i equal the child's own.
bool fit_bounds_are_tight(const struct fit_tree *, const struct fit_branch *, uint32_t i);
