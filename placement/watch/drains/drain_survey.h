// What a drain is about: the allocations of a node that are to leave it, and those of a job that may leave next (row
// C57, docs/spec/evaluations.md). Pure: between state_read_begin and state_read_end.
#pragma once
#include "state/records/job_traits.h"
#include "state/tables/state.h"

// What happens to an allocation on a node that drains, by the type of its job.
enum drain_kind drain_kind_of(const struct allocation *);
// The allocation does not run any more: its node said so, or that was concluded without the node.
bool allocation_has_ended(const struct allocation *);
// It is told to leave already.
bool allocation_is_flagged(const struct allocation *);
// The node that it is on drains.
bool allocation_is_draining(const struct state *, const struct allocation *);

// One group of a service job, as its newest version has it.
struct drain_group {
	const struct task_group *group;
	int64_t count, max_parallel; // of the group; of its migrate block
	uint32_t healthy;  // that live, have a verdict (whatever it is) and are not leaving
	uint32_t draining; // on nodes that drain, and not at their end
	uint32_t leaving;  // that live and are told to leave
	struct array
		drainable; // struct uuid: on nodes that drain, living, not leaving; oldest first
};
struct drain_survey {
	struct array
		groups;    // drain_group, as in the job; none when it is stopped or of another type
	uint32_t draining; // of all groups, those included that the job has no more
};
void drain_survey(const struct state *, const struct job *, struct drain_survey *);
void drain_survey_release(struct drain_survey *);
// How many of the drainable may leave now. An allocation that is leaving counts as missing already, whether or not a
// scheduler has come to it, so that never more are missing than the job allows.
uint32_t drain_group_allowance(const struct drain_group *);

// When a drain is to end in any case (unix ns); INT64_MAX: it is not.
int64_t drain_deadline(const struct drain_strategy *);
