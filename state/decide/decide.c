#include "state/decide/decide.h"
#include "state/base/check.h"

static enum command_outcome decide_by_type(struct decider *d, struct command *c)
{
	switch (c->type) {
	case COMMAND_NODE_REGISTER: return decide_node_register(d, c->node_register);
	case COMMAND_NODE_EXPIRED: return decide_node_status(d, &c->node, NODE_CAUSE_EXPIRED);
	case COMMAND_NODE_RETURNED: return decide_node_status(d, &c->node, NODE_CAUSE_RETURNED);
	case COMMAND_NODE_GOODBYE: return decide_node_status(d, &c->node, NODE_CAUSE_GOODBYE);
	case COMMAND_PLACE: return decide_place(d, c->place, &c->index);
	case COMMAND_RELEASE: return decide_release(d, c->release);
	case COMMAND_STATUS: return decide_status(d, c->status);
	case COMMAND_JOB_REGISTER: return decide_job_register(d, &c->job_register, &c->index);
	case COMMAND_JOB_DEREGISTER: return decide_job_deregister(d, &c->job_deregister, &c->index);
	case COMMAND_COLLECT: decider_collect(d); return OUTCOME_DONE;
	case COMMAND_EVALUATIONS: return decide_evaluations(d, &c->evaluations);
	case COMMAND_JOB_EVALUATE: return decide_job_evaluate(d, &c->job_evaluate);
	case COMMAND_NODE_EVALUATE: return decide_node_evaluate(d, &c->node_named);
	case COMMAND_SCHEDULER_CONFIG: return decide_scheduler_config(d, &c->scheduler_config);
	case COMMAND_PLAN: return decide_plan(d, &c->plan);
	case COMMAND_ALLOC_UPDATE: return decide_alloc_update(d, c->alloc_update);
	case COMMAND_ALLOC_STOP: return decide_alloc_stop(d, &c->alloc_stop);
	case COMMAND_GC: return OUTCOME_CONFLICT; // several are going on
	case COMMAND_NODE_ELIGIBILITY: return decide_node_eligibility(d, &c->node_eligibility);
	case COMMAND_NODE_PURGE: return decide_node_purge(d, &c->node_named);
	case COMMAND_DEPLOYMENT: return decide_deployment(d, c->deployment);
	case COMMAND_ALLOC_TRANSITIONS: return decide_alloc_transitions(d, c->alloc_transitions);
	case COMMAND_NODE_DRAIN: return decide_node_drain(d, c->node_drain);
	case COMMAND_JOB_REVERT: return decide_job_revert(d, &c->job_revert);
	case COMMAND_JOB_STABLE: return decide_job_stable(d, &c->job_stable);
	case COMMAND_JOB_SCALE: return decide_job_scale(d, c->job_scale);
	case COMMAND_JOB_CHILD: return decide_job_child(d, c->job_child);
	case COMMAND_NODE_LIFECYCLE: return decide_node_lifecycle(d, c->node_lifecycle);
	case COMMAND_VM_CREATE: return decide_vm_create(d, c->vm_create);
	case COMMAND_VM_POWER: return decide_vm_power(d, c->vm_power);
	case COMMAND_VM_DELETE: return decide_vm_delete(d, &c->vm_named);
	case COMMAND_VM_REPORT: return decide_vm_report(d, c->vm_report);
	case COMMAND_VM_HEALTH: return decide_vm_health(d, &c->vm_health);
	case COMMAND_VM_ASSIGN: return decide_vm_assign(d, &c->vm_assign);
	case COMMAND_VM_WORKER: return decide_vm_worker(d, &c->vm_worker);
	case COMMAND_VM_WORKER_PAUSE: return decide_vm_worker_pause(d, &c->vm_named);
	case COMMAND_VM_WORKER_DELETE: return decide_vm_worker_delete(d, &c->vm_named);
	case COMMAND_CLUSTER_SETTINGS: return decide_cluster_settings(d, &c->cluster_settings);
	case COMMAND_TYPES: break;
	}
	CHECK(!"a command of an unknown type");
	return OUTCOME_STOPPING;
}

void decide(struct decider *d, struct command *c)
{
	c->index = 0;
	c->outcome = decide_by_type(d, c);
	if (c->index == 0)
		c->index = d->state->index;
}
