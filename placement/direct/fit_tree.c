#include "placement/direct/fit_tree.h"
#include "placement/direct/fit_box.h"
#include "placement/direct/fit_tree_private.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

#define NO_PARENT 0xffffffffu
#define SLOT_BITS 24u // of a key
// Neighbours that together hold no more than this are merged; less than a full block, so that the next insertion does
// not split it again.
#define LEAF_MERGED_MOST 24u
#define BRANCH_MERGED_MOST 12u

// Monotone and below 2^16, with 12 significant bits: near in rank is near in proportion.
static uint32_t log_rank(uint32_t value)
{
	if (value < 4096)
		return value;
	uint32_t shift = 20u - (uint32_t)__builtin_clz(value);
	return (shift << 11) + (value >> shift);
}

// Distance along a Hilbert curve of order 16: what is near on it is near in the plane.
static uint32_t hilbert(uint32_t x, uint32_t y)
{
	uint32_t distance = 0;
	for (uint32_t s = 1u << 15; s > 0; s >>= 1) {
		uint32_t right = (x & s) != 0, up = (y & s) != 0;
		distance = distance << 2 | ((3 * right) ^ up);
		// Rotates the quadrant without a branch: these are random bits.
		uint32_t turn = up - 1u, flip = turn & (0u - right);
		x ^= flip;
		y ^= flip;
		uint32_t swap = (x ^ y) & turn;
		x ^= swap;
		y ^= swap;
	}
	return distance;
}

// Binpack compares absolute free amounts: the best fit has little more free than the ask.
static uint32_t binpack_place(const struct fit_node *n)
{
	return hilbert(log_rank(n->cpu_free), log_rank(n->memory_free));
}

// Spread compares fractions of capacity.
static uint32_t spread_place(const struct fit_node *n)
{
	return hilbert((uint32_t)(n->cpu_free * 65535ull / n->cpu_capacity),
		(uint32_t)(n->memory_free * 65535ull / n->memory_capacity));
}

// Some of the bits of a rank, from the bit `from` down.
static uint64_t digits(uint32_t rank, uint32_t from, uint32_t count)
{
	return rank >> (from + 1 - count) & ((1u << count) - 1);
}

// 40 bits: the coarse place, the capacity, the fine place. Bounds are tight only where nodes are alike in both; with
// either order alone the search visits twice as many blocks. Spread gives capacity more bits, since it alone decides
// among empty nodes; binpack uses the remaining bits to keep nodes of one capacity and use together.
static uint64_t order_of(const struct fit_tree *t, const struct fit_node *n)
{
	uint32_t cpu = log_rank(n->cpu_capacity), memory = log_rank(n->memory_capacity);
	uint64_t kind = digits(cpu, 13, 4) << 4 | digits(memory, 13, 4);
	if (t->algorithm == PLACEMENT_SPREAD) {
		uint32_t place = spread_place(n);
		kind = kind << 12 | digits(cpu, 9, 6) << 6 | digits(memory, 9, 6);
		return digits(place, 31, 8) << 32 | kind << 12 | digits(place, 23, 12);
	}
	uint32_t place = binpack_place(n);
	uint64_t mixed = ((uint64_t)n->cpu_free << 32 | n->memory_free) * 0x9e3779b97f4a7c15ull;
	mixed ^= ((uint64_t)n->cpu_capacity << 32 | n->memory_capacity) * 0xff51afd7ed558ccdull;
	mixed = mixed * 0xc4ceb9fe1a85ec53ull >> 56;
	return digits(place, 31, 8) << 32 | kind << 24 | digits(place, 23, 16) << 8 | mixed;
}

// The order, then the slot, so that no two keys are equal.
static uint64_t key_of(const struct fit_tree *t, const struct fit_node *n, uint32_t slot)
{
	_Static_assert(NODES_MAX <= 1u << SLOT_BITS, "a slot is the lowest bits of a key");
	return order_of(t, n) << SLOT_BITS | slot;
}

