// Every handler that the table of routes names, by the file that has it.
#pragma once
#include "tools/api/server/http.h"

// nodes.c
const struct node *node_named(const struct request *); // by the path, or NULL; under read lock
// Those of a pool, or all when it is NULL.
void nodes_of_pool(struct request *, const char *pool, struct reply *);
route_answer nodes_list, node_read;
route_watched nodes_watched, node_watched;
// node_pools.c
// Whether the pool that the path names is there; if not, the reply says so.
bool node_pool_is_known(struct request *, struct reply *);
route_answer node_pools_list, node_pool_read, node_pool_nodes;
// namespaces.c
route_answer namespaces_list, namespace_read;
// node_changes.c
route_submit node_set_eligibility, node_evaluate, node_purge;
route_answer node_eligibility_set, node_evaluated;
// node_lifecycle.c
route_submit node_offline, node_online;
route_answer node_standing_read, node_standing_set, node_groups_read;
// node_drain.c
route_submit node_set_drain;
route_answer node_drain_set;
// drain_report.c
route_answer node_drain_read;
route_watched node_drain_watched;
// what_if.c
route_answer node_what_if;
// jobs.c
route_answer jobs_list, node_pool_jobs, job_read, job_summary, job_versions, job_scale;
route_watched jobs_watched, job_watched, job_summary_watched;
// job_changes.c
route_submit job_register, job_deregister, job_evaluate;
route_answer rollout_read;
route_answer job_registered, job_deregistered, job_evaluated;
// job_children.c
route_submit job_dispatch, job_periodic_force;
route_answer job_dispatched, job_periodic_forced;
// job_versions.c
route_submit job_revert, job_set_stable;
route_answer job_reverted, job_stable_was_set;
// job_scale.c
route_submit job_set_scale;
route_answer job_scaled;
// job_validate.c
route_submit job_validate;
// job_plan.c
route_submit job_plan;
// evaluations.c
route_answer evaluations_list, evaluations_count, evaluation_read, evaluation_allocations,
	job_evaluations;
route_watched evaluations_watched, evaluation_watched, evaluation_allocations_watched,
	job_evaluations_watched;
// allocations.c
struct id_list;
// Answers with the allocations collected, in their long form when the list is detailed. Frees the list.
void allocation_list_answer(struct id_list *, uint64_t index, struct request *, struct reply *);
route_answer allocations_list, allocation_read, node_allocations, job_allocations;
route_watched allocations_watched, allocation_watched, node_allocations_watched,
	job_allocations_watched;
// allocation_changes.c
route_submit allocation_stop;
route_answer allocation_stopped;
// releases.c
route_submit allocations_release;
route_answer allocations_released;
// operator.c
route_submit scheduler_config_set, system_collect, system_reconcile;
route_answer scheduler_config_read, scheduler_config_was_set, system_collected, raft_configuration;
route_answer autopilot_configuration, autopilot_health;
route_watched scheduler_config_watched;
// deployments.c
route_answer deployments_list, deployment_read, deployment_allocations, job_deployment,
	job_deployments;
route_watched deployments_watched, deployment_watched, deployment_allocations_watched,
	job_deployments_watched;
// deployment_changes.c
route_submit deployment_promote, deployment_fail, deployment_pause, deployment_unblock,
	deployment_set_health;
route_answer deployment_changed;
// scaling_policies.c
route_answer scaling_policies_list, scaling_policy_read;
route_watched scaling_policies_watched;
// absent.c
route_answer client_stats, client_absent, agent_absent, snapshot_absent;
route_submit jobs_parse, client_absent_write, snapshot_absent_write, pools_absent_write;
// explain.c
route_answer explain_job, explain_allocation, explain_node;
// events.c
route_answer event_stream;
// vms.c
route_answer vms_list, vm_read, vm_events_read;
route_watched vms_watched, vm_watched;
// vm_changes.c
route_submit vm_add, vm_change, vm_report, vm_remove;
route_answer vm_added, vm_changed, vm_reported, vm_removed;
// vm_workers.c
route_answer vm_workers_list, vm_worker_read;
route_watched vm_workers_watched, vm_worker_watched;
route_submit vm_worker_register, vm_worker_change, vm_worker_remove;
route_answer vm_worker_registered, vm_worker_changed, vm_worker_removed;
// cluster_settings.c
route_answer cluster_settings_read, cluster_settings_were_set;
route_watched cluster_settings_watched;
route_submit cluster_settings_set;
// search.c
route_submit search, search_fuzzy;
// agent.c
// The version of Nomad whose API this is; tools compare it.
#define API_NOMAD_VERSION "1.1.2"
#define API_LEADER_BYTES 300u
void leader_address(const struct api *, char text[static API_LEADER_BYTES]);
route_answer agent_self, agent_health, agent_members, status_leader, status_peers, regions_list,
	healthz;
// metrics.c
route_answer metrics_read;
