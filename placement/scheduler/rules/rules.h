// What a job and one of its groups require of a node, compiled once for each attempt.
#pragma once
#include "placement/feasibility/node_needs.h"
#include "placement/scheduler/rules/property_set.h"
#include "state/base/arena/arena.h"
#include "state/records/job.h"

struct distinct_rules {
	bool hosts;
	struct property_set *properties;
	uint32_t property_count;
};

struct compiled_affinity {
	struct compiled_constraint *condition; // NULL: no node meets it
	double weight;
};

struct spread_bucket {
	const char *value; // NULL: every unlisted value
	double desired;
};

struct compiled_spread {
	struct property_set counts;
	double weight;                 // as a share of all weights of the group
	struct spread_bucket *buckets; // none: an even spread
	uint32_t bucket_count;
};

struct job_rules {
	struct node_needs needs;
	struct distinct_rules distinct;
	double lowest_boost; // of any spread so far, at most -1
};

struct group_rules {
	const struct job *job;
	const struct task_group *group;
	uint32_t number;
	struct node_needs needs; // of the group and its tasks
	struct distinct_rules distinct;
	bool task_networks, cores;
	struct resources ask; // of a group whose tasks have no cores
	const char *snapshot; // nodes with it are preferred; NULL: none
	bool memory_max;      // tasks are granted more memory than they ask for, if there is some
	bool plain;           // no ports, devices, cores: cpu, memory and disk say it all
	struct compiled_affinity *affinities;
	uint32_t affinity_count;
	double affinity_weights;
	bool affinity_unique; // an affinity looks at what is unique to a node
	struct compiled_spread *spreads;
	uint32_t spread_count;
	double *lowest_boost; // of the job
};

static inline bool group_asks_ports(const struct group_rules *g)
{
	return g->needs.network || g->task_networks;
}

// Properties are loaded from the view with the job's allocations as they are; the caller adds what is planned.
void job_rules_compile(
	struct job_rules *, const struct job *, const struct scheduler_view *, struct arena *);
void job_rules_release(struct job_rules *);
// The rules themselves end with the arena.
struct group_rules *group_rules_create(struct job_rules *, const struct job *, uint32_t group,
	const struct scheduler_view *, struct arena *);
void group_rules_release(struct group_rules *); // NULL is fine

// The properties of a job, or of a group (with spreads), by position; NULL after the last.
struct property_set *job_rules_property(struct job_rules *, uint32_t at);
struct property_set *group_rules_property(struct group_rules *, uint32_t at);