static uint32_t leaf_take(struct fit_tree *t, uint32_t parent)
{
	uint32_t id = fit_pool_take(&t->leaves);
	struct fit_leaf *l = leaf_at(t, id);
	memset(l, 0, sizeof *l);
	for (uint32_t i = 0; i < FIT_LEAF_NODES; i++) // unused lanes are divided by, too
		l->cpu_capacity[i] = l->memory_capacity[i] = 1;
	l->parent = parent;
	return id;
}

void fit_lane_set(struct fit_leaf *l, uint32_t i, const struct fit_node *n, uint32_t slot)
{
	l->cpu_free[i] = n->cpu_free;
	l->memory_free[i] = n->memory_free;
	l->disk_free[i] = n->disk_free;
	l->cpu_capacity[i] = n->cpu_capacity;
	l->memory_capacity[i] = n->memory_capacity;
	l->node_class[i] = n->node_class;
	l->slot[i] = slot;
	l->devices_most[i] = (uint8_t)fit_fullest_devices(n);
}

static void leaf_append(struct fit_tree *t, uint32_t id, uint32_t slot)
{
	struct fit_leaf *l = leaf_at(t, id);
	struct fit_node *n = &(*t->nodes)[slot];
	fit_lane_set(l, l->count++, n, slot);
	n->place = id;
}

static void lane_move(struct fit_leaf *to, uint32_t i, const struct fit_leaf *from, uint32_t j)
{
	to->cpu_free[i] = from->cpu_free[j];
	to->memory_free[i] = from->memory_free[j];
	to->disk_free[i] = from->disk_free[j];
	to->cpu_capacity[i] = from->cpu_capacity[j];
	to->memory_capacity[i] = from->memory_capacity[j];
	to->node_class[i] = from->node_class[j];
	to->slot[i] = from->slot[j];
	to->devices_most[i] = from->devices_most[j];
}

// The place of a value that occurs once. Looks at all lanes, without a branch that could be guessed wrong.
static inline uint32_t place_in(
	const uint32_t *column, uint32_t lanes, uint32_t count, uint32_t value)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < lanes; i++)
		at |= ((column[i] == value) & (i < count)) ? i : 0;
	CHECK(at < count && column[at] == value);
	return at;
}

static uint32_t lane_of(const struct fit_leaf *l, uint32_t slot)
{
	return place_in(l->slot, FIT_LEAF_NODES, l->count, slot);
}

static uint32_t branch_take(struct fit_tree *t, uint32_t height, uint32_t parent)
{
	uint32_t id = fit_pool_take(&t->branches);
	struct fit_branch *b = branch_at(t, id);
	memset(b, 0, sizeof *b);
	for (uint32_t i = 0; i < FIT_BRANCH_CHILDREN; i++) { // unused lanes are divided by, too
		b->cpu_capacity_least[i] = b->cpu_capacity_most[i] = 1;
		b->memory_capacity_least[i] = b->memory_capacity_most[i] = 1;
	}
	b->height = height;
	b->parent = parent;
	return id;
}

static uint32_t child_index(const struct fit_branch *b, uint32_t child)
{
	return place_in(b->child, FIT_BRANCH_CHILDREN, b->count, child);
}

static void set_parent(struct fit_tree *t, uint32_t height, uint32_t child, uint32_t parent)
{
	if (height == 0)
		leaf_at(t, child)->parent = parent;
	else
		branch_at(t, child)->parent = parent;
}

static void child_move(struct fit_branch *to, uint32_t i, const struct fit_branch *from, uint32_t j)
{
	struct fit_box x = fit_box_of_child(from, j);
	fit_box_set(to, i, &x);
	to->first_key[i] = from->first_key[j];
	to->child[i] = from->child[j];
}

static void child_insert(struct fit_branch *b, uint32_t at, uint64_t first_key, uint32_t child)
{
	CHECK(b->count < FIT_BRANCH_CHILDREN);
	for (uint32_t i = b->count++; i > at; i--)
		child_move(b, i, b, i - 1);
	b->first_key[at] = first_key;
	b->child[at] = child;
}

