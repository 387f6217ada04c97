#include "state/apply/apply_record.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"

struct record_rule {
	// Returns 0, -ERROR_CORRUPT or -ERROR_TABLE_FULL. NULL: the table's own check is enough.
	int (*put_check)(const struct state *, const struct entry_record_put *);
	// Takes the record over. NULL: putting it into its table is all.
	void (*put)(struct state *, struct entry_record_put *);
	bool is_deleted; // whether entries delete such records
};

static const struct record_rule rules[] = {
	[STATE_EVALUATIONS] = {evaluation_put_check, evaluation_put},
	[STATE_DEPLOYMENTS] = {deployment_put_check, deployment_put},
	[STATE_VMS] = {vm_put_check, .is_deleted = true},
	[STATE_VM_WORKERS] = {vm_worker_put_check, .is_deleted = true},
	[STATE_SCHEDULER_CONFIG] = {scheduler_config_put_check},
	[STATE_CLUSTER_SETTINGS] = {NULL},
	[STATE_NODE_POOLS] = {.is_deleted = true},
	[STATE_NODE_METADATA] = {node_metadata_put_check, node_metadata_put},
	[STATE_ACL_POLICIES] = {.is_deleted = true},
	[STATE_ACL_ROLES] = {acl_role_put_check, .is_deleted = true},
	[STATE_ACL_TOKENS] = {acl_token_put_check, .is_deleted = true},
	[STATE_ACL_BOOTSTRAP] = {acl_bootstrap_put_check},
	[STATE_SENDERS] = {.is_deleted = true},
	[STATE_ADMIT_RULES] = {.is_deleted = true},
	[STATE_REFUSED_NODES] = {.is_deleted = true},
	[STATE_VARIABLES] = {.is_deleted = true},
	[STATE_QUOTAS] = {.is_deleted = true},
	[STATE_NAMESPACES] = {namespace_put_check, .is_deleted = true},
};
_Static_assert(sizeof rules / sizeof rules[0] == STATE_TABLES, "every kind has its rule");

int record_put_check(const struct state *state, const void *body)
{
	const struct entry_record_put *e = body;

	CHECK(e->kind >= STATE_EVALUATIONS && e->kind < STATE_TABLES && e->record);
	const struct record_rule *rule = &rules[e->kind];
	return rule->put_check ? rule->put_check(state, e) : table_check(state, e->kind, e->record);
}

void record_put_apply(struct state *state, void *body, int64_t time_ns)
{
	struct entry_record_put *e = body;

	if (rules[e->kind].put)
		rules[e->kind].put(state, e);
	else
		table_put(state, e->kind, e->record);
	e->record = NULL;
}

static struct cell *record_cell_find(const struct state *state, const struct entry_record_delete *e)
{
	bool is_named = state_kinds[e->kind]->key == KEY_NAME;
	const void *key = is_named ? (const void *)&e->name : &e->id;

	return table_find(state, e->kind, key);
}

int record_delete_check(const struct state *state, const void *body)
{
	const struct entry_record_delete *e = body;
	bool is_there = e->kind < STATE_TABLES && rules[e->kind].is_deleted &&
			cell_is_there(record_cell_find(state, e));

	return is_there ? 0 : -ERROR_CORRUPT;
}

void record_delete_apply(struct state *state, void *body, int64_t time_ns)
{
	const struct entry_record_delete *e = body;
	struct cell *cell = record_cell_find(state, e);

	CHECK(cell_is_there(cell));
	cell_delete(state, cell, state->index);
}
