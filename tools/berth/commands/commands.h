// The functions that subcommands run.
#pragma once
#include "tools/berth/cli/session.h"

typedef enum exit_status command_run(struct session *, const char **arguments, int count);
command_run acl_bootstrap, acl_policy_list, acl_policy_info, acl_policy_apply, acl_policy_delete;
command_run acl_token_list, acl_token_info, acl_token_self, acl_token_create, acl_token_update,
	acl_token_delete;
command_run account_list, account_info, account_create, account_bootstrap_token, account_delete;
command_run acl_role_list, acl_role_info, acl_role_create, acl_role_update, acl_role_delete;
command_run namespace_list, namespace_status, namespace_inspect, namespace_apply, namespace_delete;
command_run quota_list, quota_status, quota_inspect, quota_apply, quota_delete, quota_init;
command_run node_meta_read, node_meta_apply;
command_run var_list, var_get, var_put, var_purge, var_init;
command_run snapshot_save, snapshot_inspect, snapshot_restore;
command_run keyring_list, keyring_rotate, keyring_remove;
command_run node_pool_list, node_pool_info, node_pool_apply, node_pool_delete;
command_run node_list, node_status, node_eligibility, node_drain, node_what_if, node_key,
	node_offline, node_online, node_groups;
command_run job_list, job_parse, job_run, job_plan, job_status, job_history, job_stop, job_eval,
	job_validate, job_inspect, job_revert, job_scale, job_scaling_events, job_dispatch,
	job_periodic_force, job_deployments, job_promote;
command_run deployment_list, deployment_status, deployment_pause, deployment_resume,
	deployment_promote, deployment_fail, deployment_unblock;
command_run alloc_list, alloc_status, alloc_stop;
command_run alloc_exec;
command_run alloc_logs, alloc_fs, alloc_fs_ls, alloc_fs_cat, alloc_fs_stat;
command_run alloc_restart, alloc_signal, alloc_stats, job_restart;
command_run machine_port_forward, machine_ssh, machine_exec, machine_logs, machine_ip;
command_run alloc_checks;
command_run eval_list, eval_status;
command_run explain_job, explain_alloc, explain_node;
command_run cluster_init_here, cluster_join_here, cluster_leave_here;
command_run cluster_show, raft_list_peers, autopilot_health;
command_run server_members, agent_info, system_gc, system_reconcile, config_get, config_set;
command_run find_status;
command_run place_instances, release_allocations, client_allocations;
command_run client_key, key_generate, key_rotate;
command_run node_revoke, node_restore, node_rekey, quarantine_clear, client_revoke, client_restore,
	client_rekey, sender_list;
command_run admit_list, admit_apply, admit_delete, admit_refused;
command_run tls_ca_create, tls_cert_create;
command_run simulate_scenario;
command_run machine_create, machine_list, machine_get, machine_delete, machine_stop,
	machine_suspend, machine_events;
command_run worker_list, worker_get, worker_pause, worker_resume, worker_delete,
	worker_port_forward;
command_run cluster_settings_run;
command_run liveness_status, liveness_release;
command_run senders_list;
command_run server_stats, server_health;
command_run show_events, show_log, show_top, run_doctor;
command_run job_init, node_purge;
