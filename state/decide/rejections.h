// Nodes that reject plans again and again: something is wrong with such a node that schedulers do not see, so after a
// while it takes no more work until an operator looks at it. These counts are not part of the state; the conclusion
// is. Applier thread.
#pragma once
#include "state/base/uuid.h"
#include <stdbool.h>
#include <stdint.h>

struct rejection_settings {
	uint32_t threshold; // rejections within the window; 0: none are counted
	int64_t window_ns;
};

struct rejections;

struct rejections *rejections_create(const struct rejection_settings *);
void rejections_free(struct rejections *); // NULL is allowed
// Counts one rejection. True when the node is to take no more work: at most 10 nodes at once, and 5 more every half
// hour, so that a mistake of ours does not empty the fleet.
bool rejections_add(struct rejections *, const struct uuid *node, int64_t now_ns);
