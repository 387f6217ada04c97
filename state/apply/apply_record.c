#include "state/apply/apply_record.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"

struct record_rule {
	uint8_t table; // enum state_table; for kinds that need only the table's own check
	int (*put_check)(const struct state *, const struct entry_record_put *);
	void (*put)(struct state *, struct entry_record_put *); // takes the record over
	int (*delete_check)(const struct state *, const struct entry_record_delete *);
	void (*delete)(struct state *,
		const struct entry_record_delete *); // NULL: no entry deletes such a record
};

static const struct record_rule rules[] = {
	[STATE_EVALUATIONS] = {0, evaluation_put_check, evaluation_put},
	[STATE_DEPLOYMENTS] = {0, deployment_put_check, deployment_put},
	[STATE_VMS] = {0, vm_put_check, vm_put, vm_delete_check, vm_delete},
	[STATE_VM_WORKERS] = {0, vm_worker_put_check, vm_worker_put, vm_worker_delete_check,
		vm_worker_delete},
	[STATE_CLUSTER_SETTINGS] = {.table = STATE_CLUSTER_SETTINGS},
	[STATE_SCHEDULER_CONFIG] = {0, scheduler_config_put_check, scheduler_config_put},
};
_Static_assert(sizeof rules / sizeof rules[0] == STATE_TABLES, "every kind has its rule");

int record_put_check(const struct state *state, const void *body)
{
	const struct entry_record_put *e = body;

	CHECK(e->kind < STATE_TABLES && e->record);
	const struct record_rule *rule = &rules[e->kind];
	CHECK(rule->put || rule->table);
	return rule->put ? rule->put_check(state, e) : table_check(state, rule->table, e->record);
}

void record_put_apply(struct state *state, void *body, int64_t time_ns)
{
	struct entry_record_put *e = body;

	const struct record_rule *rule = &rules[e->kind];
	if (rule->put) {
		rule->put(state, e);
		CHECK(!e->record);
		return;
	}
	table_put(state, rule->table, e->record);
	e->record = NULL;
}

int record_delete_check(const struct state *state, const void *body)
{
	const struct entry_record_delete *e = body;

	if (e->kind >= STATE_TABLES || !rules[e->kind].delete_check)
		return -ERROR_CORRUPT;
	return rules[e->kind].delete_check(state, e);
}

void record_delete_apply(struct state *state, void *body, int64_t time_ns)
{
	const struct entry_record_delete *e = body;

	rules[e->kind].delete(state, e);
}
