#include "tools/api/access/rights.h"
#include "state/base/check.h"

#define CAPABILITIES_MAX 4u

struct need {
	enum right_scope scope;
	bool open, management;
	enum acl_area area;
	enum acl_level level; // ACL_LEVEL_NONE: of no area
	bool or_connect;      // the area ACL_VM_CONNECT allows it, too
	enum acl_pool_capability pool;
	enum acl_variable_capability variable;
	bool knows_variables; // whatever is said of them
	enum acl_capability any_of[CAPABILITIES_MAX], all_of[CAPABILITIES_MAX];
};

static const struct need needs[RIGHTS] = {
	[RIGHT_OPEN] = {.open = true},
	[RIGHT_FILTERED] = {.open = true},
	[RIGHT_TOKEN] = {.open = true}, // without one nobody comes so far (access.c)
	[RIGHT_MANAGEMENT] = {.management = true},
	[RIGHT_AGENT_READ] = {.area = ACL_AGENT, .level = ACL_LEVEL_READ},
	[RIGHT_AGENT_WRITE] = {.area = ACL_AGENT, .level = ACL_LEVEL_WRITE},
	[RIGHT_NODE_READ] = {.area = ACL_NODE, .level = ACL_LEVEL_READ},
	[RIGHT_NODE_WRITE] = {.area = ACL_NODE, .level = ACL_LEVEL_WRITE},
	[RIGHT_OPERATOR_READ] = {.area = ACL_OPERATOR, .level = ACL_LEVEL_READ},
	[RIGHT_OPERATOR_WRITE] = {.area = ACL_OPERATOR, .level = ACL_LEVEL_WRITE},
	[RIGHT_PLUGIN_LIST] = {.area = ACL_PLUGIN, .level = ACL_LEVEL_LIST},
	[RIGHT_PLUGIN_READ] = {.area = ACL_PLUGIN, .level = ACL_LEVEL_READ},
	[RIGHT_VM_READ] = {.area = ACL_VM, .level = ACL_LEVEL_READ},
	[RIGHT_VM_WRITE] = {.area = ACL_VM, .level = ACL_LEVEL_WRITE},
	[RIGHT_VM_CONNECT] = {.area = ACL_VM, .level = ACL_LEVEL_WRITE, .or_connect = true},
	[RIGHT_VM_ADMIN_READ] = {.area = ACL_VM_ADMIN, .level = ACL_LEVEL_READ},
	[RIGHT_VM_ADMIN_WRITE] = {.area = ACL_VM_ADMIN, .level = ACL_LEVEL_WRITE},
	[RIGHT_QUOTA_READ] = {.area = ACL_QUOTA, .level = ACL_LEVEL_READ},
	[RIGHT_QUOTA_WRITE] = {.area = ACL_QUOTA, .level = ACL_LEVEL_WRITE},
	[RIGHT_POOL_READ] = {SCOPE_POOL, .pool = ACL_POOL_READ},
	[RIGHT_POOL_DELETE] = {SCOPE_POOL, .pool = ACL_POOL_DELETE},
	[RIGHT_POOL_NODES] = {SCOPE_POOL, .pool = ACL_POOL_READ, .area = ACL_NODE,
		.level = ACL_LEVEL_READ},
	[RIGHT_LIST_JOBS] = {SCOPE_LIST, .any_of = {ACL_LIST_JOBS}},
	[RIGHT_LIST_OF_JOBS] = {SCOPE_LIST, .any_of = {ACL_READ_JOB}},
	[RIGHT_LIST_SCALING] = {SCOPE_LIST, .any_of = {ACL_LIST_SCALING_POLICIES}},
	[RIGHT_LIST_VOLUMES] = {SCOPE_LIST, .any_of = {ACL_CSI_LIST_VOLUME, ACL_CSI_READ_VOLUME,
						    ACL_CSI_MOUNT_VOLUME, ACL_LIST_JOBS}},
	[RIGHT_FIND_VOLUMES] = {SCOPE_LIST,
		.any_of = {ACL_CSI_LIST_VOLUME, ACL_CSI_READ_VOLUME, ACL_LIST_JOBS, ACL_READ_JOB}},
	[RIGHT_JOB_READ] = {SCOPE_NAMESPACE, .any_of = {ACL_READ_JOB}},
	[RIGHT_JOB_READ_SCALE] = {SCOPE_NAMESPACE, .any_of = {ACL_READ_JOB, ACL_READ_JOB_SCALING}},
	[RIGHT_JOB_SUBMIT] = {SCOPE_NAMESPACE, .any_of = {ACL_SUBMIT_JOB}},
	[RIGHT_JOB_DISPATCH] = {SCOPE_NAMESPACE, .any_of = {ACL_DISPATCH_JOB}},
	[RIGHT_JOB_FORCE] = {SCOPE_NAMESPACE, .any_of = {ACL_DISPATCH_JOB, ACL_SUBMIT_JOB}},
	[RIGHT_JOB_SCALE] = {SCOPE_NAMESPACE, .any_of = {ACL_SCALE_JOB, ACL_SUBMIT_JOB}},
	[RIGHT_JOB_PARSE] = {SCOPE_NAMESPACE, .any_of = {ACL_PARSE_JOB, ACL_SUBMIT_JOB}},
	[RIGHT_SCALING_READ] = {SCOPE_NAMESPACE, .any_of = {ACL_READ_SCALING_POLICY}},
	[RIGHT_VOLUME_READ] = {SCOPE_NAMESPACE,
		.any_of = {ACL_CSI_READ_VOLUME, ACL_CSI_MOUNT_VOLUME, ACL_READ_JOB}},
	[RIGHT_VOLUME_WRITE] = {SCOPE_NAMESPACE, .area = ACL_PLUGIN, .level = ACL_LEVEL_READ,
		.any_of = {ACL_CSI_WRITE_VOLUME}},
	[RIGHT_VOLUME_DELETE] = {SCOPE_NAMESPACE, .any_of = {ACL_CSI_WRITE_VOLUME}},
	[RIGHT_BODY_READ] = {SCOPE_BODY, .any_of = {ACL_READ_JOB}},
	[RIGHT_BODY_SUBMIT] = {SCOPE_BODY, .any_of = {ACL_SUBMIT_JOB}},
	[RIGHT_ALLOCATION_READ] = {SCOPE_ALLOCATION, .any_of = {ACL_READ_JOB}},
	[RIGHT_ALLOCATION_STOP] = {SCOPE_ALLOCATION, .any_of = {ACL_ALLOC_LIFECYCLE}},
	[RIGHT_ALLOCATION_COLLECT] = {SCOPE_ALLOCATION, .any_of = {ACL_SUBMIT_JOB}},
	[RIGHT_ALLOCATION_FILES] = {SCOPE_ALLOCATION, .any_of = {ACL_READ_FS}},
	[RIGHT_ALLOCATION_LOGS] = {SCOPE_ALLOCATION, .any_of = {ACL_READ_LOGS, ACL_READ_FS}},
	[RIGHT_ALLOCATION_EXEC] = {SCOPE_ALLOCATION, .all_of = {ACL_ALLOC_EXEC}},
	[RIGHT_ALLOCATION_NODE_EXEC] = {SCOPE_ALLOCATION,
		.all_of = {ACL_ALLOC_EXEC, ACL_ALLOC_NODE_EXEC}},
	[RIGHT_EVALUATION_READ] = {SCOPE_EVALUATION, .any_of = {ACL_READ_JOB}},
	[RIGHT_DEPLOYMENT_READ] = {SCOPE_DEPLOYMENT, .any_of = {ACL_READ_JOB}},
	[RIGHT_DEPLOYMENT_CHANGE] = {SCOPE_DEPLOYMENT, .any_of = {ACL_SUBMIT_JOB}},
	[RIGHT_FIND_VARIABLES] = {SCOPE_LIST, .knows_variables = true},
	[RIGHT_VARIABLE_READ] = {SCOPE_VARIABLE, .variable = ACL_VARIABLE_READ},
	[RIGHT_VARIABLE_DESTROY] = {SCOPE_VARIABLE, .variable = ACL_VARIABLE_DESTROY},
};