static void child_drop(struct fit_branch *b, uint32_t at)
{
	uint64_t first_key = b->first_key[at];
	for (uint32_t i = at + 1; i < b->count; i++)
		child_move(b, i - 1, b, i);
	b->count--;
	b->classes[b->count] = 0; // an unused lane satisfies no search
	if (at == 0 && b->count > 0)
		b->first_key[0] = first_key; // the new first child takes over the key
}

static struct fit_box box_of(const struct fit_tree *t, uint32_t height, uint32_t id)
{
	struct fit_box x;
	if (height > 0)
		return fit_box_of_branch(t->algorithm, branch_at(t, id));
	t->scans->box(leaf_at(t, id), &x);
	return x;
}

bool fit_bounds_are_tight(const struct fit_tree *t, const struct fit_branch *b, uint32_t i)
{
	struct fit_box said = fit_box_of_child(b, i), is = box_of(t, b->height - 1, b->child[i]);
	return fit_box_equal(&said, &is);
}

static struct fit_node lane_node(const struct fit_leaf *l, uint32_t i)
{
	return (struct fit_node){
		.cpu_free = l->cpu_free[i],
		.memory_free = l->memory_free[i],
		.disk_free = l->disk_free[i],
		.cpu_capacity = l->cpu_capacity[i],
		.memory_capacity = l->memory_capacity[i],
		.node_class = l->node_class[i],
		.devices_free = {l->devices_most[i]},
	};
}

struct keyed {
	uint64_t key;
	uint32_t lane;
};

static int compare_keyed(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	return x->key < y->key ? -1 : x->key > y->key;
}

// Where a full leaf is divided: behind the nodes that are like the coming one, if it goes behind them all, else in the
// middle. Nodes that are alike come in the order of their slots, which would leave every leaf half empty.
static uint32_t split_place(const struct keyed *order, uint32_t count, uint64_t coming)
{
	uint64_t alike = coming >> SLOT_BITS;
	uint32_t at = 0;
	while (at < count && order[at].key < coming)
		at++;
	bool goes_last = at > 0 && order[at - 1].key >> SLOT_BITS == alike &&
			 (at == count || order[at].key >> SLOT_BITS != alike);
	if (!goes_last)
		return count / 2;
	return at < count ? at : count - 1;
}

// Moves the upper part to a new leaf; returns it and the first key in it.
static uint32_t leaf_split(struct fit_tree *t, uint32_t id, uint64_t coming, uint64_t *first_key)
{
	struct fit_leaf *l = leaf_at(t, id), old = *l;
	struct keyed order[FIT_LEAF_NODES];
	for (uint32_t i = 0; i < old.count; i++) {
		struct fit_node n = lane_node(&old, i);
		order[i] = (struct keyed){key_of(t, &n, old.slot[i]), i};
	}
	qsort(order, old.count, sizeof order[0], compare_keyed);
	uint32_t at = split_place(order, old.count, coming);
	uint32_t upper = leaf_take(t, old.parent);
	struct fit_leaf *u = leaf_at(t, upper);
	for (uint32_t i = 0; i < old.count; i++)
		if (i < at) {
			lane_move(l, i, &old, order[i].lane);
		} else {
			lane_move(u, i - at, &old, order[i].lane);
			(*t->nodes)[old.slot[order[i].lane]].place = upper;
		}
	l->count = at;
	u->count = old.count - at;
	*first_key = order[at].key;
	return upper;
}

static uint32_t branch_split(struct fit_tree *t, uint32_t id, uint64_t *first_key)
{
	struct fit_branch *b = branch_at(t, id);
	uint32_t upper = branch_take(t, b->height, b->parent), half = b->count / 2;
	struct fit_branch *u = branch_at(t, upper);
	*first_key = b->first_key[half];
	for (uint32_t i = half; i < b->count; i++) {
		child_move(u, i - half, b, i);
		set_parent(t, b->height - 1, b->child[i], upper);
		b->classes[i] = 0;
	}
	u->count = b->count - half;
	b->count = half;
	return upper;
}

