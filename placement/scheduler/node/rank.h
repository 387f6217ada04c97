// How good a node is beside its fit, for the schedulers that choose (rows A57–A59).
#pragma once
#include "placement/scheduler/common/snapshot_tier.h"
#include "placement/scheduler/node/stack_option.h"
#include "placement/scheduler/node/stack_state.h"

// Allocations of the job, and of the same group of it, that a node will hold.
struct neighbours {
	uint32_t of_job, of_group;
};
struct neighbours stack_neighbours(const struct stack *, const struct group_rules *, uint32_t slot);

// 0: nothing to record.
double anti_affinity_score(const struct group_rules *, uint32_t of_group);
double affinity_score(const struct group_rules *, const struct node *);
// Where the node stands by the snapshot that the group names, which must be one (row E32).
enum snapshot_tier stack_snapshot_tier(
	const struct stack *, const struct group_rules *, const struct node *);
double spread_score(const struct group_rules *, const struct node *);
// The boost of one spread, for callers that have looked up the number of a node's value among its counts (VALUE_NONE:
// the node has none), the bucket of the value, and how many allocations are beside the listed values. NaN: the bucket
// wants none.
const struct spread_bucket *spread_bucket_of(const struct compiled_spread *, const char *value);
int64_t spread_unlisted(const struct compiled_spread *);
double spread_boost(const struct compiled_spread *, uint32_t number, const struct spread_bucket *,
	int64_t unlisted);
// Lowers the lowest boost to those of this node's values; a value that no bucket wants gets the lowest. Called for all
// nodes before any node is scored.
void spread_note_lowest(struct group_rules *, const struct node *);

// Records all scores of the generic stack except fit and preemption, which are recorded already.
void stack_rank(struct stack *, const struct group_rules *, const struct stack_request *,
	struct stack_option *);
