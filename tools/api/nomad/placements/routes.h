// Routes about what schedulers create for jobs: evaluations, allocations, deployments.
#pragma once
#include "tools/api/server/route.h"

#define PLACEMENT_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK)                        \
	LIST("/v1/node/:id/allocations", allocations_of_node)                              \
	LIST("/v1/job/:id/allocations", allocations_of_job)                                \
	LIST("/v1/job/:id/evaluations", evaluations_of_job)                                \
	WATCH("/v1/job/:id/deployment", job_deployment, job_deployments_watched)           \
	WATCH("/v1/job/:id/deployments", job_deployments, job_deployments_watched)         \
	LIST("/v1/evaluations", evaluation_list)                                           \
	WRITE("DELETE", "/v1/evaluations", evaluations_delete, evaluations_deleted)        \
	TABLE("/v1/evaluations/count", evaluations_count, STATE_EVALUATIONS)               \
	ONE("/v1/evaluation/:id", evaluation_by_id)                                        \
	LIST("/v1/evaluation/:id/allocations", allocations_of_evaluation)                  \
	LIST("/v1/allocations", allocation_list)                                           \
	ONE("/v1/allocation/:id", allocation_by_id)                                        \
	WRITE("PUT", "/v1/allocation/:id/stop", allocation_stop, allocation_stopped)       \
	LIST("/v1/deployments", deployment_list)                                           \
	ONE("/v1/deployment/:id", deployment_by_id)                                        \
	LIST("/v1/deployment/allocations/:id", allocations_of_deployment)                  \
	WRITE("PUT", "/v1/deployment/promote/:id", deployment_promote, deployment_changed) \
	WRITE("PUT", "/v1/deployment/fail/:id", deployment_fail, deployment_changed)       \
	WRITE("PUT", "/v1/deployment/pause/:id", deployment_pause, deployment_changed)     \
	WRITE("PUT", "/v1/deployment/unblock/:id", deployment_unblock, deployment_changed) \
	WRITE("PUT", "/v1/deployment/allocation-health/:id", deployment_set_health,        \
		deployment_changed)

ROUTES_DECLARE(PLACEMENT_ROUTES)

// When an allocation of the node that the path names changed last.
route_watched node_allocations_watched;
