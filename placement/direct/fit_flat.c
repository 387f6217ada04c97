// Where the fit tree keeps nodes: those of a small fleet one after the other, and in order once there are too many.
#include "placement/direct/fit_tree.h"
#include "placement/direct/fit_tree_private.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <math.h>

// Moving one changed node within a ranking costs about a fiftieth of a search in the order, and as much as a quick look
// at so many nodes.
#define ORDERED_SEARCH_CHANGES 48u
#define FLAT_NODES_PER_CHANGE 128u

#define FLAT_BYTES (FIT_FLAT_MOST / FIT_LEAF_NODES * sizeof(struct fit_flat_block))

void fit_flat_set(struct fit_flat_block *b, uint32_t i, const struct fit_node *n, uint32_t slot)
{
	fit_lane_set(&b->nodes, i, n, slot);
	b->cpu_fraction[i] = (float)n->cpu_free / (float)n->cpu_capacity;
	b->cpu_inverse[i] = 1.0f / (float)n->cpu_capacity;
	b->memory_fraction[i] = (float)n->memory_free / (float)n->memory_capacity;
	b->memory_inverse[i] = 1.0f / (float)n->memory_capacity;
}

static void flat_put(struct fit_tree *t, uint32_t at, uint32_t slot)
{
	struct fit_node *n = &(*t->nodes)[slot];
	fit_flat_set(&t->flat.blocks[at / FIT_LEAF_NODES], at % FIT_LEAF_NODES, n, slot);
	n->place = at;
}

static void flat_insert(struct fit_tree *t, uint32_t slot)
{
	struct fit_flat *f = &t->flat;
	CHECK(f->count < FIT_FLAT_MOST);
	if (!f->blocks) {
		f->blocks = memory_map(FLAT_BYTES);
		CHECK(f->blocks != NULL); // the address space is exhausted
	}
	uint32_t at = f->count++;
	struct fit_flat_block *b = &f->blocks[at / FIT_LEAF_NODES];
	for (uint32_t i = 0; at % FIT_LEAF_NODES == 0 && i < FIT_LEAF_NODES; i++)
		b->nodes.cpu_capacity[i] = b->nodes.memory_capacity[i] = 1; // divided by
	b->nodes.count++;
	flat_put(t, at, slot);
}

static void flat_remove(struct fit_tree *t, uint32_t slot)
{
	struct fit_flat *f = &t->flat;
	uint32_t at = (*t->nodes)[slot].place, last = f->count - 1;
	CHECK(at <= last && f->blocks[at / FIT_LEAF_NODES].nodes.slot[at % FIT_LEAF_NODES] == slot);
	struct fit_flat_block *b = &f->blocks[last / FIT_LEAF_NODES];
	if (at != last)
		flat_put(t, at, b->nodes.slot[last % FIT_LEAF_NODES]);
	b->nodes.count--;
	f->count--;
}

void fit_flat_release(struct fit_tree *t)
{
	if (t->flat.blocks)
		memory_unmap(t->flat.blocks, FLAT_BYTES);
	t->flat = (struct fit_flat){0};
}

static void leave_flat(struct fit_tree *t)
{
	t->is_flat = false;
	for (uint32_t i = 0; i < t->flat.count; i++)
		fit_ordered_insert(
			t, t->flat.blocks[i / FIT_LEAF_NODES].nodes.slot[i % FIT_LEAF_NODES]);
	fit_flat_release(t);
}

void fit_tree_insert(struct fit_tree *t, uint32_t slot)
{
	if (t->is_flat && t->flat.count >= t->flat_most)
		leave_flat(t);
	if (t->is_flat)
		flat_insert(t, slot);
	else
		fit_ordered_insert(t, slot);
}

void fit_tree_remove(struct fit_tree *t, uint32_t slot)
{
	if (t->is_flat)
		flat_remove(t, slot);
	else
		fit_ordered_remove(t, slot);
}

void fit_tree_change(struct fit_tree *t, uint32_t slot, const struct fit_node *after)
{
	struct fit_node *n = &(*t->nodes)[slot];
	uint32_t place = n->place;
	if (t->is_flat) {
		CHECK(place < t->flat.count);
		*n = *after;
		flat_put(t, place, slot);
	} else {
		fit_ordered_remove(t, slot);
		*n = *after;
		fit_ordered_insert(t, slot);
	}
}

bool fit_tree_is_flat(const struct fit_tree *t)
{
	return t->is_flat;
}

uint32_t fit_tree_search_changes(const struct fit_tree *t)
{
	return t->is_flat ? t->flat.count / FLAT_NODES_PER_CHANGE : ORDERED_SEARCH_CHANGES;
}
