#include "state/decide/decide.h"
#include "state/base/check.h"
#include "state/decide/command_kinds.h"

static const struct {
	const char *name;
	decide_command *decide;
} kinds[] = {
	[COMMAND_NODE_REGISTER] = {"node-register", decide_node_register},
	[COMMAND_NODE_EXPIRED] = {"node-expired", decide_node_status},
	[COMMAND_NODE_RETURNED] = {"node-returned", decide_node_status},
	[COMMAND_NODE_GOODBYE] = {"node-goodbye", decide_node_status},
	[COMMAND_PLACE] = {"place", decide_place},
	[COMMAND_RELEASE] = {"release", decide_release},
	[COMMAND_STATUS] = {"status", decide_status},
	[COMMAND_JOB_REGISTER] = {"job-register", decide_job_register},
	[COMMAND_JOB_DEREGISTER] = {"job-deregister", decide_job_deregister},
	[COMMAND_COLLECT] = {"collect", decide_collect},
	[COMMAND_EVALUATIONS] = {"evaluations", decide_evaluations},
	[COMMAND_PLAN] = {"plan", decide_plan},
	[COMMAND_ALLOC_UPDATE] = {"alloc-update", decide_alloc_update},
	[COMMAND_ALLOC_STOP] = {"alloc-stop", decide_alloc_stop},
	[COMMAND_NODE_ELIGIBILITY] = {"node-eligibility", decide_node_eligibility},
	[COMMAND_NODE_EVALUATE] = {"node-evaluate", decide_node_evaluate},
	[COMMAND_NODE_PURGE] = {"node-purge", decide_node_purge},
	[COMMAND_JOB_EVALUATE] = {"job-evaluate", decide_job_evaluate},
	[COMMAND_SCHEDULER_CONFIG] = {"scheduler-config", decide_scheduler_config},
	[COMMAND_GC] = {"gc", decide_gc},
	[COMMAND_DEPLOYMENT] = {"deployment", decide_deployment},
	[COMMAND_ALLOC_TRANSITIONS] = {"alloc-transitions", decide_alloc_transitions},
	[COMMAND_NODE_DRAIN] = {"node-drain", decide_node_drain},
	[COMMAND_JOB_REVERT] = {"job-revert", decide_job_revert},
	[COMMAND_JOB_STABLE] = {"job-stable", decide_job_stable},
	[COMMAND_JOB_SCALE] = {"job-scale", decide_job_scale},
	[COMMAND_JOB_CHILD] = {"job-child", decide_job_child},
	[COMMAND_NODE_STANDING] = {"node-lifecycle", decide_node_standing},
	[COMMAND_VM_CREATE] = {"vm-create", decide_vm_create},
	[COMMAND_VM_POWER] = {"vm-power", decide_vm_power},
	[COMMAND_VM_DELETE] = {"vm-delete", decide_vm_delete},
	[COMMAND_VM_TELL] = {"vm-tell", decide_vm_tell},
	[COMMAND_VM_REPORT] = {"vm-report", decide_vm_report},
	[COMMAND_VM_HEALTH] = {"vm-health", decide_vm_health},
	[COMMAND_VM_ASSIGN] = {"vm-assign", decide_vm_assign},
	[COMMAND_VM_WORKER] = {"vm-worker", decide_vm_worker},
	[COMMAND_VM_WORKER_PAUSE] = {"vm-worker-pause", decide_vm_worker_pause},
	[COMMAND_VM_WORKER_DELETE] = {"vm-worker-delete", decide_vm_worker_delete},
	[COMMAND_CLUSTER_SETTINGS] = {"cluster-settings", decide_cluster_settings},
	[COMMAND_NODE_POOL] = {"node-pool", decide_node_pool},
	[COMMAND_NODE_POOL_DELETE] = {"node-pool-delete", decide_node_pool_delete},
	[COMMAND_NODE_METADATA] = {"node-metadata", decide_node_metadata},
	[COMMAND_EVALUATIONS_DELETE] = {"evaluations-delete", decide_evaluations_delete},
	[COMMAND_ACL_POLICY] = {"acl-policy", decide_acl_policy},
	[COMMAND_ACL_POLICY_DELETE] = {"acl-policy-delete", decide_acl_policy_delete},
	[COMMAND_ACL_ROLE] = {"acl-role", decide_acl_role},
	[COMMAND_ACL_ROLE_DELETE] = {"acl-role-delete", decide_acl_role_delete},
	[COMMAND_ACL_TOKEN] = {"acl-token", decide_acl_token},
	[COMMAND_ACL_TOKEN_DELETE] = {"acl-token-delete", decide_acl_token_delete},
	[COMMAND_ACL_BOOTSTRAP] = {"acl-bootstrap", decide_acl_bootstrap},
	[COMMAND_NAMESPACE] = {"namespace", decide_namespace},
	[COMMAND_NAMESPACE_DELETE] = {"namespace-delete", decide_namespace_delete},
	[COMMAND_SENDER] = {"sender", decide_sender},
	[COMMAND_ADMIT_RULE] = {"admit-rule", decide_admit_rule},
	[COMMAND_ADMIT_RULE_DELETE] = {"admit-rule-delete", decide_admit_rule_delete},
	[COMMAND_VARIABLE] = {"variable", decide_variable},
	[COMMAND_VARIABLE_DELETE] = {"variable-delete", decide_variable_delete},
	[COMMAND_QUOTA] = {"quota", decide_quota},
	[COMMAND_QUOTA_DELETE] = {"quota-delete", decide_quota_delete},
	[COMMAND_QUARANTINE_CLEAR] = {"quarantine-clear", decide_quarantine_clear},
};
_Static_assert(sizeof kinds / sizeof kinds[0] == COMMAND_TYPES, "every command has its row");

const char *command_type_name(enum command_type type)
{
	CHECK(type < COMMAND_TYPES);
	return kinds[type].name;
}

void decide(struct decider *d, struct command *c)
{
	CHECK(c->type < COMMAND_TYPES);
	c->index = 0;
	c->outcome = kinds[c->type].decide(d, c);
	if (c->index == 0)
		c->index = d->state->index;
}
