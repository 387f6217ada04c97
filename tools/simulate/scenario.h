// A scenario file in memory: nodes, jobs, allocations and one evaluation, and the view of them for a scheduler.
#pragma once
#include "placement/scheduler/common/view.h"
#include "tools/simulate/scenario_node_json.h"
#include "tools/simulate/scenario_quota.h"

struct scenario_allocation {
	struct allocation record; // first
	struct scenario_allocation *next_on_node;
};

struct scenario {
	int64_t now_ns;
	uint64_t index; // the newest of any record
	struct scheduler_config config;
	struct array pools; // struct node_pool
	struct scenario_quotas quotas;
	bool supports_disconnect;
	struct scenario_node *nodes; // by slot
	uint32_t node_count;
	uint32_t *nodes_by_id;
	struct job **jobs; // every version of every job
	uint32_t job_count;
	const struct job *job;    // its newest version; NULL: purged
	struct job *current_last; // the last given version
	struct scenario_allocation *allocations;
	uint32_t allocation_count;
	uint32_t *allocations_by_id;
	struct deployment **deployments; // newest first
	uint32_t deployment_count;
	struct evaluation *eval;
	char *unknown_trigger; // of the evaluation; NULL: a known trigger
};

struct scheduler_view scenario_view(struct scenario *);
const struct scenario_node *scenario_node_at(const struct scenario *, uint32_t slot);
const struct allocation *scenario_allocation_find(const struct scenario *, const struct uuid *);
// A version of a job by the index at which it was stored, or NULL.
const struct job *scenario_version(
	const struct scenario *, const char *namespace_name, const char *id, uint64_t modify_index);
