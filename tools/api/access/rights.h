// What a route asks of whoever sends a request. Each row of the tables of routes names one right.
#pragma once
#include "tools/acl/acl.h"

enum right {
	RIGHT_UNSAID, // no route has it
	RIGHT_OPEN,   // anyone; a token is not even read
	RIGHT_FILTERED, // anyone but with a token that is none: the route itself shows or does what is allowed
	RIGHT_TOKEN,      // whoever shows a token, whatever it allows
	RIGHT_MANAGEMENT, // management tokens
	// An area.
	RIGHT_AGENT_READ,
	RIGHT_AGENT_WRITE,
	RIGHT_NODE_READ,
	RIGHT_NODE_WRITE,
	RIGHT_OPERATOR_READ,
	RIGHT_OPERATOR_WRITE,
	RIGHT_PLUGIN_LIST,
	RIGHT_PLUGIN_READ,
	RIGHT_VM_READ,
	RIGHT_VM_WRITE,
	RIGHT_VM_CONNECT,
	RIGHT_VM_ADMIN_READ,
	RIGHT_VM_ADMIN_WRITE,
	RIGHT_QUOTA_READ,
	RIGHT_QUOTA_WRITE,
	// The node pool that the path names.
	RIGHT_POOL_READ,
	RIGHT_POOL_DELETE,
	RIGHT_POOL_NODES,
	// The requested namespace; lists may ask for all of them and show those where it is allowed.
	RIGHT_LIST_JOBS,
	RIGHT_LIST_OF_JOBS, // what belongs to jobs
	RIGHT_LIST_SCALING,
	RIGHT_LIST_VOLUMES,
	RIGHT_FIND_VOLUMES,
	RIGHT_JOB_READ,
	RIGHT_JOB_READ_SCALE,
	RIGHT_JOB_SUBMIT,
	RIGHT_JOB_DISPATCH,
	RIGHT_JOB_FORCE,
	RIGHT_JOB_SCALE,
	RIGHT_JOB_PARSE,
	RIGHT_SCALING_READ,
	RIGHT_VOLUME_READ,
	RIGHT_VOLUME_WRITE,
	RIGHT_VOLUME_DELETE,
	// The namespace of the job in the body, unless the request names one: the route asks, too.
	RIGHT_BODY_READ,
	RIGHT_BODY_SUBMIT,
	// The namespace of what the path names.
	RIGHT_ALLOCATION_READ,
	RIGHT_ALLOCATION_STOP,
	RIGHT_ALLOCATION_COLLECT,
	RIGHT_ALLOCATION_FILES,
	RIGHT_ALLOCATION_LOGS,
	RIGHT_ALLOCATION_EXEC,
	RIGHT_ALLOCATION_NODE_EXEC, // in a task that nothing shuts in
	RIGHT_EVALUATION_READ,
	RIGHT_DEPLOYMENT_READ,
	RIGHT_DEPLOYMENT_CHANGE,
	// Variables of the requested namespace, or of all.
	RIGHT_FIND_VARIABLES,
	// The variable that the path names, in the requested namespace.
	RIGHT_VARIABLE_READ,
	RIGHT_VARIABLE_DESTROY,
	RIGHTS
};

// Where the name comes from that the right is about.
enum right_scope {
	SCOPE_NONE,
	SCOPE_POOL,      // in the path
	SCOPE_NAMESPACE, // of the request
	SCOPE_LIST,      // the same; "*" is all
	SCOPE_BODY,      // the same, or in the body
	SCOPE_ALLOCATION,
	SCOPE_EVALUATION,
	SCOPE_DEPLOYMENT,
	SCOPE_VARIABLE,
};

enum right_scope right_scope_of(enum right);
// name: of the namespace or the pool; NULL: of some namespace.
bool right_allows(enum right, const struct acl *, const char *name);
// The same of SCOPE_VARIABLE.
bool right_allows_variable(
	enum right, const struct acl *, const char *namespace_name, const char *path);
