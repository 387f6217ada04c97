#include "state/apply/apply_record.h"
#include "state/base/check.h"
#include "state/base/error.h"

struct record_rule {
	int (*put_check)(const struct state *, const struct entry_record_put *);
	void (*put)(struct state *, struct entry_record_put *); // takes the record over
	int (*delete_check)(const struct state *, const struct entry_record_delete *);
	void (*delete)(struct state *,
		const struct entry_record_delete *); // NULL: none is deleted by itself
};

static const struct record_rule rules[] = {
	[RECORD_EVALUATION] = {evaluation_put_check, evaluation_put},
	[RECORD_DEPLOYMENT] = {deployment_put_check, deployment_put},
	[RECORD_VM] = {vm_put_check, vm_put, vm_delete_check, vm_delete},
	[RECORD_VM_WORKER] = {vm_worker_put_check, vm_worker_put, vm_worker_delete_check,
		vm_worker_delete},
	[RECORD_CLUSTER_SETTINGS] = {cluster_settings_put_check, cluster_settings_apply},
	[RECORD_SCHEDULER_CONFIG] = {scheduler_config_put_check, scheduler_config_put},
};
_Static_assert(sizeof rules / sizeof rules[0] == RECORD_KINDS, "every kind has its rule");

int record_put_check(const struct state *state, const void *body)
{
	const struct entry_record_put *e = body;

	CHECK(e->kind < RECORD_KINDS && rules[e->kind].put && e->record);
	return rules[e->kind].put_check(state, e);
}

void record_put_apply(struct state *state, void *body, int64_t time_ns)
{
	struct entry_record_put *e = body;

	rules[e->kind].put(state, e);
	CHECK(!e->record);
}

int record_delete_check(const struct state *state, const void *body)
{
	const struct entry_record_delete *e = body;

	if (e->kind >= RECORD_KINDS || !rules[e->kind].delete_check)
		return -ERROR_CORRUPT;
	return rules[e->kind].delete_check(state, e);
}

void record_delete_apply(struct state *state, void *body, int64_t time_ns)
{
	const struct entry_record_delete *e = body;

	rules[e->kind].delete(state, e);
}
