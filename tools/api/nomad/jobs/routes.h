// Routes about jobs: registering, changing, planning and reading them.
#pragma once
#include "tools/api/server/route.h"

#define JOB_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK)                               \
	LIST("/v1/node/pool/:id/jobs", jobs_of_pool)                                        \
	LIST("/v1/jobs", job_list)                                                          \
	WRITE("PUT", "/v1/jobs", job_register, job_registered)                              \
	ONE("/v1/job/:id", job_by_id)                                                       \
	WRITE("PUT", "/v1/job/:id", job_register, job_registered)                           \
	WRITE("DELETE", "/v1/job/:id", job_deregister, job_deregistered)                    \
	ONE("/v1/job/:id/summary", job_summary_by_id)                                       \
	ONE("/v1/job/:id/versions", job_versions_by_id)                                     \
	ONE("/v1/job/:id/scale", job_scale_by_id)                                           \
	WRITE("PUT", "/v1/job/:id/scale", job_set_scale, job_scaled)                        \
	WRITE("PUT", "/v1/job/:id/dispatch", job_dispatch, job_dispatched)                  \
	WRITE("PUT", "/v1/job/:id/periodic/force", job_periodic_force, job_periodic_forced) \
	WRITE("PUT", "/v1/job/:id/revert", job_revert, job_reverted)                        \
	WRITE("PUT", "/v1/job/:id/stable", job_set_stable, job_stable_was_set)              \
	WRITE("PUT", "/v1/job/:id/evaluate", job_evaluate, job_evaluated)                   \
	ASK("PUT", "/v1/job/:id/plan", job_plan)                                            \
	ASK("PUT", "/v1/validate/job", job_validate)                                        \
	LIST("/v1/scaling/policies", scaling_policy_list)                                   \
	TABLE("/v1/scaling/policy/:id", scaling_policy_read, STATE_JOBS)                    \
	READ("/v1/berth/rollout/:id", rollout_read)

ROUTES_DECLARE(JOB_ROUTES)

// When a job or what its summary counts changed last.
route_watched jobs_watched;
