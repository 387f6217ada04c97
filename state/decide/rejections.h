// Nodes that reject plans again and again: something is wrong with them that schedulers do not see, so
// after a while they take no more work until an operator looks at them. Not part of the state: what is
// concluded is. Applier thread.
#pragma once
#include "state/base/uuid.h"
#include <stdbool.h>
#include <stdint.h>

struct rejection_settings {
	uint32_t threshold; // rejections within the window; 0: nobody counts
	int64_t window_ns;
};

struct rejections;

struct rejections *rejections_create(const struct rejection_settings *);
void rejections_free(struct rejections *); // NULL is allowed
// Counts one. True when the node is to take no more work: at most 10 nodes at once, and 5 more every
// half an hour, so that a mistake of ours does not empty the fleet.
bool rejections_add(struct rejections *, const struct uuid *node, int64_t now_ns);
