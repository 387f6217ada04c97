// What deployments are after everything that was said of them, told naively: no tables, no entries.
#pragma once
#include "tests/state/deployments.h"

enum {
	ROLLOUT_JOBS = 2,
	ROLLOUT_GROUPS = 2, // "g0", "g1"
	ROLLOUT_VERSIONS = 400,
	ROLLOUT_ALLOCATIONS = 600,
	ROLLOUT_DEPLOYMENTS = 200,
};
#define NO_DEPLOYMENT UINT32_MAX

struct rollout_group {
	int64_t placed, healthy, unhealthy, canaries;
	int64_t desired_canaries, require_by_ns;
	bool promoted;
	uint32_t placed_canaries[ROLLOUT_ALLOCATIONS]; // numbers of allocations
};

struct rollout_deployment {
	bool exists;
	uint32_t job, incarnation;
	uint64_t version;
	enum deployment_status status;
	struct rollout_group groups[ROLLOUT_GROUPS];
};

struct rollout_alloc {
	uint32_t job, group;
	uint32_t deployment; // number, or NO_DEPLOYMENT
	bool canary, has_verdict, is_healthy, is_stopped;
	enum alloc_client client;
};

struct rollout_job {
	uint32_t incarnation;
	uint64_t version; // newest
	bool stable[ROLLOUT_VERSIONS];
};

struct rollout_model {
	int64_t now_ns;
	struct rollout_job jobs[ROLLOUT_JOBS];
	struct rollout_alloc allocations[ROLLOUT_ALLOCATIONS]; // by number
	uint32_t allocation_count;
	struct rollout_deployment deployments[ROLLOUT_DEPLOYMENTS]; // by number - 1
	uint32_t deployment_count;
};

bool rollout_is_active(const struct rollout_deployment *);
bool rollout_lives(const struct rollout_alloc *);
uint32_t rollout_active(
	const struct rollout_model *, uint32_t job); // its index; NO_DEPLOYMENT: none
void rollout_status(struct rollout_model *, uint32_t deployment, enum deployment_status);
// The allocation belongs to another deployment than before, or is new.
void rollout_join(struct rollout_model *, uint32_t alloc);
void rollout_verdict(struct rollout_model *, uint32_t alloc, bool is_healthy);
bool rollout_may_promote(const struct rollout_model *, uint32_t deployment, uint32_t group);
void rollout_promote(struct rollout_model *, uint32_t deployment, uint32_t group);
// Everything that readers see of them.
void rollout_compare(
	const struct rollout_model *, const struct controller *, const char *const *job_names);
struct uuid rollout_alloc_id(uint32_t alloc);
