// Commands by their type; decide.c holds the rows. Each function decides its command: it commits entries and fills in
// the results.
#pragma once
#include "state/log/command.h"

struct decider;

const char *command_type_name(enum command_type); // "node-register", …

typedef enum command_outcome decide_command(struct decider *, struct command *);
decide_command decide_acl_bootstrap, decide_acl_policy, decide_acl_policy_delete, decide_acl_role,
	decide_acl_role_delete, decide_acl_token, decide_acl_token_delete, decide_admit_rule,
	decide_admit_rule_delete, decide_sender, decide_alloc_stop, decide_alloc_transitions,
	decide_alloc_update, decide_cluster_settings, decide_collect, decide_deployment,
	decide_evaluations, decide_evaluations_delete, decide_gc, decide_job_child,
	decide_job_deregister, decide_job_evaluate, decide_job_register, decide_job_revert,
	decide_job_scale, decide_job_stable, decide_namespace, decide_namespace_delete,
	decide_node_drain, decide_node_eligibility, decide_node_evaluate, decide_node_metadata,
	decide_node_standing, decide_node_pool, decide_node_pool_delete, decide_node_purge,
	decide_node_register, decide_node_status, decide_place, decide_plan,
	decide_quarantine_clear, decide_quota, decide_quota_delete, decide_release,
	decide_scheduler_config, decide_status, decide_variable, decide_variable_delete,
	decide_vm_assign, decide_vm_create, decide_vm_delete, decide_vm_health, decide_vm_power,
	decide_vm_report, decide_vm_tell, decide_vm_worker, decide_vm_worker_delete,
	decide_vm_worker_pause;