static bool is_full(const struct fit_tree *t, uint32_t height, uint32_t id)
{
	return height == 0 ? leaf_at(t, id)->count == FIT_LEAF_NODES
			   : branch_at(t, id)->count == FIT_BRANCH_CHILDREN;
}

static void split_child(struct fit_tree *t, struct fit_branch *b, uint32_t i, uint64_t coming)
{
	uint32_t height = b->height - 1, lower = b->child[i];
	uint64_t first_key;
	uint32_t upper = height == 0 ? leaf_split(t, lower, coming, &first_key)
				     : branch_split(t, lower, &first_key);
	child_insert(b, i + 1, first_key, upper);
	struct fit_box x = box_of(t, height, lower);
	fit_box_set(b, i, &x);
	x = box_of(t, height, upper);
	fit_box_set(b, i + 1, &x);
}

static void grow_root(struct fit_tree *t)
{
	struct fit_box x = box_of(t, t->height, t->root);
	uint32_t root = branch_take(t, t->height + 1, NO_PARENT);
	struct fit_branch *b = branch_at(t, root);
	child_insert(b, 0, 0, t->root);
	fit_box_set(b, 0, &x);
	set_parent(t, t->height, t->root, root);
	t->root = root;
	t->height++;
	CHECK(t->height < FIT_HEIGHT_MAX);
}

static uint32_t child_for(const struct fit_branch *b, uint64_t key)
{
	uint32_t before = 0;
	for (uint32_t i = 1; i < FIT_BRANCH_CHILDREN; i++)
		before += (i < b->count) & (b->first_key[i] <= key);
	return before;
}

void fit_ordered_insert(struct fit_tree *t, uint32_t slot)
{
	const struct fit_node *n = &(*t->nodes)[slot];
	uint64_t key = key_of(t, n, slot);
	struct fit_box own = fit_box_of_node(n, slot);
	// Full blocks are split on the way down, so that there is always room above for the new half.
	if (is_full(t, t->height, t->root))
		grow_root(t);
	uint32_t id = t->root;
	for (uint32_t height = t->height; height > 0; height--) {
		struct fit_branch *b = branch_at(t, id);
		uint32_t i = child_for(b, key);
		if (is_full(t, height - 1, b->child[i])) {
			split_child(t, b, i, key);
			i = child_for(b, key);
		}
		struct fit_box x = fit_box_of_child(b, i);
		fit_box_join(t->algorithm, &x, &own);
		fit_box_set(b, i, &x);
		id = b->child[i];
	}
	leaf_append(t, id, slot);
}

// Recomputes the bounds of a block, then of those above as long as something changes.
static void tighten(struct fit_tree *t, uint32_t height, uint32_t id)
{
	while (height < t->height) {
		uint32_t parent = height == 0 ? leaf_at(t, id)->parent : branch_at(t, id)->parent;
		struct fit_branch *b = branch_at(t, parent);
		uint32_t i = child_index(b, id);
		struct fit_box now = box_of(t, height, id), before = fit_box_of_child(b, i);
		if (fit_box_equal(&now, &before))
			return;
		fit_box_set(b, i, &now);
		id = parent;
		height++;
	}
}

static void leaf_merge(struct fit_tree *t, uint32_t lower, uint32_t upper)
{
	struct fit_leaf *l = leaf_at(t, lower), *u = leaf_at(t, upper);
	for (uint32_t i = 0; i < u->count; i++) {
		(*t->nodes)[u->slot[i]].place = lower;
		lane_move(l, l->count++, u, i);
	}
}

static void branch_merge(struct fit_tree *t, uint32_t lower, uint32_t upper, uint64_t first_key)
{
	struct fit_branch *l = branch_at(t, lower), *u = branch_at(t, upper);
	u->first_key[0] = first_key;
	for (uint32_t i = 0; i < u->count; i++) {
		set_parent(t, u->height - 1, u->child[i], lower);
		child_move(l, l->count++, u, i);
	}
}

