// A node as the fit tree and its index see it.
#pragma once
#include "state/base/limits.h"
#include <stdint.h>

// What the search knows of a node. Packed: there is one for each slot.
struct fit_node {
	uint32_t cpu_free, memory_free, disk_free;
	uint32_t cpu_capacity, memory_capacity;
	uint32_t node_class;
	uint8_t devices_free[NODE_DEVICE_GROUPS_MAX];
	uint32_t place; // leaf, or fit_index's mark of a node in no leaf
};
