// What the types of jobs differ in: a row a type. Code asks for a trait, never for a type.
#pragma once
#include "state/records/job.h"

// In which order a drain treats a job's allocations.
enum drain_kind {
	DRAIN_ENDS,     // they go on until the deadline
	DRAIN_MIGRATES, // they are moved, a few at a time
	DRAIN_LAST,     // they leave after all others
};

struct job_traits {
	bool is_direct;        // its clients place and release its instances; there is no scheduler
	bool is_on_every_node; // an instance of each group on each node that qualifies
	bool follows_nodes;    // of these: a node that comes gets its own, for ever
	bool runs_to_end;      // its instances come to an end by themselves
	bool is_scalable;      // the count of a group may be changed by itself
	bool has_rollouts;     // over several regions
	uint8_t drain;         // enum drain_kind
	uint32_t preemption;   // of struct preemption_config: the offset of its bool
};
// By enum job_type, and by enum eval_type: evaluations have the numbers of the jobs that they are for; those of type
// core are for no job and find the row of direct jobs, which have no scheduler.
extern const struct job_traits job_traits[JOB_TYPES];

static inline const struct job_traits *job_traits_of(const struct job *job)
{
	return &job_traits[job->type];
}
static inline bool job_is_direct(const struct job *job)
{
	return job_traits_of(job)->is_direct;
}
// A number of instances was asked for, wherever they are: service and batch jobs.
static inline bool job_is_counted(const struct job *job)
{
	return !job_traits_of(job)->is_direct && !job_traits_of(job)->is_on_every_node;
}
// Whether evaluations are made for it: direct jobs have no scheduler, others only make jobs.
static inline bool job_has_scheduler(const struct job *job)
{
	return !job_is_direct(job) && !job_makes_jobs(job);
}

// Instances that the job asks for in a fleet of so many nodes; INT64_MAX when there are more. Groups that ask for one
// on every node count as one: what they hold grows with the fleet whatever the job says.
int64_t job_instances(const struct job *, uint32_t nodes);
