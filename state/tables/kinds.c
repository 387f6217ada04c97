// The table of kinds. Each row is with the functions of its kind.
#include "state/tables/tables.h"

const struct kind *const state_kinds[STATE_TABLES] = {
	[STATE_NODES] = &node_kind,
	[STATE_NODE_REPORTS] = &node_report_kind,
	[STATE_JOB_VERSIONS] = &job_version_kind,
	[STATE_JOBS] = &job_kind,
	[STATE_ALLOCATIONS] = &allocation_kind,
	[STATE_PLACE_REQUESTS] = &place_request_kind,
	[STATE_EVALUATIONS] = &evaluation_kind,
	[STATE_SCHEDULER_CONFIG] = &scheduler_config_kind,
	[STATE_DEPLOYMENTS] = &deployment_kind,
	[STATE_VM_WORKERS] = &vm_worker_kind,
	[STATE_VMS] = &vm_kind,
	[STATE_CLUSTER_SETTINGS] = &cluster_settings_kind,
};
