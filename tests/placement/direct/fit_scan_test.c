// The scans for wide processors must give the plain scan's results.
#include "placement/direct/fit_box.h"
#include "placement/direct/fit_tree.h"
#include "placement/direct/fit_tree_private.h"
#include "state/base/prng.h"
#include "tests/support/core/slowness.h"
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"avx512", "avx2", "scalar"};

static void powers_of_ten_are_close(void **state)
{
	for (uint32_t i = 0; i <= 100000; i++) {
		double x = i / 100000.0;
		assert_true(fabs(fit_exp10(x) - pow(10.0, x)) < FIT_SLACK / 20);
	}
}

static uint32_t below(struct prng *p, uint32_t bound)
{
	return (uint32_t)prng_below(p, bound);
}

static void random_leaf(struct prng *p, struct fit_leaf *l)
{
	memset(l, 0, sizeof *l);
	l->count = below(p, FIT_LEAF_NODES + 1);
	for (uint32_t i = 0; i < FIT_LEAF_NODES; i++) {
		// Large amounts, too: past 2^31 a signed comparison would go wrong.
		l->cpu_capacity[i] = 1 + below(p, below(p, 2) ? 100 : 4000000000u);
		l->memory_capacity[i] = 1 + below(p, below(p, 2) ? 100 : 4000000000u);
		l->cpu_free[i] = below(p, l->cpu_capacity[i] + 1);
		l->memory_free[i] = below(p, l->memory_capacity[i] + 1);
		l->disk_free[i] = below(p, 100);
	}
}

static void random_bounds(struct prng *p, struct fit_bounds *b, bool spread)
{
	uint32_t most = below(p, 2) ? 50 : 3000000000u;
	*b = (struct fit_bounds){below(p, most), below(p, most), below(p, 60), below(p, 3),
		below(p, 4) ? ~0ull : 1ull << below(p, 64), INFINITY};
	if (below(p, 2))
		b->cost_most = (spread ? -20 : 2) + 18 * prng_unit(p);
}

// Lanes may differ only where a cost equals the bound itself.
static void assert_same(
	uint32_t a, uint32_t b, const double *cost_a, const double *cost_b, double cost_most)
{
	for (uint32_t i = 0; i < 32; i++) {
		uint32_t in_a = a >> i & 1, in_b = b >> i & 1;
		if (in_a && in_b)
			assert_true(fabs(cost_a[i] - cost_b[i]) < FIT_SLACK / 2);
		else if (in_a || in_b)
			assert_true(
				fabs((in_a ? cost_a[i] : cost_b[i]) - cost_most) < FIT_SLACK / 2);
	}
}

static void leaves_agree(void **state)
{
	struct prng p;
	prng_seed(&p, 1);
	for (int a = PLACEMENT_BINPACK; a <= PLACEMENT_SPREAD; a++) {
		enum placement_algorithm algorithm = (enum placement_algorithm)a;
		const struct fit_scans *plain = fit_scans_named(algorithm, "scalar");
		assert_non_null(plain);
		for (uint32_t i = 0; i < 20000 / BUILD_SLOWNESS; i++) {
			struct fit_leaf l;
			struct fit_bounds b;
			double cost[FIT_LEAF_NODES], wide_cost[FIT_LEAF_NODES];
			random_leaf(&p, &l);
			random_bounds(&p, &b, a == PLACEMENT_SPREAD);
			uint32_t should = plain->leaf(&l, &b, cost);
			for (uint32_t k = 0; k < 2; k++) {
				const struct fit_scans *wide = fit_scans_named(algorithm, names[k]);
				if (wide)
					assert_same(wide->leaf(&l, &b, wide_cost), should,
						wide_cost, cost, b.cost_most);
			}
		}
	}
}

// Bounds are equal to the bit, and hold for each single node.
static void boxes_agree(void **state)
{
	struct prng p;
	prng_seed(&p, 3);
	for (uint32_t i = 0; i < 20000 / BUILD_SLOWNESS; i++) {
		enum placement_algorithm algorithm = i % 2 ? PLACEMENT_SPREAD : PLACEMENT_BINPACK;
		struct fit_leaf l;
		struct fit_box should = {0};
		do {
			random_leaf(&p, &l);
		} while (l.count == 0);
		for (uint32_t k = 0; k < FIT_LEAF_NODES; k++) {
			l.node_class[k] = below(&p, 200);
			l.slot[k] = below(&p, 1000);
			l.devices_most[k] = (uint8_t)below(&p, 9);
		}
		for (uint32_t k = 0; k < l.count; k++) {
			struct fit_node n = {l.cpu_free[k], l.memory_free[k], l.disk_free[k],
				l.cpu_capacity[k], l.memory_capacity[k], l.node_class[k],
				{0, l.devices_most[k]}};
			struct fit_box one = fit_box_of_node(&n, l.slot[k]);
			if (k == 0)
				should = one;
			fit_box_join(algorithm, &should, &one);
		}
		for (uint32_t k = 0; k < 3; k++) {
			const struct fit_scans *scans = fit_scans_named(algorithm, names[k]);
			struct fit_box is;
			if (!scans)
				continue;
			scans->box(&l, &is);
			assert_true(fit_box_equal(&is, &should));
		}
	}
}

