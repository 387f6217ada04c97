// What a scheduler asks of the daemon while it works on one evaluation (rows B15–B21, B36, B37): a view of the state,
// plans, and evaluations to be stored.
#pragma once
#include "placement/pipeline/pipeline_parts.h"
#include "placement/scheduler/common/planner.h"
#include "state/base/backoff.h"

// Evaluations that a scheduler creates are stored together, at most so many.
#define CREATED_MAX 256u

struct delivery;

struct created {
	struct evaluation *items[CREATED_MAX + 1];
	uint32_t count;
};

struct planning {
	struct pipeline *pipeline;
	struct backoff *backoff;   // of the scheduler thread: one for all of its waits (B8)
	struct claimant *claims;   // of the scheduler thread; NULL: nobody claims anything
	struct fleet_mirror *desk; // of the present view
	uint64_t dropped_seen;     // claims that others gave back in vain before the newest view
	const struct evaluation *eval;
	uint64_t token;
	bool is_deciding; // as the broker knows it: no plan was sent yet
	struct delivery *delivery;
	uint64_t snapshot_index; // of the first view (B12)
	uint64_t view_index;     // of the newest view
	// Not sent yet: those that must be stored, and those of which a part may be lost (A37).
	struct created created, spare;
	// The present pass over missing instances.
	uint64_t view_began_ns;
	uint64_t pass_until_ns; // 0: no instance was begun
	uint64_t looked_ns;     // at the clock, during the pass
	uint32_t instances_a_look, instances_unclocked;
	uint64_t lease_kept_ns; // when the broker was last told of progress
	bool is_full;           // the present pass is to end
	bool has_gone_far;      // the last pass was full, and some of its plan was committed
};

// From dequeue to ack: the evaluation must stay until planning_end; the caller sets is_deciding, backoff and claims.
// error: nack.
void planning_begin(
	struct planning *, struct pipeline *, const struct evaluation *, uint64_t token);
void planning_end(struct planning *, int error);

struct planner planning_planner(struct planning *);
// B10, B11: 0, -ERROR_SYNC_TIMEOUT or -ERROR_SYNC_STOPPING.
int planning_wait_for_index(struct planning *, uint64_t index);
// Sends the created evaluations that are not sent yet.
int planning_flush(struct planning *);
