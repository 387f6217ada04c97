// Evaluations that wait for room (rows B47–B51, docs/spec/evaluations.md). Thread-safe. What is to run again is given
// to the broker.
//
// One waits per job, and of system and sysbatch jobs one per job and node. What waits for a node is woken by that
// node alone: room elsewhere is of no use to it, and a fleet that is full would otherwise run all of its evaluations
// again whenever one allocation ends.
#pragma once
#include "placement/broker/broker.h"

struct blocked;

struct blocked *blocked_create(struct broker *, const struct time_source *);
void blocked_destroy(struct blocked *);
// Disabled: everything is forgotten. Created disabled.
void blocked_set_enabled(struct blocked *, bool);

// A copy is kept. token: of the delivery in which it was reblocked, 0 otherwise.
void blocked_add(struct blocked *, const struct evaluation *, uint64_t token);
// One like it waits already: for the same version of the same job, on the same node. A scheduler that runs again
// finds all the nodes full that were full before, and nothing is gained by storing thousands of evaluations anew.
bool blocked_has_equal(struct blocked *, const struct evaluation *);
// Room came: on nodes of this computed class ("v1:…"), or on these nodes (system and sysbatch evaluations).
void blocked_unblock_class(struct blocked *, const char *computed_class, uint64_t index);
void blocked_unblock_nodes(
	struct blocked *, const struct uuid *nodes, uint32_t count, uint64_t index);
void blocked_unblock_quota(struct blocked *, const char *quota, uint64_t index);
// Those made by plan conflicts (trigger max-plan-attempts); every minute.
void blocked_unblock_failed(struct blocked *);
void blocked_untrack(struct blocked *, const char *namespace_name, const char *job_id);
// It ended otherwise (canceled, collected).
void blocked_forget(struct blocked *, const struct uuid *);
// Drops what is known of unblocks older than 15 minutes.
void blocked_prune(struct blocked *);
// Evaluations that lost against another blocked one of their job (B48): to be canceled. Caller frees.
uint32_t blocked_take_duplicates(struct blocked *, struct evaluation **, uint32_t count);

struct blocked_stats {
	uint32_t blocked, escaped, quota_limited;
	// What they lacked where they were turned away.
	int64_t cpu, memory_mb;
};
void blocked_stats(struct blocked *, struct blocked_stats *);