static uint32_t count_of(const struct fit_tree *t, uint32_t height, uint32_t id)
{
	return height == 0 ? leaf_at(t, id)->count : branch_at(t, id)->count;
}

static void give_block(struct fit_tree *t, uint32_t height, uint32_t id)
{
	fit_pool_give(height == 0 ? &t->leaves : &t->branches, id);
}

// Merges child i with a neighbour when both together are small. Returns true when it did.
static bool merge_child(struct fit_tree *t, struct fit_branch *b, uint32_t i)
{
	uint32_t height = b->height - 1;
	uint32_t bound = height == 0 ? LEAF_MERGED_MOST : BRANCH_MERGED_MOST;
	uint32_t own = count_of(t, height, b->child[i]);
	for (uint32_t j = i > 0 ? i - 1 : 0; j <= i && j + 1 < b->count; j++) {
		uint32_t lower = b->child[j], upper = b->child[j + 1];
		if (own > bound / 2 ||
			count_of(t, height, lower) + count_of(t, height, upper) > bound)
			continue;
		if (height == 0)
			leaf_merge(t, lower, upper);
		else
			branch_merge(t, lower, upper, b->first_key[j + 1]);
		give_block(t, height, upper);
		child_drop(b, j + 1);
		struct fit_box x = box_of(t, height, lower);
		fit_box_set(b, j, &x);
		return true;
	}
	return false;
}

static void shrink_root(struct fit_tree *t)
{
	while (t->height > 0 && branch_at(t, t->root)->count == 1) {
		uint32_t child = branch_at(t, t->root)->child[0];
		fit_pool_give(&t->branches, t->root);
		t->root = child;
		t->height--;
		set_parent(t, t->height, child, NO_PARENT);
	}
}

// After a block lost something: drops it when empty, merges it when small, else tightens the bounds above.
static void after_removal(struct fit_tree *t, uint32_t id)
{
	for (uint32_t height = 0; height < t->height; height++) {
		uint32_t parent = height == 0 ? leaf_at(t, id)->parent : branch_at(t, id)->parent;
		struct fit_branch *b = branch_at(t, parent);
		uint32_t i = child_index(b, id);
		if (count_of(t, height, id) == 0) {
			child_drop(b, i);
			give_block(t, height, id);
		} else if (!merge_child(t, b, i)) {
			tighten(t, height, id);
			return;
		}
		id = parent;
	}
	shrink_root(t);
	if (t->height > 0 && branch_at(t, t->root)->count == 0) {
		fit_pool_give(&t->branches, t->root);
		t->height = 0;
		t->root = leaf_take(t, NO_PARENT);
	}
}

void fit_ordered_remove(struct fit_tree *t, uint32_t slot)
{
	uint32_t id = (*t->nodes)[slot].place;
	struct fit_leaf *l = leaf_at(t, id);
	uint32_t i = lane_of(l, slot);
	lane_move(l, i, l, --l->count);
	after_removal(t, id);
}

struct fit_tree *fit_tree_create(enum placement_algorithm algorithm, struct fit_node *const *nodes)
{
	struct fit_tree *t = memory_take(sizeof *t);
	t->algorithm = algorithm;
	t->nodes = nodes;
	t->scans = fit_scans_best(algorithm);
	fit_pool_init(&t->leaves, sizeof(struct fit_leaf));
	fit_pool_init(&t->branches, sizeof(struct fit_branch));
	t->root = leaf_take(t, NO_PARENT);
	t->is_flat = true;
	t->flat_most = FIT_FLAT_MOST;
	return t;
}

void fit_tree_destroy(struct fit_tree *t)
{
	if (!t)
		return;
	fit_flat_release(t);
	fit_pool_release(&t->leaves);
	fit_pool_release(&t->branches);
	free(t);
}
