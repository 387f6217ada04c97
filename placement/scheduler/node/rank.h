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
// The boost of one spread for a node's value. The caller has looked up how often the value is used (SPREAD_NO_VALUE:
// the node has none), its bucket, and how many allocations have unlisted values. NaN: the bucket wants none.
#define SPREAD_NO_VALUE INT64_C(-1)
double spread_boost(const struct compiled_spread *, int64_t used, const struct spread_bucket *,
	int64_t unlisted);
const struct spread_bucket *spread_bucket_of(const struct compiled_spread *, const char *value);
// That of values which no other bucket has; NULL: there is none.
const struct spread_bucket *spread_rest(const struct compiled_spread *);
// How many allocations have values that no target names. lowest: takes on the lowest boost that a target gives by now,
// whether or not a node has its value; a value whose target is 0 gets the lowest so far (row A59). NULL: nobody asks.
int64_t spread_unlisted(const struct compiled_spread *, double *lowest);

// Records all scores of the generic stack except those of fit and preemption, which are recorded already.
void stack_rank(struct stack *, const struct group_rules *, const struct stack_request *,
	struct stack_option *);
