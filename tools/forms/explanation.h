// Why instances of a task group run where they do, or nowhere: every reason, the number of nodes it holds for, and the
// node that comes closest to passing. The schedulers' own checks decide.
#pragma once
#include "placement/scheduler/common/view.h"

enum reason_kind {
	REASON_NODE,      // the node takes no allocations, or none of this job
	REASON_FILTERED,  // the group may not run there
	REASON_EXHAUSTED, // the node has too little left
};
extern const char *const reason_kind_names[]; // "node" "filtered" "exhausted"

struct reason {
	int kind; // enum reason_kind
	char *text;
	uint32_t nodes;
	uint64_t lack;       // the least amount that a node lacks; 0: no matter of amounts
	const char *unit;    // of lack: "MHz", "MiB"
	struct uuid nearest; // the node that lacks so little
	char *nearest_name;
};

struct group_explanation {
	const char *group;
	struct resources ask;   // of one instance
	uint32_t nodes;         // visited
	uint32_t running;       // of nodes: run an instance
	uint32_t fitting;       // of nodes: can take one more
	const char *snapshot;   // that the group names; NULL: none
	uint32_t tiers[4];      // with a snapshot: of fitting, by enum snapshot_tier
	struct reason *reasons; // most nodes first
	uint32_t reason_count, reason_capacity;
};

// The standing of a node that is not healthy, and why: "suspended: it is flaky".
const char *explain_standing(const struct standing *);
// Explains over the nodes in slots first … last-1. The view stays open; job must be derived.
void explain_group(const struct scheduler_view *, const struct job *, uint32_t group,
	uint32_t first, uint32_t last, struct group_explanation *);
void group_explanation_free(struct group_explanation *);
