#include "placement/direct/fit_box.h"
#include "placement/direct/fit_tree.h"
#include <math.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE double least(double a, double b)
{
	return a < b ? a : b;
}
ALWAYS_INLINE double most(double a, double b)
{
	return a > b ? a : b;
}

// For loops over all lanes, which the compiler can vectorise; how many of them are in use is looked at behind.
ALWAYS_INLINE uint32_t lane_bit(uint32_t lane, uint32_t is_set)
{
	return (0u - is_set) & 1u << lane;
}
ALWAYS_INLINE uint32_t lanes_until(uint32_t count)
{
	return count == 0 ? 0 : UINT32_MAX >> (32 - count);
}

ALWAYS_INLINE uint32_t scan_leaf(const struct fit_leaf *l, const struct fit_bounds *b,
	double cost[FIT_LEAF_NODES], double sign)
{
	for (uint32_t i = 0; i < FIT_LEAF_NODES; i++) {
		double x = ((double)l->cpu_free[i] - b->cpu) / l->cpu_capacity[i];
		double y = ((double)l->memory_free[i] - b->memory) / l->memory_capacity[i];
		cost[i] = sign * (fit_exp10(x) + fit_exp10(y));
	}
	uint32_t found = 0;
	for (uint32_t i = 0; i < FIT_LEAF_NODES; i++) {
		uint32_t fits = (l->cpu_free[i] >= b->cpu) & (l->memory_free[i] >= b->memory) &
				(l->disk_free[i] >= b->disk) & (cost[i] <= b->cost_most);
		found |= lane_bit(i, fits);
	}
	return found & lanes_until(l->count);
}

// The best fraction that a node below a child can keep free. Two bounds hold, one tight when the child's
// nodes have one capacity, one tight when they have much the same free amount.
ALWAYS_INLINE double fraction_bound(double fraction, double ask, double free_least,
	double free_most, double capacity_least, double capacity_most, bool spread)
{
	if (spread)
		return least(1.0,
			least(fraction - ask / capacity_most, (free_most - ask) / capacity_least));
	return most(0.0, most(fraction - ask / capacity_least, (free_least - ask) / capacity_most));
}

ALWAYS_INLINE uint32_t scan_branch(const struct fit_branch *n, const struct fit_bounds *b,
	double cost[FIT_BRANCH_CHILDREN], bool spread)
{
	for (uint32_t i = 0; i < FIT_BRANCH_CHILDREN; i++) {
		double x = fraction_bound(n->cpu_fraction[i], b->cpu, n->cpu_free_least[i],
			n->cpu_free_most[i], n->cpu_capacity_least[i], n->cpu_capacity_most[i],
			spread);
		double y = fraction_bound(n->memory_fraction[i], b->memory, n->memory_free_least[i],
			n->memory_free_most[i], n->memory_capacity_least[i],
			n->memory_capacity_most[i], spread);
		double total = fit_exp10(x) + fit_exp10(y);
		cost[i] = spread ? -total : total;
	}
	uint32_t found = 0;
	for (uint32_t i = 0; i < FIT_BRANCH_CHILDREN; i++) {
		uint32_t may =
			(n->cpu_free_most[i] >= b->cpu) & (n->memory_free_most[i] >= b->memory) &
			(n->disk_free_most[i] >= b->disk) & (n->devices_most[i] >= b->devices) &
			((n->classes[i] & b->classes) != 0) & (cost[i] <= b->cost_most);
		found |= lane_bit(i, may);
	}
	return found & lanes_until(n->count);
}

ALWAYS_INLINE float least_float(float a, float b)
{
	return a < b ? a : b;
}

// Of all lanes. Here and below each loop is one that gcc vectorises: without branches, over numbers of one size, and
// not unrolled before it is looked at, as loops of up to 16 rounds are.
ALWAYS_INLINE void quick_costs(const struct fit_flat_block *n, const struct fit_bounds b,
	float cost[FIT_LEAF_NODES], bool spread)
{
	float cpu = (float)b.cpu, memory = (float)b.memory, sign = spread ? -1.0f : 1.0f;
	for (uint32_t i = 0; i < FIT_LEAF_NODES; i++) {
		float x = n->cpu_fraction[i] - cpu * n->cpu_inverse[i];
		float y = n->memory_fraction[i] - memory * n->memory_inverse[i];
		cost[i] = sign * (fit_quick_exp10(x) + fit_quick_exp10(y));
	}
	for (uint32_t i = 0; i < FIT_LEAF_NODES; i++) {
		uint32_t lacks = (n->nodes.cpu_free[i] < b.cpu) |
				 (n->nodes.memory_free[i] < b.memory) |
				 (n->nodes.disk_free[i] < b.disk) | (i >= n->nodes.count);
		cost[i] = lacks ? INFINITY : cost[i];
	}
}

