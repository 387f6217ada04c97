// Routes about what schedulers create for jobs: evaluations, allocations, deployments.
#pragma once
#include "tools/api/server/route.h"

#define PLACEMENT_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK, NODE)                       \
	LIST("/v1/node/:id/allocations", NODE_READ, allocations_of_node)                        \
	LIST("/v1/job/:id/allocations", JOB_READ, allocations_of_job)                           \
	LIST("/v1/job/:id/evaluations", JOB_READ, evaluations_of_job)                           \
	WATCH("/v1/job/:id/deployment", JOB_READ, job_deployment, job_deployments_watched)      \
	WATCH("/v1/job/:id/deployments", JOB_READ, job_deployments, job_deployments_watched)    \
	LIST("/v1/evaluations", LIST_OF_JOBS, evaluation_list)                                  \
	WRITE("DELETE", "/v1/evaluations", MANAGEMENT, evaluations_delete, evaluations_deleted) \
	TABLE("/v1/evaluations/count", LIST_OF_JOBS, evaluations_count, STATE_EVALUATIONS)      \
	ONE("/v1/evaluation/:id", EVALUATION_READ, evaluation_by_id)                            \
	LIST("/v1/evaluation/:id/allocations", EVALUATION_READ, allocations_of_evaluation)      \
	LIST("/v1/allocations", LIST_OF_JOBS, allocation_list)                                  \
	ONE("/v1/allocation/:id", ALLOCATION_READ, allocation_by_id)                            \
	WRITE("PUT", "/v1/allocation/:id/stop", ALLOCATION_STOP, allocation_stop,               \
		allocation_stopped)                                                             \
	LIST("/v1/deployments", LIST_OF_JOBS, deployment_list)                                  \
	ONE("/v1/deployment/:id", DEPLOYMENT_READ, deployment_by_id)                            \
	LIST("/v1/deployment/allocations/:id", DEPLOYMENT_READ, allocations_of_deployment)      \
	WRITE("PUT", "/v1/deployment/promote/:id", DEPLOYMENT_CHANGE, deployment_promote,       \
		deployment_changed)                                                             \
	WRITE("PUT", "/v1/deployment/fail/:id", DEPLOYMENT_CHANGE, deployment_fail,             \
		deployment_changed)                                                             \
	WRITE("PUT", "/v1/deployment/pause/:id", DEPLOYMENT_CHANGE, deployment_pause,           \
		deployment_changed)                                                             \
	WRITE("PUT", "/v1/deployment/unblock/:id", DEPLOYMENT_CHANGE, deployment_unblock,       \
		deployment_changed)                                                             \
	WRITE("PUT", "/v1/deployment/allocation-health/:id", DEPLOYMENT_CHANGE,                 \
		deployment_set_health, deployment_changed)

ROUTES_DECLARE(PLACEMENT_ROUTES)

// When an allocation of the node that the path names changed last.
route_watched node_allocations_watched;