enum right_scope right_scope_of(enum right right)
{
	CHECK(right > RIGHT_UNSAID && right < RIGHTS);
	return needs[right].scope;
}

static bool allows_one(const struct acl *acl, const char *name, enum acl_capability capability)
{
	return name ? acl_allows_in(acl, name, capability) : acl_allows_somewhere(acl, capability);
}

static bool allows_any(const struct need *need, const struct acl *acl, const char *name)
{
	bool allows = !need->any_of[0];
	for (uint32_t i = 0; i < CAPABILITIES_MAX && need->any_of[i] && !allows; i++)
		allows = allows_one(acl, name, need->any_of[i]);
	return allows;
}

static bool allows_all(const struct need *need, const struct acl *acl, const char *name)
{
	bool allows = true;
	for (uint32_t i = 0; i < CAPABILITIES_MAX && need->all_of[i] && allows; i++)
		allows = allows_one(acl, name, need->all_of[i]);
	return allows;
}

static bool allows_area(const struct need *need, const struct acl *acl)
{
	return !need->level || acl_allows_area(acl, need->area, need->level) ||
	       (need->or_connect && acl_allows_area(acl, ACL_VM_CONNECT, need->level));
}

bool right_allows(enum right right, const struct acl *acl, const char *name)
{
	CHECK(right > RIGHT_UNSAID && right < RIGHTS);
	const struct need *need = &needs[right];
	if (need->open || acl_is_management(acl))
		return true;
	CHECK(!need->variable);
	if (need->knows_variables)
		return acl_knows_variables(acl, name);
	if (need->management || (need->pool && (!name || !acl_allows_pool(acl, name, need->pool))))
		return false;
	return allows_area(need, acl) && allows_any(need, acl, name) && allows_all(need, acl, name);
}

bool right_allows_variable(
	enum right right, const struct acl *acl, const char *namespace_name, const char *path)
{
	CHECK(right_scope_of(right) == SCOPE_VARIABLE);
	return acl_allows_variable(acl, namespace_name, path, needs[right].variable);
}
