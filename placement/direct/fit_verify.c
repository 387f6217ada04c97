// Checks a fit tree against its nodes; used by tests.
#include "placement/direct/fit_tree.h"
#include "placement/direct/fit_tree_private.h"

struct walk {
	const struct fit_tree *tree;
	uint32_t nodes;
	const char *broken;
};

static void broken(struct walk *w, const char *what)
{
	if (!w->broken)
		w->broken = what;
}

static bool holds(const struct fit_tree *t, const struct fit_branch *b, uint32_t i,
	const struct fit_node *n, uint32_t slot)
{
	double x = (double)n->cpu_free / n->cpu_capacity;
	double y = (double)n->memory_free / n->memory_capacity;
	bool least = t->algorithm == PLACEMENT_BINPACK;
	uint32_t devices = 0;
	for (uint32_t d = 0; d < NODE_DEVICE_GROUPS_MAX; d++)
		if (n->devices_free[d] > devices)
			devices = n->devices_free[d];
	return (least ? b->cpu_fraction[i] <= x : b->cpu_fraction[i] >= x) &&
	       (least ? b->memory_fraction[i] <= y : b->memory_fraction[i] >= y) &&
	       (b->classes[i] >> (n->node_class & 63) & 1) && b->cpu_free_least[i] <= n->cpu_free &&
	       b->cpu_free_most[i] >= n->cpu_free && b->memory_free_least[i] <= n->memory_free &&
	       b->memory_free_most[i] >= n->memory_free &&
	       b->cpu_capacity_least[i] <= n->cpu_capacity &&
	       b->cpu_capacity_most[i] >= n->cpu_capacity &&
	       b->memory_capacity_least[i] <= n->memory_capacity &&
	       b->memory_capacity_most[i] >= n->memory_capacity &&
	       b->disk_free_most[i] >= n->disk_free && b->devices_most[i] >= devices &&
	       b->slot_least[i] <= slot && b->slot_most[i] >= slot;
}

// A node must be inside the bounds of every block above it.
static void check_bounds(struct walk *w, uint32_t leaf, const struct fit_node *n, uint32_t slot)
{
	uint32_t child = leaf, parent = leaf_at(w->tree, leaf)->parent;
	for (uint32_t height = 0; height < w->tree->height; height++) {
		const struct fit_branch *b = branch_at(w->tree, parent);
		uint32_t i = 0;
		while (i < b->count && b->child[i] != child)
			i++;
		if (i == b->count) {
			broken(w, "a block's parent does not know it");
			return;
		}
		if (!holds(w->tree, b, i, n, slot))
			broken(w, "a node is outside the bounds above it");
		child = parent;
		parent = b->parent;
	}
	if (child != w->tree->root)
		broken(w, "a path does not end at the root");
}

static void check_lane(struct walk *w, const struct fit_leaf *l, uint32_t i)
{
	const struct fit_node *n = &(*w->tree->nodes)[l->slot[i]];
	if (n->cpu_free != l->cpu_free[i] || n->memory_free != l->memory_free[i] ||
		n->disk_free != l->disk_free[i] || n->cpu_capacity != l->cpu_capacity[i] ||
		n->memory_capacity != l->memory_capacity[i] || n->node_class != l->node_class[i])
		broken(w, "a leaf's columns differ from the node");
}

static void walk_leaf(struct walk *w, uint32_t leaf)
{
	const struct fit_leaf *l = leaf_at(w->tree, leaf);
	if (l->count == 0 && w->tree->height > 0)
		broken(w, "an empty leaf");
	for (uint32_t i = 0; i < l->count; i++) {
		const struct fit_node *n = &(*w->tree->nodes)[l->slot[i]];
		if (n->place != leaf)
			broken(w, "a node does not know its leaf");
		check_lane(w, l, i);
		check_bounds(w, leaf, n, l->slot[i]);
		w->nodes++;
	}
}

static void walk_block(struct walk *w, uint32_t height, uint32_t block)
{
	if (height == 0) {
		walk_leaf(w, block);
		return;
	}
	const struct fit_branch *b = branch_at(w->tree, block);
	if (b->count == 0 || b->height != height)
		broken(w, "an empty branch, or one of the wrong height");
	for (uint32_t i = 0; i < FIT_BRANCH_CHILDREN; i++)
		if (i >= b->count && b->classes[i] != 0)
			broken(w, "an unused lane that a search would enter");
	for (uint32_t i = 1; i < b->count; i++)
		if (i > 1 && b->first_key[i] <= b->first_key[i - 1])
			broken(w, "children out of order");
	for (uint32_t i = 0; i < b->count; i++)
		if (!fit_bounds_are_tight(w->tree, b, i))
			broken(w, "bounds that are wider than they need be");
	for (uint32_t i = 0; i < b->count; i++)
		walk_block(w, height - 1, b->child[i]);
}

static void check_columns(
	struct walk *w, const struct fit_flat_block *b, uint32_t i, uint32_t place)
{
	uint32_t slot = b->nodes.slot[i];
	const struct fit_node *n = &(*w->tree->nodes)[slot];
	struct fit_flat_block should;
	fit_flat_set(&should, i, n, slot);
	if (n->place != place)
		broken(w, "a node does not know its place");
	if (b->cpu_fraction[i] != should.cpu_fraction[i] ||
		b->cpu_inverse[i] != should.cpu_inverse[i] ||
		b->memory_fraction[i] != should.memory_fraction[i] ||
		b->memory_inverse[i] != should.memory_inverse[i])
		broken(w, "the columns of the quick look differ from the node");
}

static void walk_flat(struct walk *w)
{
	const struct fit_flat *f = &w->tree->flat;
	for (uint32_t at = 0; at < fit_flat_blocks(f) * FIT_LEAF_NODES; at++) {
		const struct fit_flat_block *b = &f->blocks[at / FIT_LEAF_NODES];
		uint32_t i = at % FIT_LEAF_NODES;
		if ((at < f->count) != (i < b->nodes.count))
			broken(w, "a block does not know how many nodes it has");
		if (at >= f->count)
			continue;
		check_lane(w, &b->nodes, i);
		check_columns(w, b, i, at);
		w->nodes++;
	}
}

const char *fit_tree_verify(const struct fit_tree *t, uint32_t *nodes)
{
	struct walk w = {.tree = t};
	if (t->is_flat)
		walk_flat(&w);
	else
		walk_block(&w, t->height, t->root);
	*nodes = w.nodes;
	return w.broken;
}
