// Amounts of cpu (MHz shares), memory (MB), disk (MB) and device instances.
#pragma once
#include "state/base/limits.h"
#include "state/base/schema.h"
#include <stdbool.h>
#include <stdint.h>

struct resources {
	uint32_t cpu_mhz;
	uint32_t memory_mb;
	uint32_t disk_mb;
};

extern const struct record_type resources_description;

// Instances of each of a node's device groups, one bit each, in the order of node_class.devices.
struct device_set {
	uint64_t groups[NODE_DEVICE_GROUPS_MAX];
};

static inline bool device_set_is_empty(const struct device_set *set)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		any |= set->groups[i];
	return any == 0;
}

static inline void device_set_add(struct device_set *to, const struct device_set *more)
{
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		to->groups[i] |= more->groups[i];
}

static inline bool device_set_is_equal(const struct device_set *a, const struct device_set *b)
{
	uint64_t differs = 0;

	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		differs |= a->groups[i] ^ b->groups[i];
	return differs == 0;
}

static inline bool resources_are_none(struct resources r)
{
	return r.cpu_mhz == 0 && r.memory_mb == 0 && r.disk_mb == 0;
}

static inline bool resources_are_equal(struct resources a, struct resources b)
{
	return a.cpu_mhz == b.cpu_mhz && a.memory_mb == b.memory_mb && a.disk_mb == b.disk_mb;
}

static inline bool resources_fit(struct resources ask, struct resources free)
{
	return ask.cpu_mhz <= free.cpu_mhz && ask.memory_mb <= free.memory_mb &&
	       ask.disk_mb <= free.disk_mb;
}

// Whether a + b fits in every dimension.
bool resources_add_up(struct resources a, struct resources b);
// a - b per dimension, at least 0.
struct resources resources_minus(struct resources a, struct resources b);
// a + b; CHECKs that no dimension overflows.
struct resources resources_plus(struct resources a, struct resources b);
