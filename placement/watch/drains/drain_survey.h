// The allocations of a node that its drain has to move, and those of a job that may leave next (row C57,
// docs/spec/evaluations.md). Pure: between state_read_begin and state_read_end.
#pragma once
#include "state/records/job_traits.h"
#include "state/tables/state.h"

// What happens to an allocation on a node that drains, by the type of its job.
enum drain_kind drain_kind_of(const struct allocation *);
// Whether the allocation is already told to leave.
bool allocation_is_flagged(const struct allocation *);
// Whether the allocation's node drains.
bool allocation_is_draining(const struct state *, const struct allocation *);

// One group of a service job in its newest version.
struct drain_group {
	const struct task_group *group;
	int64_t count, max_parallel; // of the group; of its migrate block
	uint32_t healthy;            // living, with a verdict of either kind, not leaving
	uint32_t draining;           // on draining nodes, not ended
	uint32_t leaving;            // living, told to leave
	struct array
		drainable; // struct uuid: on nodes that drain, living, not leaving; oldest first
};
struct drain_survey {
	struct array groups; // drain_group, in the job's order; none: stopped or of another type
	uint32_t draining;   // of all groups, also those that the job no longer has
};
void drain_survey(const struct state *, const struct job *, struct drain_survey *);
void drain_survey_release(struct drain_survey *);
// How many of the drainable may leave now. A leaving allocation already counts as missing, whether or not a scheduler
// has seen it, so that never more are missing than the job allows.
uint32_t drain_group_allowance(const struct drain_group *);

// When the drain ends in any case (unix ns); INT64_MAX: never.
int64_t drain_deadline(const struct drain_strategy *);
