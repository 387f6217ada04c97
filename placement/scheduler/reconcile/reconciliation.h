// What the reconciler is given, and what it finds.
#pragma once
#include "placement/scheduler/common/view.h"
#include "state/base/prng.h"
#include "state/records/plan.h"

// What another version of the job means to an existing allocation.
enum alloc_change { CHANGE_NONE, CHANGE_IN_PLACE, CHANGE_DESTRUCTIVE };

struct reconcile_ask {
	const struct scheduler_view *view; // nodes, and whether clients may be disconnected
	const struct job *job;             // NULL: purged; a stopped job asks for nothing
	const struct evaluation
		*eval; // namespace, job id, priority, dry run; follow-ups name it as previous
	bool batch;
	// Of every incarnation of the job; terminal ones included.
	const struct allocation *const *allocations;
	uint32_t allocation_count;
	const struct deployment *deployment; // the latest, or NULL; only of service jobs
	int64_t now_ns;
	struct prng *prng; // ids of follow-ups and deployments
	// What the job's version means to an allocation of another version. Called once for each, in their order.
	enum alloc_change (*change_of)(void *context, const struct allocation *);
	void *context;
};

struct reconcile_stop {
	const struct allocation *allocation;
	enum stop_cause cause;
	bool lost;   // also set client status lost
	bool failed; // it failed while its client was away
	struct uuid followup_eval;
};

// An instance to place, or several that have nothing but their numbers to tell them apart: a job may ask for millions.
struct reconcile_place {
	uint32_t group; // of the job
	uint32_t name_index;
	uint32_t more; // instances beyond it: name_index + 1, + 2, …
	bool canary;
	// The allocation that it replaces; NULL: it is one more.
	const struct allocation *previous;
	bool reschedule;      // previous failed: adds a tracker, and its nodes are a penalty
	bool lost;            // previous was lost with its node
	bool migrate;         // previous stops with the placement
	bool downgrade;       // place an older version than the one tried out (row C31), but
	uint64_t min_version; // at least this one: that of previous
	// Destructive update: previous stops with the placement, and goes on when there is no room (STOP_UPDATING).
	bool destructive;
};

// An allocation that becomes unknown, or of which only an attribute changes.
struct reconcile_update {
	const struct allocation *allocation;
	struct uuid followup_eval; // zero: none
};

struct reconciliation {
	// Groups in the order of their names, and the order of the steps within a group.
	struct array stops;       // reconcile_stop; without the stops of destructive placements
	struct array destructive; // reconcile_place
	struct array place;       // reconcile_place
	struct array in_place;    // const struct allocation *
	struct array attribute_updates; // reconcile_update: the allocation waits for its follow-up
	struct array disconnects;       // reconcile_update: the allocation becomes unknown
	struct array reconnects;        // const struct allocation *: its client status is noted
	struct array follow_ups; // struct evaluation *: pending, with wait_until; created by the
				 // scheduler, owned here
	struct deployment *deployment;   // as plan.deployment
	struct array deployment_updates; // deployment_update
	struct array desired;            // desired_updates, by group: only for a dry run
	// The active deployment that new allocations join: the stored one, or the one that begins with this plan;
	// NULL: none. Borrowed from the ask, or `deployment` above.
	const struct deployment *current;
};

void reconciliation_release(struct reconciliation *);
