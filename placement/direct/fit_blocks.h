// The blocks of the fit tree: columns side by side, so that one pass of vector instructions looks at all
// nodes of a leaf, or at all children of a branch.
#pragma once
#include "placement/direct/placement.h"
#include <stdint.h>
#include <string.h>

#define FIT_LEAF_NODES 32u
#define FIT_BRANCH_CHILDREN 16u

struct fit_leaf {
	uint32_t cpu_free[FIT_LEAF_NODES];
	uint32_t memory_free[FIT_LEAF_NODES];
	uint32_t disk_free[FIT_LEAF_NODES];
	uint32_t cpu_capacity[FIT_LEAF_NODES]; // at least 1: a divisor
	uint32_t memory_capacity[FIT_LEAF_NODES];
	uint32_t node_class[FIT_LEAF_NODES];
	uint32_t slot[FIT_LEAF_NODES];
	uint8_t devices_most[FIT_LEAF_NODES];
	uint32_t count;
	uint32_t parent; // branch
} __attribute__((aligned(64)));

// Nodes of a small fleet, in no order, and what a quick look at all of them needs in single precision: fractions of the
// capacity that are free, and one over the capacity.
struct fit_flat_block {
	struct fit_leaf nodes;
	float cpu_fraction[FIT_LEAF_NODES], cpu_inverse[FIT_LEAF_NODES];
	float memory_fraction[FIT_LEAF_NODES], memory_inverse[FIT_LEAF_NODES];
};
// The least costs of lanes i and i + 16 of a block, of those that fit; infinite when none does.
#define FIT_FLAT_PAIRS 16u
struct fit_flat_costs {
	float least[FIT_FLAT_PAIRS];
} __attribute__((aligned(64)));

// Bounds over all nodes below each child. Lanes without a child have no classes.
struct fit_branch {
	// Best free fraction of capacity: the least for binpack, the most for spread.
	double cpu_fraction[FIT_BRANCH_CHILDREN];
	double memory_fraction[FIT_BRANCH_CHILDREN];
	uint64_t classes[FIT_BRANCH_CHILDREN]; // bit (class mod 64) of each class that occurs
	uint64_t first_key[FIT_BRANCH_CHILDREN];
	uint32_t cpu_free_least[FIT_BRANCH_CHILDREN], cpu_free_most[FIT_BRANCH_CHILDREN];
	uint32_t memory_free_least[FIT_BRANCH_CHILDREN], memory_free_most[FIT_BRANCH_CHILDREN];
	uint32_t cpu_capacity_least[FIT_BRANCH_CHILDREN], cpu_capacity_most[FIT_BRANCH_CHILDREN];
	uint32_t memory_capacity_least[FIT_BRANCH_CHILDREN],
		memory_capacity_most[FIT_BRANCH_CHILDREN];
	uint32_t disk_free_most[FIT_BRANCH_CHILDREN];
	uint32_t devices_most[FIT_BRANCH_CHILDREN]; // free instances in the fullest group
	uint32_t slot_least[FIT_BRANCH_CHILDREN], slot_most[FIT_BRANCH_CHILDREN];
	uint32_t child[FIT_BRANCH_CHILDREN];
	uint32_t count;
	uint32_t height; // 1: children are leaves
	uint32_t parent; // branch
} __attribute__((aligned(64)));

// What the scans compare with. cost is what is minimised: 10^x + 10^y of the fractions x, y that stay
// free, negated for spread.
struct fit_bounds {
	uint32_t cpu, memory, disk, devices;
	uint64_t classes;
	double cost_most;
};

