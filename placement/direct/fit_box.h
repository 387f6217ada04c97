// Bounds over some nodes of everything that fit and score depend on. Inline: half of an update's cost is here.
#pragma once
#include "placement/direct/fit_blocks.h"
#include "placement/direct/fit_node.h"
#include <stddef.h>
#include <string.h>

struct fit_box {
	double cpu_fraction, memory_fraction;
	uint64_t classes;
	uint32_t cpu_free_least, cpu_free_most, memory_free_least, memory_free_most;
	uint32_t cpu_capacity_least, cpu_capacity_most, memory_capacity_least, memory_capacity_most;
	uint32_t disk_free_most, devices_most, slot_least, slot_most;
};

#define FIT_BOX_WORDS (sizeof(struct fit_box) / sizeof(uint64_t))
_Static_assert(offsetof(struct fit_box, slot_most) + sizeof(uint32_t) == sizeof(struct fit_box),
	"a box has no padding");

static inline uint32_t fit_least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}
static inline uint32_t fit_most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}
static inline double fit_better(enum placement_algorithm algorithm, double a, double b)
{
	return (algorithm == PLACEMENT_BINPACK) == (a < b) ? a : b;
}

static inline uint32_t fit_fullest_devices(const struct fit_node *n)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		count = fit_most(count, n->devices_free[i]);
	return count;
}

static inline struct fit_box fit_box_of_node(const struct fit_node *n, uint32_t slot)
{
	return (struct fit_box){
		.cpu_fraction = (double)n->cpu_free / n->cpu_capacity,
		.memory_fraction = (double)n->memory_free / n->memory_capacity,
		.classes = 1ull << (n->node_class & 63),
		.cpu_free_least = n->cpu_free,
		.cpu_free_most = n->cpu_free,
		.memory_free_least = n->memory_free,
		.memory_free_most = n->memory_free,
		.cpu_capacity_least = n->cpu_capacity,
		.cpu_capacity_most = n->cpu_capacity,
		.memory_capacity_least = n->memory_capacity,
		.memory_capacity_most = n->memory_capacity,
		.disk_free_most = n->disk_free,
		.devices_most = fit_fullest_devices(n),
		.slot_least = slot,
		.slot_most = slot,
	};
}

static inline struct fit_box fit_box_of_child(const struct fit_branch *b, uint32_t i)
{
	return (struct fit_box){
		b->cpu_fraction[i],
		b->memory_fraction[i],
		b->classes[i],
		b->cpu_free_least[i],
		b->cpu_free_most[i],
		b->memory_free_least[i],
		b->memory_free_most[i],
		b->cpu_capacity_least[i],
		b->cpu_capacity_most[i],
		b->memory_capacity_least[i],
		b->memory_capacity_most[i],
		b->disk_free_most[i],
		b->devices_most[i],
		b->slot_least[i],
		b->slot_most[i],
	};
}

static inline void fit_box_set(struct fit_branch *b, uint32_t i, const struct fit_box *x)
{
	b->cpu_fraction[i] = x->cpu_fraction;
	b->memory_fraction[i] = x->memory_fraction;
	b->classes[i] = x->classes;
	b->cpu_free_least[i] = x->cpu_free_least;
	b->cpu_free_most[i] = x->cpu_free_most;
	b->memory_free_least[i] = x->memory_free_least;
	b->memory_free_most[i] = x->memory_free_most;
	b->cpu_capacity_least[i] = x->cpu_capacity_least;
	b->cpu_capacity_most[i] = x->cpu_capacity_most;
	b->memory_capacity_least[i] = x->memory_capacity_least;
	b->memory_capacity_most[i] = x->memory_capacity_most;
	b->disk_free_most[i] = x->disk_free_most;
	b->devices_most[i] = x->devices_most;
	b->slot_least[i] = x->slot_least;
	b->slot_most[i] = x->slot_most;
}

static inline void fit_box_join(
	enum placement_algorithm algorithm, struct fit_box *x, const struct fit_box *y)
{
	x->cpu_fraction = fit_better(algorithm, x->cpu_fraction, y->cpu_fraction);
	x->memory_fraction = fit_better(algorithm, x->memory_fraction, y->memory_fraction);
	x->classes |= y->classes;
	x->cpu_free_least = fit_least(x->cpu_free_least, y->cpu_free_least);
	x->cpu_free_most = fit_most(x->cpu_free_most, y->cpu_free_most);
	x->memory_free_least = fit_least(x->memory_free_least, y->memory_free_least);
	x->memory_free_most = fit_most(x->memory_free_most, y->memory_free_most);
	x->cpu_capacity_least = fit_least(x->cpu_capacity_least, y->cpu_capacity_least);
	x->cpu_capacity_most = fit_most(x->cpu_capacity_most, y->cpu_capacity_most);
	x->memory_capacity_least = fit_least(x->memory_capacity_least, y->memory_capacity_least);
	x->memory_capacity_most = fit_most(x->memory_capacity_most, y->memory_capacity_most);
	x->disk_free_most = fit_most(x->disk_free_most, y->disk_free_most);
	x->devices_most = fit_most(x->devices_most, y->devices_most);
	x->slot_least = fit_least(x->slot_least, y->slot_least);
	x->slot_most = fit_most(x->slot_most, y->slot_most);
}

