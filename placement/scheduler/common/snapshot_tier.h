// Ranks nodes for a task group that names a snapshot (row E32): first idle nodes that ran it last, then idle nodes
// that ran none, then idle nodes that ran another, and only then nodes that run something. A tier comes before any
// score.
#pragma once
#include "state/base/check.h"
#include <stdbool.h>
#include <string.h>

enum snapshot_tier { SNAPSHOT_BUSY, SNAPSHOT_OTHER, SNAPSHOT_NONE, SNAPSHOT_SAME, SNAPSHOT_TIERS };

// wanted: the group's snapshot, not empty. last: the node's, "" for none. idle: nothing is on the node.
static inline enum snapshot_tier snapshot_tier(const char *wanted, const char *last, bool idle)
{
	CHECK(wanted[0]);
	if (!idle)
		return SNAPSHOT_BUSY;
	if (!last || !last[0])
		return SNAPSHOT_NONE;
	return strcmp(wanted, last) == 0 ? SNAPSHOT_SAME : SNAPSHOT_OTHER;
}

// The tier as a score of the node.
static inline double snapshot_tier_score(enum snapshot_tier tier)
{
	static const double scores[SNAPSHOT_TIERS] = {0, 0.25, 0.5, 1};
	CHECK(tier < SNAPSHOT_TIERS);
	return scores[tier];
}