// leaf and branch return a bit per lane whose node fits (per child below which a node may fit) and whose cost (for a
// child: a lower bound of it) is at most cost_most; cost[] holds it for those lanes. Costs are off by less than
// FIT_SLACK: closer ones need the exact score.
struct fit_box;
struct fit_candidate;
struct fit_scans {
	const char *name;
	void (*box)(const struct fit_leaf *, struct fit_box *); // the bounds of a leaf (fit_box.h)
	uint32_t (*leaf)(
		const struct fit_leaf *, const struct fit_bounds *, double cost[FIT_LEAF_NODES]);
	uint32_t (*branch)(const struct fit_branch *, const struct fit_bounds *,
		double cost[FIT_BRANCH_CHILDREN]);
	// Looks quickly at so many blocks; returns the least cost of all, which is off by less than FIT_FLAT_SLACK.
	float (*quick)(const struct fit_flat_block *, uint32_t count, const struct fit_bounds *,
		struct fit_flat_costs *);
	// The first block from `from` on with a cost of at most `most`; count: there is none.
	uint32_t (*next)(const struct fit_flat_costs *, uint32_t from, uint32_t count, float most);
	// A bit per lane of a block that fits and whose cost, as quick() has it, is at most `most`.
	uint32_t (*near)(const struct fit_flat_block *, const struct fit_bounds *, float most);
	// A bit per lane with the amounts and capacities of the candidate; *behind: with a slot behind its, when slots
	// are counted from first_slot on.
	uint32_t (*alike)(const struct fit_leaf *, const struct fit_candidate *,
		uint32_t first_slot, uint32_t *behind);
};
#define FIT_SLACK 1e-11
#define FIT_FLAT_SLACK 1e-3f

// The scans of an algorithm: the widest that this processor has, or by name ("scalar", "avx2", "avx512"); NULL when
// the processor has none of that name.
const struct fit_scans *fit_scans_best(enum placement_algorithm);
const struct fit_scans *fit_scans_named(enum placement_algorithm, const char *name);
extern const struct fit_scans fit_scans_avx512[]; // by algorithm; only where the processor has it

// 2^f for f in [-0.5, 0.5] by the series of e^(f ln 2); what is left out is below 1e-14.
#define FIT_EXP2_TERMS 12u
static const double fit_exp2_terms[FIT_EXP2_TERMS] = {
	0x1.0000000000000p+0,
	0x1.62e42fefa39efp-1,
	0x1.ebfbdff82c58fp-3,
	0x1.c6b08d704a0c0p-5,
	0x1.3b2ab6fba4e77p-7,
	0x1.5d87fe78a6731p-10,
	0x1.430912f86c787p-13,
	0x1.ffcbfc588b0c7p-17,
	0x1.62c0223a5c824p-20,
	0x1.b5253d395e7c4p-24,
	0x1.e4cf5158b8ecap-28,
	0x1.e8cac7351bb25p-32,
};
// 10^x for x in [0, 1], to within 0.00034: the polynomial of degree 5 whose greatest error is least.
#define FIT_QUICK_TERMS 6u
static const float fit_quick_terms[FIT_QUICK_TERMS] = {
	0x1.ffd3cap-1f,
	0x1.29aeaap+1f,
	0x1.32c42ap+1f,
	0x1.85e1aap+1f,
	-0x1.2b3bb8p-1f,
	0x1.d0f4e2p+0f,
};
static inline __attribute__((always_inline)) float fit_quick_exp10(float x)
{
	float p = fit_quick_terms[FIT_QUICK_TERMS - 1];
	for (int i = (int)FIT_QUICK_TERMS - 2; i >= 0; i--)
		p = p * x + fit_quick_terms[i];
	return p;
}

#define FIT_LOG2_OF_10 0x1.a934f0979a371p+1
// Adding it to a small number rounds that to an integer in the low bits.
#define FIT_ROUNDER 0x1.8p52

// 10^x for x in [-1, 1], to about 1e-14; anything for others.
static inline __attribute__((always_inline)) double fit_exp10(double x)
{
	double y = x * FIT_LOG2_OF_10;
	double rounded = y + FIT_ROUNDER;
	double f = y - (rounded - FIT_ROUNDER);
	double p = fit_exp2_terms[FIT_EXP2_TERMS - 1];
	for (int i = (int)FIT_EXP2_TERMS - 2; i >= 0; i--)
		p = p * f + fit_exp2_terms[i];
	uint64_t bits, exponent;
	memcpy(&bits, &p, sizeof bits);
	memcpy(&exponent, &rounded, sizeof exponent);
	bits += exponent << 52;
	memcpy(&p, &bits, sizeof p);
	return p;
}
