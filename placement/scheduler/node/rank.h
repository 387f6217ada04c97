// Scores of a node besides its fit, for schedulers that choose among nodes (rows A57–A59).
#pragma once
#include "placement/scheduler/common/snapshot_tier.h"
#include "placement/scheduler/node/stack_option.h"
#include "placement/scheduler/node/stack_state.h"

// 0: there is no score to record.
double anti_affinity_score(const struct group_rules *, uint32_t of_group);
double affinity_score(const struct group_rules *, const struct node *);
// The node's tier for the snapshot that the group names; the group must name one (row E32).
enum snapshot_tier stack_snapshot_tier(
	const struct stack *, const struct group_rules *, const struct node *);
double spread_score(const struct group_rules *, const struct node *);
// The boost of one spread for a node's value. The caller has looked up the value's number among the counts
// (VALUE_NONE: the node has no value), its bucket, and how many allocations have unlisted values. NaN: the bucket
// wants none.
const struct spread_bucket *spread_bucket_of(const struct compiled_spread *, const char *value);
int64_t spread_unlisted(const struct compiled_spread *);
double spread_boost(const struct compiled_spread *, uint32_t number, const struct spread_bucket *,
	int64_t unlisted);
// Lowers the lowest boost to the boosts of this node's values; a value that no bucket wants gets the lowest. Call it
// for all nodes before any node is scored.
void spread_note_lowest(struct group_rules *, const struct node *);

// Records all scores of the generic stack except those of fit and preemption, which are recorded already.
void stack_rank(struct stack *, const struct group_rules *, const struct stack_request *,
	struct stack_option *);
