// Evaluations that wait for room (rows B47–B51, docs/spec/evaluations.md). Thread-safe. An unblocked evaluation goes
// to the broker.
//
// One evaluation waits per job; of system and sysbatch jobs, one per job and node. Only its node wakes an evaluation
// that waits for a node: room elsewhere does not help it, and a full fleet would otherwise rerun all of its
// evaluations whenever one allocation ends.
#pragma once
#include "placement/broker/broker.h"

struct blocked;

struct blocked *blocked_create(struct broker *, const struct time_source *);
void blocked_destroy(struct blocked *);
// Disabling forgets everything. Created disabled.
void blocked_set_enabled(struct blocked *, bool);

// Keeps a copy. token: of the delivery that reblocked the evaluation, else 0.
void blocked_add(struct blocked *, const struct evaluation *, uint64_t token);
// Whether an equal evaluation waits already: for the same version of the same job, on the same node. A scheduler that
// runs again finds the same nodes full, and storing thousands of evaluations anew gains nothing.
bool blocked_has_equal(struct blocked *, const struct evaluation *);
// Unblocks what waits for room on nodes of this computed class ("v1:…"), or on these nodes (system and sysbatch
// evaluations).
void blocked_unblock_class(struct blocked *, const char *computed_class, uint64_t index);
void blocked_unblock_nodes(
	struct blocked *, const struct uuid *nodes, uint32_t count, uint64_t index);
// Unblocks what waits for room in this quota (rows B45, B50).
void blocked_unblock_quota(struct blocked *, const char *quota, uint64_t index);
// Unblocks the evaluation of a job that waits for any node.
void blocked_unblock_job(struct blocked *, const char *namespace_name, const char *job_id);
// Unblocks evaluations made by plan conflicts (trigger max-plan-attempts); called every minute.
void blocked_unblock_failed(struct blocked *);
void blocked_untrack(struct blocked *, const char *namespace_name, const char *job_id);
// Forgets an evaluation that ended otherwise (canceled, collected).
void blocked_forget(struct blocked *, const struct uuid *);
// Forgets unblocks older than 15 minutes.
void blocked_prune(struct blocked *);
// Evaluations that lost against another blocked evaluation of their job (B48); the caller cancels and frees them.
uint32_t blocked_take_duplicates(struct blocked *, struct evaluation **, uint32_t count);
bool blocked_has_duplicates(struct blocked *);

struct blocked_stats {
	uint32_t blocked, escaped, quota_limited;
	// What they lacked where they were turned away.
	int64_t cpu, memory_mb;
};
void blocked_stats(struct blocked *, struct blocked_stats *);
