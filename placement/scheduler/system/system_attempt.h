// One attempt of the system scheduler at an evaluation, shared by its steps.
#pragma once
#include "placement/scheduler/common/scheduler_run.h"
#include "placement/scheduler/common/version_changes.h"
#include "placement/scheduler/stack/stack.h"
#include "placement/scheduler/system/system_diff.h"

// Progress of one group of the job.
struct group_progress {
	const struct task_group *group;
	int64_t queued;   // instances still to be placed
	uint32_t metrics; // of plain placements, in plan.metrics; PLAN_NO_METRICS: none yet
	struct alloc_metrics filtered; // of all nodes that do not qualify
};

struct system_attempt {
	struct scheduler_run *run;
	struct scheduler_view view;
	const struct job *job; // NULL: purged or stopped, so that nothing is required
	struct plan *plan;
	struct stack *stack;
	struct system_diff diff;
	struct group_progress *groups;
	struct alloc_metrics available; // nodes by datacenter and in the pool; lent by the stack
	struct diff_list place;         // destructive updates included
	int64_t looking_since_ns;       // at the node of the current placement
	bool limit_reached;             // of the rolling update
	struct version_changes changes;
	uint64_t *blocked_slots; // a bit per slot that has a blocked evaluation
	struct evaluation **blocked;
	uint32_t blocked_count, blocked_room;
};

// The annotation of a group (dry run); NULL: not asked for.
struct desired_updates *system_annotation(struct system_attempt *, const char *group);

// system_update.c: tries updates in place; then stops, within the limit, allocations that must be replaced, and adds
// them to `place`.
void system_update(struct system_attempt *);

// system_place.c: places every missing instance on its own node, or nowhere.
void system_place(struct system_attempt *);
// Keeps the metrics of a placement or update in the plan and returns their number. Plain placements of a group share
// one.
uint32_t system_keep_metrics(struct system_attempt *, uint32_t group, const struct stack_option *);

// Adds the nodes by datacenter and in the pool.
void system_add_available(const struct system_attempt *, struct alloc_metrics *);

// system_failure.c: notes that an instance cannot be placed, for the reason in the option.
void system_fail(struct system_attempt *, const struct diff_item *, const struct stack_option *);
// Row B45: whether the quota has no room for the instance; and what is noted then.
bool system_is_over_quota(struct system_attempt *, const struct diff_item *);
void system_fail_by_quota(struct system_attempt *, const struct diff_item *);
void system_blocked_release(struct system_attempt *);
