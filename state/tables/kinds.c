// The table of kinds. Each row is with the functions of its kind.
#include "state/tables/acl/acl_policy_table.h"
#include "state/tables/acl/acl_role_table.h"
#include "state/tables/acl/acl_token_table.h"
#include "state/tables/client.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/deployment_table.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_table.h"
#include "state/tables/kind.h"
#include "state/tables/namespaces/namespace_table.h"
#include "state/tables/namespaces/quota_table.h"
#include "state/tables/nodes/admit_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_metadata_table.h"
#include "state/tables/nodes/node_pool_table.h"
#include "state/tables/nodes/node_report.h"
#include "state/tables/nodes/sender_table.h"
#include "state/tables/settings.h"
#include "state/tables/tables.h"
#include "state/tables/variable_table.h"
#include "state/tables/vms/vm_table.h"

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
	[STATE_NODE_POOLS] = &node_pool_kind,
	[STATE_NODE_METADATA] = &node_metadata_kind,
	[STATE_ACL_POLICIES] = &acl_policy_kind,
	[STATE_ACL_ROLES] = &acl_role_kind,
	[STATE_ACL_TOKENS] = &acl_token_kind,
	[STATE_ACL_BOOTSTRAP] = &acl_bootstrap_kind,
	[STATE_QUOTAS] = &quota_kind,
	[STATE_NAMESPACES] = &namespace_kind,
	[STATE_SENDERS] = &sender_kind,
	[STATE_ADMIT_RULES] = &admit_rule_kind,
	[STATE_REFUSED_NODES] = &refused_node_kind,
	[STATE_VARIABLES] = &variable_kind,
};
