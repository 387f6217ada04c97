// Routes about jobs: registering, changing, planning and reading them.
#pragma once
#include "tools/api/server/route.h"

#define JOB_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK, NODE)                        \
	LIST("/v1/node/pool/:id/jobs", POOL_READ, jobs_of_pool)                            \
	LIST("/v1/jobs", LIST_JOBS, job_list)                                              \
	WRITE("PUT", "/v1/jobs", BODY_SUBMIT, job_register, job_registered)                \
	ONE("/v1/job/:id", JOB_READ, job_by_id)                                            \
	WRITE("PUT", "/v1/job/:id", BODY_SUBMIT, job_register, job_registered)             \
	WRITE("DELETE", "/v1/job/:id", JOB_SUBMIT, job_deregister, job_deregistered)       \
	ONE("/v1/job/:id/summary", JOB_READ, job_summary_by_id)                            \
	ONE("/v1/job/:id/versions", JOB_READ, job_versions_by_id)                          \
	ONE("/v1/job/:id/scale", JOB_READ_SCALE, job_scale_by_id)                          \
	WRITE("PUT", "/v1/job/:id/scale", JOB_SCALE, job_set_scale, job_scaled)            \
	WRITE("PUT", "/v1/job/:id/dispatch", JOB_DISPATCH, job_dispatch, job_dispatched)   \
	WRITE("PUT", "/v1/job/:id/periodic/force", JOB_FORCE, job_periodic_force,          \
		job_periodic_forced)                                                       \
	WRITE("PUT", "/v1/job/:id/revert", JOB_SUBMIT, job_revert, job_reverted)           \
	WRITE("PUT", "/v1/job/:id/stable", JOB_SUBMIT, job_set_stable, job_stable_was_set) \
	WRITE("PUT", "/v1/job/:id/evaluate", JOB_SUBMIT, job_evaluate, job_evaluated)      \
	ASK("PUT", "/v1/jobs/parse", JOB_PARSE, jobs_parse)                                \
	ASK("PUT", "/v1/job/:id/plan", BODY_SUBMIT, job_plan)                              \
	ASK("PUT", "/v1/validate/job", BODY_READ, job_validate)                            \
	LIST("/v1/scaling/policies", LIST_SCALING, scaling_policy_list)                    \
	TABLE("/v1/scaling/policy/:id", SCALING_READ, scaling_policy_read, STATE_JOBS)     \
	READ("/v1/berth/rollout/:id", JOB_READ, rollout_read)

ROUTES_DECLARE(JOB_ROUTES)

// When a job or what its summary counts changed last.
route_watched jobs_watched;