static inline bool fit_box_equal(const struct fit_box *x, const struct fit_box *y)
{
	// Too short for a call of memcmp().
	uint64_t a[FIT_BOX_WORDS], b[FIT_BOX_WORDS], differ = 0;
	memcpy(a, x, sizeof a);
	memcpy(b, y, sizeof b);
	for (uint32_t i = 0; i < FIT_BOX_WORDS; i++)
		differ |= a[i] ^ b[i];
	return differ == 0;
}

// The bounds of a non-empty leaf, column by column, so that the compiler can vectorise.
static inline __attribute__((always_inline)) void fit_box_of_leaf_plain(
	const struct fit_leaf *l, struct fit_box *x, bool spread)
{
	struct fit_box all = {
		.cpu_free_least = UINT32_MAX,
		.memory_free_least = UINT32_MAX,
		.cpu_capacity_least = UINT32_MAX,
		.memory_capacity_least = UINT32_MAX,
		.slot_least = UINT32_MAX,
	};
	// Fractions are not negative, so their bits are ordered as they are.
	uint64_t cpu_fraction = spread ? 0 : UINT64_MAX, memory_fraction = cpu_fraction;
	for (uint32_t i = 0; i < FIT_LEAF_NODES; i++) {
		uint32_t in = i < l->count ? UINT32_MAX : 0, out = ~in;
		all.cpu_free_least = fit_least(all.cpu_free_least, l->cpu_free[i] | out);
		all.cpu_free_most = fit_most(all.cpu_free_most, l->cpu_free[i] & in);
		all.memory_free_least = fit_least(all.memory_free_least, l->memory_free[i] | out);
		all.memory_free_most = fit_most(all.memory_free_most, l->memory_free[i] & in);
		all.cpu_capacity_least =
			fit_least(all.cpu_capacity_least, l->cpu_capacity[i] | out);
		all.cpu_capacity_most = fit_most(all.cpu_capacity_most, l->cpu_capacity[i] & in);
		all.memory_capacity_least =
			fit_least(all.memory_capacity_least, l->memory_capacity[i] | out);
		all.memory_capacity_most =
			fit_most(all.memory_capacity_most, l->memory_capacity[i] & in);
		all.disk_free_most = fit_most(all.disk_free_most, l->disk_free[i] & in);
		all.devices_most = fit_most(all.devices_most, l->devices_most[i] & in);
		all.slot_least = fit_least(all.slot_least, l->slot[i] | out);
		all.slot_most = fit_most(all.slot_most, l->slot[i] & in);
	}
	for (uint32_t i = 0; i < FIT_LEAF_NODES; i++) {
		uint64_t in = i < l->count ? UINT64_MAX : 0, cpu, memory;
		double x_fraction = (double)l->cpu_free[i] / l->cpu_capacity[i];
		double y_fraction = (double)l->memory_free[i] / l->memory_capacity[i];
		memcpy(&cpu, &x_fraction, sizeof cpu);
		memcpy(&memory, &y_fraction, sizeof memory);
		all.classes |= 1ull << (l->node_class[i] & 63) & in;
		if (spread) {
			cpu_fraction = (cpu & in) > cpu_fraction ? (cpu & in) : cpu_fraction;
			memory_fraction =
				(memory & in) > memory_fraction ? (memory & in) : memory_fraction;
		} else {
			cpu_fraction = (cpu | ~in) < cpu_fraction ? (cpu | ~in) : cpu_fraction;
			memory_fraction =
				(memory | ~in) < memory_fraction ? (memory | ~in) : memory_fraction;
		}
	}
	memcpy(&all.cpu_fraction, &cpu_fraction, sizeof cpu_fraction);
	memcpy(&all.memory_fraction, &memory_fraction, sizeof memory_fraction);
	*x = all;
}

static inline struct fit_box fit_box_of_branch(
	enum placement_algorithm algorithm, const struct fit_branch *b)
{
	struct fit_box all = fit_box_of_child(b, 0);
	for (uint32_t i = 1; i < b->count; i++) {
		struct fit_box one = fit_box_of_child(b, i);
		fit_box_join(algorithm, &all, &one);
	}
	return all;
}
