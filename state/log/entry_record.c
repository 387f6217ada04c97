#include "state/log/entry_record.h"
#include "state/base/error.h"
#include "state/base/schema_table.h"
#include "state/records/acl_policy.h"
#include "state/records/acl_role.h"
#include "state/records/acl_token.h"
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "state/records/namespaces/job_namespace.h"
#include "state/records/namespaces/quota.h"
#include "state/records/nodes/admit_rule.h"
#include "state/records/nodes/node_metadata.h"
#include "state/records/nodes/node_pool.h"
#include "state/records/nodes/sender.h"
#include "state/records/nodes/vm.h"
#include "state/records/scheduler_config.h"
#include "state/records/variable.h"

static const struct record_type *const record_types[] = {
	[STATE_EVALUATIONS] = &evaluation_description,
	[STATE_DEPLOYMENTS] = &deployment_description,
	[STATE_VMS] = &vm_description,
	[STATE_VM_WORKERS] = &vm_worker_description,
	[STATE_CLUSTER_SETTINGS] = &cluster_settings_description,
	[STATE_NODE_POOLS] = &node_pool_description,
	[STATE_NODE_METADATA] = &node_metadata_description,
	[STATE_ACL_POLICIES] = &acl_policy_description,
	[STATE_ACL_ROLES] = &acl_role_description,
	[STATE_ACL_TOKENS] = &acl_token_description,
	[STATE_ACL_BOOTSTRAP] = &acl_bootstrap_description,
	[STATE_QUOTAS] = &quota_description,
	[STATE_NAMESPACES] = &job_namespace_description,
	[STATE_SENDERS] = &sender_description,
	[STATE_ADMIT_RULES] = &admit_rule_description,
	[STATE_REFUSED_NODES] = &refused_node_description,
	[STATE_VARIABLES] = &variable_description,
	[STATE_SCHEDULER_CONFIG] = &scheduler_config_description,
};
_Static_assert(
	sizeof record_types / sizeof record_types[0] == STATE_TABLES, "every kind has a type");

static bool record_kind_is_put(uint8_t kind)
{
	return kind < STATE_TABLES && record_types[kind];
}

static const struct field entry_record_delete_fields[] = {
	{"Kind", FIELD_U8, OF(entry_record_delete, kind)},
	{"ID", FIELD_UUID, OF(entry_record_delete, id)},
	{"Name", FIELD_TEXT, OF(entry_record_delete, name)},
};
DESCRIBE(entry_record_delete_description, entry_record_delete);

void entry_record_put_code(struct coder *c, void *body)
{
	struct entry_record_put *e = body;

	code_u8(c, &e->kind);
	code_flag(c, &e->settles_mark);
	if (coder_has_read(c) && !record_kind_is_put(e->kind))
		coder_fail(c, -ERROR_VERSION);
	else if (c->writer || coder_has_read(c))
		code_record(c, record_types[e->kind], &e->record);
}

void entry_record_put_release(void *body)
{
	struct entry_record_put *e = body;

	if (e->record)
		record_free(record_types[e->kind], e->record);
	e->record = NULL;
}