ALWAYS_INLINE float scan_quickly(const struct fit_flat_block *blocks, uint32_t count,
	const struct fit_bounds *b, struct fit_flat_costs *costs, bool spread)
{
	float all[FIT_FLAT_PAIRS], best = INFINITY;
	for (uint32_t i = 0; i < FIT_FLAT_PAIRS; i++)
		all[i] = INFINITY;
	for (uint32_t at = 0; at < count; at++) {
		float cost[FIT_LEAF_NODES];
		quick_costs(&blocks[at], *b, cost, spread);
#pragma GCC unroll 1
		for (uint32_t i = 0; i < FIT_FLAT_PAIRS; i++) {
			float both = least_float(cost[i], cost[i + FIT_FLAT_PAIRS]);
			costs[at].least[i] = both;
			all[i] = least_float(all[i], both);
		}
	}
	for (uint32_t i = 0; i < FIT_FLAT_PAIRS; i++)
		best = least_float(all[i], best);
	return best;
}

ALWAYS_INLINE uint32_t next_block(
	const struct fit_flat_costs *costs, uint32_t from, uint32_t count, float most_cost)
{
	for (; from < count; from++) {
		uint32_t any = 0;
#pragma GCC unroll 1
		for (uint32_t i = 0; i < FIT_FLAT_PAIRS; i++)
			any |= costs[from].least[i] <= most_cost;
		if (any)
			return from;
	}
	return count;
}

ALWAYS_INLINE uint32_t near_lanes(
	const struct fit_flat_block *n, const struct fit_bounds *b, float most_cost, bool spread)
{
	float cost[FIT_LEAF_NODES];
	uint32_t found = 0;
	quick_costs(n, *b, cost, spread);
	for (uint32_t i = 0; i < FIT_LEAF_NODES; i++)
		found |= lane_bit(i, cost[i] <= most_cost);
	return found;
}

ALWAYS_INLINE uint32_t scan_alike(const struct fit_leaf *l, const struct fit_candidate *c,
	uint32_t first_slot, uint32_t *behind)
{
	uint32_t found = 0, after = 0;
	for (uint32_t i = 0; i < FIT_LEAF_NODES; i++) {
		uint32_t is_alike = (l->cpu_free[i] == c->cpu_free) &
				    (l->memory_free[i] == c->memory_free) &
				    (l->cpu_capacity[i] == c->cpu_capacity) &
				    (l->memory_capacity[i] == c->memory_capacity);
		uint32_t is_behind = l->slot[i] - first_slot > c->slot - first_slot;
		found |= lane_bit(i, is_alike);
		after |= lane_bit(i, is_behind);
	}
	*behind = after & lanes_until(l->count);
	return found & lanes_until(l->count);
}

