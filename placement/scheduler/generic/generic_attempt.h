// One attempt of the generic scheduler at an evaluation of a service or batch job, shared by its steps.
#pragma once
#include "placement/scheduler/common/scheduler_run.h"
#include "placement/scheduler/common/version_changes.h"
#include "placement/scheduler/reconcile/reconcile.h"
#include "placement/scheduler/stack/stack.h"

// An allocation that stays on its node under the newest version, and the resources that it holds then.
struct in_place_change {
	const struct allocation *allocation;
	struct resources resources;
};

struct generic_attempt {
	struct scheduler_run *run;
	struct scheduler_view view;
	const struct job *job; // NULL: purged; it may be stopped
	bool batch;
	struct plan *plan;
	struct stack_memory *memory; // of the stack
	struct stack *stack;
	const struct job *stack_job;         // the version that the stack places; NULL: none yet
	const struct deployment *deployment; // the latest, or the one that begins; NULL: none
	struct array allocations;            // const struct allocation *; all of the job
	struct reconciliation found;
	struct version_changes changes;
	struct array in_place; // in_place_change, in the order in which they were asked for
	struct evaluation *eligibility; // knowledge of classes; NULL: not needed
	struct array follow_ups;        // struct evaluation *, to be created
	bool is_followed_up;            // an earlier pass of the evaluation created some
};

// Notes the stack's knowledge of classes, for evaluations that wait for room.
void generic_keep_eligibility(struct generic_attempt *);
// Makes the stack place the groups of this version from now on.
void generic_use_version(struct generic_attempt *, const struct job *);

// generic_update.c: what the newest version means to an allocation, and everything in the plan except placements.
enum alloc_change generic_change_of(void *attempt, const struct allocation *);
void generic_plan_changes(struct generic_attempt *);

// generic_notes.c: reports failed allocations that are rescheduled now or wait for it.
void generic_note_reschedules(const struct generic_attempt *);

// generic_place.c: finds a node for every missing instance.
void generic_place(struct generic_attempt *);

// generic_details.c: what a new allocation remembers of the allocation that it replaces. NULL: nothing. Takes the
// details over from the option.
struct alloc_details *generic_details(const struct generic_attempt *,
	const struct reconcile_place *, struct stack_option *, const struct uuid *deployment);

// generic_handles.c: the handles of tasks that go on running although the node of the previous allocation is lost; the
// new allocation begins with them. NULL: none; else a reference.
struct alloc_report *generic_handles(const struct reconcile_place *, const struct task_group *);

// generic_downgrade.c: while canaries try a version out, other instances are placed with an older one (row C31).
// False: the newest version is placed. True: *older_version is the version and its deployment (zero: it has none).
struct older_version {
	const struct job *job;
	uint32_t group; // of job
	struct uuid deployment;
};
bool generic_older_version(
	const struct generic_attempt *, const struct reconcile_place *, struct older_version *);
