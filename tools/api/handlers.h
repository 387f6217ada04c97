// Every handler that the table of routes names, by the file that has it.
#pragma once
#include "tools/api/http.h"

// nodes.c
const struct node *node_named(const struct request *); // by the path, or NULL; under read lock
route_answer nodes_list, node_read;
route_watched nodes_watched, node_watched;
// jobs.c
route_answer jobs_list, job_read, job_summary, job_versions, job_evaluations, job_deployment;
route_watched jobs_watched, job_watched;
// job_changes.c
route_submit job_register, job_deregister, job_validate;
route_answer job_registered, job_deregistered;
// allocations.c
route_answer allocations_list, allocation_read, node_allocations, job_allocations;
route_watched allocations_watched, allocation_watched, node_allocations_watched,
	job_allocations_watched;
route_submit allocations_release;
route_answer allocations_released;
// search.c
route_submit search;
// agent.c
route_answer agent_self, agent_health, agent_members, status_leader, status_peers, regions_list,
	healthz;
// metrics.c
route_answer metrics_read;