// One body, compiled for two processors.
#define SCANS(suffix, attributes)                                                                  \
	attributes static void box_binpack_##suffix(const struct fit_leaf *l, struct fit_box *x)   \
	{                                                                                          \
		fit_box_of_leaf_plain(l, x, false);                                                \
	}                                                                                          \
	attributes static void box_spread_##suffix(const struct fit_leaf *l, struct fit_box *x)    \
	{                                                                                          \
		fit_box_of_leaf_plain(l, x, true);                                                 \
	}                                                                                          \
	attributes static uint32_t leaf_binpack_##suffix(                                          \
		const struct fit_leaf *l, const struct fit_bounds *b, double cost[FIT_LEAF_NODES]) \
	{                                                                                          \
		return scan_leaf(l, b, cost, 1.0);                                                 \
	}                                                                                          \
	attributes static uint32_t leaf_spread_##suffix(                                           \
		const struct fit_leaf *l, const struct fit_bounds *b, double cost[FIT_LEAF_NODES]) \
	{                                                                                          \
		return scan_leaf(l, b, cost, -1.0);                                                \
	}                                                                                          \
	attributes static uint32_t branch_binpack_##suffix(const struct fit_branch *n,             \
		const struct fit_bounds *b, double cost[FIT_BRANCH_CHILDREN])                      \
	{                                                                                          \
		return scan_branch(n, b, cost, false);                                             \
	}                                                                                          \
	attributes static uint32_t branch_spread_##suffix(const struct fit_branch *n,              \
		const struct fit_bounds *b, double cost[FIT_BRANCH_CHILDREN])                      \
	{                                                                                          \
		return scan_branch(n, b, cost, true);                                              \
	}                                                                                          \
	attributes static float quick_binpack_##suffix(const struct fit_flat_block *blocks,        \
		uint32_t count, const struct fit_bounds *b, struct fit_flat_costs *costs)          \
	{                                                                                          \
		return scan_quickly(blocks, count, b, costs, false);                               \
	}                                                                                          \
	attributes static float quick_spread_##suffix(const struct fit_flat_block *blocks,         \
		uint32_t count, const struct fit_bounds *b, struct fit_flat_costs *costs)          \
	{                                                                                          \
		return scan_quickly(blocks, count, b, costs, true);                                \
	}                                                                                          \
	attributes static uint32_t next_##suffix(const struct fit_flat_costs *costs,               \
		uint32_t from, uint32_t count, float most_cost)                                    \
	{                                                                                          \
		return next_block(costs, from, count, most_cost);                                  \
	}                                                                                          \
	attributes static uint32_t near_binpack_##suffix(                                          \
		const struct fit_flat_block *n, const struct fit_bounds *b, float most_cost)       \
	{                                                                                          \
		return near_lanes(n, b, most_cost, false);                                         \
	}                                                                                          \
	attributes static uint32_t near_spread_##suffix(                                           \
		const struct fit_flat_block *n, const struct fit_bounds *b, float most_cost)       \
	{                                                                                          \
		return near_lanes(n, b, most_cost, true);                                          \
	}                                                                                          \
	attributes static uint32_t alike_##suffix(const struct fit_leaf *l,                        \
		const struct fit_candidate *c, uint32_t first_slot, uint32_t *behind)              \
	{                                                                                          \
		return scan_alike(l, c, first_slot, behind);                                       \
	}

SCANS(scalar, )

static const struct fit_scans scalar_scans[] = {
	[PLACEMENT_BINPACK] = {"scalar", box_binpack_scalar, leaf_binpack_scalar,
		branch_binpack_scalar, quick_binpack_scalar, next_scalar, near_binpack_scalar,
		alike_scalar},
	[PLACEMENT_SPREAD] = {"scalar", box_spread_scalar, leaf_spread_scalar, branch_spread_scalar,
		quick_spread_scalar, next_scalar, near_spread_scalar, alike_scalar},
};

#ifdef __x86_64__
SCANS(avx2, __attribute__((target("avx2,fma"))))

static const struct fit_scans avx2_scans[] = {
	[PLACEMENT_BINPACK] = {"avx2", box_binpack_avx2, leaf_binpack_avx2, branch_binpack_avx2,
		quick_binpack_avx2, next_avx2, near_binpack_avx2, alike_avx2},
	[PLACEMENT_SPREAD] = {"avx2", box_spread_avx2, leaf_spread_avx2, branch_spread_avx2,
		quick_spread_avx2, next_avx2, near_spread_avx2, alike_avx2},
};

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512dq");
}
#endif

static bool has_always(void)
{
	return true;
}

// The widest first.
static const struct {
	const struct fit_scans *scans; // by algorithm
	bool (*present)(void);
} kinds[] = {
#ifdef __x86_64__
	{fit_scans_avx512, has_avx512},
	{avx2_scans, has_avx2},
#endif
	{scalar_scans, has_always},
};

const struct fit_scans *fit_scans_named(enum placement_algorithm algorithm, const char *name)
{
	for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (kinds[i].present() && (!name || strcmp(kinds[i].scans->name, name) == 0))
			return &kinds[i].scans[algorithm];
	return NULL;
}

const struct fit_scans *fit_scans_best(enum placement_algorithm algorithm)
{
	return fit_scans_named(algorithm, NULL);
}