static void every_bit_of_a_box_counts(void **state)
{
	struct fit_box box = {.cpu_fraction = 0.5}, other;
	memcpy(&other, &box, sizeof box);
	assert_true(fit_box_equal(&box, &other));
	for (uint32_t bit = 0; bit < 8 * sizeof box; bit++) {
		((uint8_t *)&other)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(fit_box_equal(&box, &other));
		((uint8_t *)&other)[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

static uint32_t more(struct prng *p, uint32_t than, uint32_t bound)
{
	return than + below(p, bound - than + 1);
}

static void random_branch(struct prng *p, struct fit_branch *n)
{
	memset(n, 0, sizeof *n);
	n->count = 1 + below(p, FIT_BRANCH_CHILDREN);
	for (uint32_t i = 0; i < FIT_BRANCH_CHILDREN; i++) {
		n->cpu_capacity_least[i] = 1 + below(p, 1000);
		n->cpu_capacity_most[i] = more(p, n->cpu_capacity_least[i], 2000);
		n->memory_capacity_least[i] = 1 + below(p, 1000);
		n->memory_capacity_most[i] = more(p, n->memory_capacity_least[i], 2000);
		n->cpu_free_most[i] = below(p, n->cpu_capacity_most[i] + 1);
		n->cpu_free_least[i] = below(p, n->cpu_free_most[i] + 1);
		n->memory_free_most[i] = below(p, n->memory_capacity_most[i] + 1);
		n->memory_free_least[i] = below(p, n->memory_free_most[i] + 1);
		n->cpu_fraction[i] = prng_unit(p);
		n->memory_fraction[i] = prng_unit(p);
		n->disk_free_most[i] = below(p, 100);
		n->devices_most[i] = below(p, 5);
		n->classes[i] = i < n->count ? prng_u64(p) : 0;
	}
}

static void branches_agree(void **state)
{
	struct prng p;
	prng_seed(&p, 2);
	for (int a = PLACEMENT_BINPACK; a <= PLACEMENT_SPREAD; a++) {
		enum placement_algorithm algorithm = (enum placement_algorithm)a;
		const struct fit_scans *plain = fit_scans_named(algorithm, "scalar");
		for (uint32_t i = 0; i < 20000 / BUILD_SLOWNESS; i++) {
			struct fit_branch n;
			struct fit_bounds b;
			double cost[FIT_LEAF_NODES], wide_cost[FIT_LEAF_NODES];
			random_branch(&p, &n);
			random_bounds(&p, &b, a == PLACEMENT_SPREAD);
			b.cpu %= 300;
			b.memory %= 300;
			uint32_t should = plain->branch(&n, &b, cost);
			for (uint32_t k = 0; k < 2; k++) {
				const struct fit_scans *wide = fit_scans_named(algorithm, names[k]);
				if (wide)
					assert_same(wide->branch(&n, &b, wide_cost), should,
						wide_cost, cost, b.cost_most);
			}
		}
	}
}

enum { BLOCKS = 5 };

static void random_blocks(struct prng *p, struct fit_flat_block blocks[])
{
	for (uint32_t k = 0; k < BLOCKS; k++) {
		struct fit_leaf *l = &blocks[k].nodes;
		random_leaf(p, l);
		for (uint32_t i = 0; i < FIT_LEAF_NODES; i++) {
			struct fit_node n = {l->cpu_free[i], l->memory_free[i], l->disk_free[i],
				l->cpu_capacity[i], l->memory_capacity[i]};
			fit_flat_set(&blocks[k], i, &n, i);
		}
	}
}

// The cost of a lane, worked out exactly.
static double exact_cost(enum placement_algorithm algorithm, const struct fit_leaf *l, uint32_t i,
	const struct fit_bounds *b)
{
	if (i >= l->count || l->cpu_free[i] < b->cpu || l->memory_free[i] < b->memory ||
		l->disk_free[i] < b->disk)
		return INFINITY;
	double total = pow(10, ((double)l->cpu_free[i] - b->cpu) / l->cpu_capacity[i]) +
		       pow(10, ((double)l->memory_free[i] - b->memory) / l->memory_capacity[i]);
	return algorithm == PLACEMENT_SPREAD ? -total : total;
}

static void assert_near(double is, double should)
{
	assert_true(is == should || fabs(is - should) < (double)FIT_FLAT_SLACK * 0.8);
}

// A lane of the pair has just this cost, and none is near a cost of which it is far.
static void check_near(const struct fit_scans *scans, const struct fit_flat_block *block,
	const struct fit_bounds *b, uint32_t lane, double cost)
{
	uint32_t pair = 1u << lane | 1u << (lane + FIT_FLAT_PAIRS);
	if (isinf(cost)) {
		assert_int_equal(scans->near(block, b, FLT_MAX) & pair, 0);
		return;
	}
	assert_true(scans->near(block, b, (float)cost) & pair);
	assert_int_equal(scans->near(block, b, (float)cost - FIT_FLAT_SLACK) & pair, 0);
}

static void check_costs(const struct fit_scans *scans, enum placement_algorithm algorithm,
	const struct fit_flat_block blocks[], const struct fit_bounds *b)
{
	struct fit_flat_costs costs[BLOCKS];
	double least = INFINITY;
	double is = (double)scans->quick(blocks, BLOCKS, b, costs);
	for (uint32_t k = 0; k < BLOCKS; k++)
		for (uint32_t i = 0; i < FIT_FLAT_PAIRS; i++) {
			double pair = fmin(exact_cost(algorithm, &blocks[k].nodes, i, b),
				exact_cost(algorithm, &blocks[k].nodes, i + FIT_FLAT_PAIRS, b));
			assert_near((double)costs[k].least[i], pair);
			least = fmin(least, (double)costs[k].least[i]);
			check_near(scans, &blocks[k], b, i, (double)costs[k].least[i]);
			uint32_t next = scans->next(costs, 0, BLOCKS, costs[k].least[i]);
			assert_true(isinf(pair) || next <= k);
		}
	assert_true(is == least);
	assert_int_equal(scans->next(costs, 0, BLOCKS, -1000), BLOCKS);
	if (!isinf(least))
		assert_true(scans->next(costs, 0, BLOCKS, (float)least) < BLOCKS);
}

static void quick_looks_see_every_cost(void **state)
{
	static struct fit_flat_block blocks[BLOCKS];
	struct prng p;
	prng_seed(&p, 4);
	for (uint32_t i = 0; i < 20000 / BUILD_SLOWNESS; i++) {
		enum placement_algorithm algorithm = i % 2 ? PLACEMENT_SPREAD : PLACEMENT_BINPACK;
		struct fit_bounds b;
		random_blocks(&p, blocks);
		random_bounds(&p, &b, i % 2);
		for (uint32_t k = 0; k < 3; k++) {
			const struct fit_scans *scans = fit_scans_named(algorithm, names[k]);
			if (scans)
				check_costs(scans, algorithm, blocks, &b);
		}
	}
}

static void alike_lanes_are_told(void **state)
{
	struct prng p;
	prng_seed(&p, 5);
	for (uint32_t i = 0; i < 20000 / BUILD_SLOWNESS; i++) {
		struct fit_leaf l = {.count = below(&p, FIT_LEAF_NODES + 1)};
		struct fit_candidate c = {0, 0, below(&p, 60), below(&p, 2), below(&p, 2),
			1 + below(&p, 2), 1 + below(&p, 2)};
		uint32_t first = below(&p, 60), alike = 0, behind = 0;
		for (uint32_t k = 0; k < FIT_LEAF_NODES; k++) {
			l.cpu_free[k] = below(&p, 2);
			l.memory_free[k] = below(&p, 2);
			l.cpu_capacity[k] = 1 + below(&p, 2);
			l.memory_capacity[k] = 1 + below(&p, 2);
			l.slot[k] = below(&p, 60);
			if (k >= l.count)
				continue;
			alike |= (uint32_t)(l.cpu_free[k] == c.cpu_free &&
					    l.memory_free[k] == c.memory_free &&
					    l.cpu_capacity[k] == c.cpu_capacity &&
					    l.memory_capacity[k] == c.memory_capacity)
				 << k;
			behind |= (uint32_t)((l.slot[k] + 60 - first) % 60 >
					     (c.slot + 60 - first) % 60)
				  << k;
		}
		for (uint32_t k = 0; k < 3; k++) {
			const struct fit_scans *scans = fit_scans_named(i % 2, names[k]);
			uint32_t is_behind;
			if (!scans)
				continue;
			assert_int_equal(scans->alike(&l, &c, first, &is_behind), alike);
			assert_int_equal(is_behind, behind);
		}
	}
}

static void unknown_scans_are_not_there(void **state)
{
	assert_null(fit_scans_named(PLACEMENT_BINPACK, "mmx"));
	assert_non_null(fit_scans_best(PLACEMENT_SPREAD));
	for (uint32_t k = 0; k < 3; k++)
		printf("%s: %s\n", names[k],
			fit_scans_named(PLACEMENT_BINPACK, names[k]) ? "tested" : "not here");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(powers_of_ten_are_close),
		cmocka_unit_test(leaves_agree),
		cmocka_unit_test(branches_agree),
		cmocka_unit_test(boxes_agree),
		cmocka_unit_test(every_bit_of_a_box_counts),
		cmocka_unit_test(quick_looks_see_every_cost),
		cmocka_unit_test(alike_lanes_are_told),
		cmocka_unit_test(unknown_scans_are_not_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
