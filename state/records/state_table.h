// The kinds of things that the state keeps, one table each, by the numbers under which entries and snapshots store
// them. Snapshots are in the order of these numbers: a record refers to records of smaller numbers only.
#pragma once

enum state_table { // stored: numbers are never given again
	STATE_NODES,
	STATE_NODE_REPORTS,
	STATE_JOB_VERSIONS,
	STATE_JOBS,
	STATE_ALLOCATIONS,
	STATE_PLACE_REQUESTS,
	STATE_EVALUATIONS, // from here on records are stored by their description alone
	STATE_SCHEDULER_CONFIG,
	STATE_DEPLOYMENTS,
	STATE_VM_WORKERS,
	STATE_VMS,
	STATE_CLUSTER_SETTINGS,
	STATE_NODE_POOLS,
	STATE_NODE_METADATA,
	STATE_ACL_POLICIES,
	STATE_ACL_ROLES,
	STATE_ACL_TOKENS,
	STATE_ACL_BOOTSTRAP,
	STATE_QUOTAS,
	STATE_NAMESPACES,
	STATE_SENDERS,
	STATE_ADMIT_RULES,
	STATE_REFUSED_NODES,
	STATE_VARIABLES,
	STATE_TABLES
};
