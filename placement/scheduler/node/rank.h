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
// The same, for those who know what they ask of a spread: the number of a node's value among its counts (VALUE_NONE:
// the node has none), its bucket, and how many there are beside the listed values. NaN: the bucket wants none.
const struct spread_bucket *spread_bucket_of(const struct compiled_spread *, const char *value);
int64_t spread_unlisted(const struct compiled_spread *);
double spread_boost(const struct compiled_spread *, uint32_t number, const struct spread_bucket *,
	int64_t unlisted);
// Takes note of how low the boosts of this node's values are: what a value that nobody wants gets. Before
// any node is scored.
void spread_note_lowest(struct group_rules *, const struct node *);

// Everything that the generic stack records and shows, but for fit and preemption, which are there already.
void stack_rank(struct stack *, const struct group_rules *, const struct stack_request *,
	struct stack_option *);
