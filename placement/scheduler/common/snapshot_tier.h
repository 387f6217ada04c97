// Ranks nodes for a task group that names a snapshot (row E32): first idle nodes that ran it last, then idle nodes
// that ran none, then all others. A tier comes before any score.
#pragma once
#include "state/base/check.h"
#include <stdbool.h>
#include <string.h>

enum snapshot_tier { SNAPSHOT_OTHER, SNAPSHOT_NONE, SNAPSHOT_SAME };

// wanted: the group's snapshot, not empty. last: the node's, "" for none. idle: nothing is on the node.
static inline enum snapshot_tier snapshot_tier(const char *wanted, const char *last, bool idle)
{
	CHECK(wanted[0]);
	if (!idle)
		return SNAPSHOT_OTHER;
	if (!last || !last[0])
		return SNAPSHOT_NONE;
	return strcmp(wanted, last) == 0 ? SNAPSHOT_SAME : SNAPSHOT_OTHER;
}

// The tier as a score of the node: 0, a half, 1.
static inline double snapshot_tier_score(enum snapshot_tier tier)
{
	CHECK(tier <= SNAPSHOT_SAME);
	return (double)tier / 2;
}
