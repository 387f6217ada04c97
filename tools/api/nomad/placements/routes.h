// Routes about what schedulers create for jobs: evaluations, allocations, deployments.
#pragma once
#include "tools/api/server/route.h"

#define PLACEMENT_ROUTES(READ, WATCH, LIST, ONE, WRITE, ASK)                               \
	WATCH("/v1/node/:id/allocations", node_allocations, node_allocations_watched)      \
	WATCH("/v1/job/:id/allocations", job_allocations, job_allocations_watched)         \
	WATCH("/v1/job/:id/evaluations", job_evaluations, job_evaluations_watched)         \
	WATCH("/v1/job/:id/deployment", job_deployment, job_deployments_watched)           \
	WATCH("/v1/job/:id/deployments", job_deployments, job_deployments_watched)         \
	LIST("/v1/evaluations", evaluations_list, STATE_EVALUATIONS)                       \
	WRITE("DELETE", "/v1/evaluations", evaluations_delete, evaluations_deleted)        \
	LIST("/v1/evaluations/count", evaluations_count, STATE_EVALUATIONS)                \
	ONE("/v1/evaluation/:id", evaluation_by_id)                                        \
	WATCH("/v1/evaluation/:id/allocations", evaluation_allocations,                    \
		evaluation_allocations_watched)                                            \
	LIST("/v1/allocations", allocations_list, STATE_ALLOCATIONS)                       \
	ONE("/v1/allocation/:id", allocation_by_id)                                        \
	WRITE("PUT", "/v1/allocation/:id/stop", allocation_stop, allocation_stopped)       \
	LIST("/v1/deployments", deployments_list, STATE_DEPLOYMENTS)                       \
	ONE("/v1/deployment/:id", deployment_by_id)                                        \
	WATCH("/v1/deployment/allocations/:id", deployment_allocations,                    \
		deployment_allocations_watched)                                            \
	WRITE("PUT", "/v1/deployment/promote/:id", deployment_promote, deployment_changed) \
	WRITE("PUT", "/v1/deployment/fail/:id", deployment_fail, deployment_changed)       \
	WRITE("PUT", "/v1/deployment/pause/:id", deployment_pause, deployment_changed)     \
	WRITE("PUT", "/v1/deployment/unblock/:id", deployment_unblock, deployment_changed) \
	WRITE("PUT", "/v1/deployment/allocation-health/:id", deployment_set_health,        \
		deployment_changed)

ROUTES_DECLARE(PLACEMENT_ROUTES)
