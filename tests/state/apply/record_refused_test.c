// Entries of records that may not follow the state as it is: of access control, evaluations, deployments, machines and
// their workers, and what nodes and operators say of allocations. They are refused before they touch it.
#include "state/base/memory.h"
#include "state/records/scheduler_config.h"
#include "state/snapshot/snapshot_view.h"
#include "tests/state/acls.h"
#include "tests/state/apply/refused.h"
#include "tests/state/deployments.h"
#include "tests/state/vms.h"
#include <stdlib.h>

enum { NODES = 3 }; // numbers and slots 0 …, generation 1

static int set_up(void **test)
{
	*test = controller_with_nodes((struct state_limits){.deployments = 8}, NODES);
	return 0;
}

static int tear_down(void **test)
{
	controller_end(*test);
	return 0;
}

static struct entry put_of(enum state_table kind, void *record)
{
	return (struct entry){.kind = ENTRY_RECORD_PUT, .record_put = {kind, false, record}};
}

// An id is given once: while a snapshot holds what was deleted, nothing else is put under its id.
static void refused_when_deleted(
	struct controller *c, const struct entry *e, enum command_type type, struct uuid id)
{
	struct command command = {.type = type, .acl_delete = {id}};
	struct snapshot_view *view = snapshot_view_begin(c->state);

	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	int error = entry_check(c->state, e);
	snapshot_view_end(view);
	assert_int_equal(error, -ERROR_CORRUPT);
	settle(c);
	assert_int_equal(checked(c, e), 0); // it is forgotten
}

static void roles(void **test)
{
	struct controller *c = *test;
	struct uuid gone, other;

	assert_int_equal(put_policy(c, build_policy("read", "")), OUTCOME_DONE);
	assert_int_equal(put_role(c, build_role((struct uuid){{0}}, "gone", "read"), &gone), 0);
	assert_int_equal(put_role(c, build_role((struct uuid){{0}}, "other", "read"), &other), 0);
	struct acl_role *role = build_role(number_uuid(7), "mine", "read");
	struct entry e = put_of(STATE_ACL_ROLES, role);
	char name[] = "other";
	REFUSED(c, e, role->name, name);
	REFUSED(c, e, role->name, NULL);
	role->id = gone;
	refused_when_deleted(c, &e, COMMAND_ACL_ROLE_DELETE, gone);
	entry_release(&e);
}

static void tokens(void **test)
{
	struct controller *c = *test;
	struct uuid gone, other;

	assert_int_equal(put_token(c, build_token(c, (struct uuid){{0}}, 1, ""), &gone), 0);
	assert_int_equal(put_token(c, build_token(c, (struct uuid){{0}}, 2, ""), &other), 0);
	struct acl_token *token = build_token(c, number_uuid(7), 3, "");
	struct entry e = put_of(STATE_ACL_TOKENS, token);
	REFUSED(c, e, token->accessor, other); // which has another secret
	REFUSED(c, e, token->secret, number_secret(2));
	REFUSED(c, e, token->type, ACL_TOKEN_TYPES);
	token->accessor = gone;
	token->secret = number_secret(1);
	refused_when_deleted(c, &e, COMMAND_ACL_TOKEN_DELETE, gone);
	entry_release(&e);
	struct acl_bootstrap *mark = record_create(&acl_bootstrap_description);
	mark->accessor = other;
	mark->reset_index = c->state->index;
	e = put_of(STATE_ACL_BOOTSTRAP, mark);
	REFUSED(c, e, mark->reset_index, c->state->index + 1);
	entry_release(&e);
}

static void evaluations(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_SERVICE);
	uint64_t next = c->state->index + 1;
	struct evaluation *eval = build_evaluation(1, job.id, EVAL_PENDING);
	struct entry e = put_of(STATE_EVALUATIONS, eval);
	char none[] = "none", *web = eval->job_id;
	eval->record.create_index = eval->record.modify_index = next;
	REFUSED(c, e, eval->record.modify_index, next - 1);
	REFUSED(c, e, eval->record.create_index, next - 1);
	REFUSED(c, e, eval->id, job.eval); // which began before
	e.record_put.settles_mark = true;
	assert_int_equal(checked(c, &e), -ERROR_CORRUPT); // nobody marked the job
	eval->job_id = none;
	assert_int_equal(checked(c, &e), -ERROR_CORRUPT); // nor is there one of this name
	eval->job_id = web;
	entry_release(&e);
}

static void scheduler_configs(void **test)
{
	struct controller *c = *test;
	struct scheduler_config *config = record_create(&scheduler_config_description);
	struct entry e = put_of(STATE_SCHEDULER_CONFIG, config);
	uint64_t next = c->state->index + 1;

	config->record.create_index = config->record.modify_index = next;
	REFUSED(c, e, config->record.modify_index, next + 1);
	REFUSED(c, e, config->record.create_index, next - 1);
	REFUSED(c, e, config->algorithm, ALGORITHM_SPREAD + 1);
	entry_release(&e);
}

// Deployment 1 of "web" with two allocations on slot 0.
static struct planned_job deploy(struct controller *c)
{
	struct planned_job job = deployed_job(c, "web", 50);
	struct plan *plan = plan_deployment(&job, build_deployment(c, "web", 1, 2));

	plan_deployed(plan, 100, 0, 1, true);
	plan_deployed(plan, 101, 0, 1, false);
	commit_plan(c, plan);
	return job;
}

static void deployments(void **test)
{
	struct controller *c = *test;

	deploy(c);
	(void)deployed_job(c, "db", 50);
	struct deployment *d = build_deployment(c, "db", 2, 2);
	struct entry e = put_of(STATE_DEPLOYMENTS, d);
	char web[] = "web", none[] = "none";
	d->record.create_index = d->record.modify_index = c->state->index + 1;
	REFUSED(c, e, d->id, number_uuid(1));
	REFUSED(c, e, d->job_id, web); // of another version, and "web" has an active one
	REFUSED(c, e, d->job_id, none);
	REFUSED(c, e, d->status, DEPLOYMENT_FAILED);
	REFUSED(c, e, group_of(d, "g0")->progress_deadline_ns, -1);
	entry_release(&e);
	e = (struct entry){.kind = ENTRY_DEPLOYMENT,
		.deployment = {.change = DEPLOYMENT_CHANGES_STATUS,
			.id = number_uuid(1),
			.status = DEPLOYMENT_PAUSED,
			.description = TEXT("Deployment is paused")}};
	REFUSED(c, e, e.deployment.id, number_uuid(2));
	REFUSED(c, e, e.deployment.status, 200);
}

static void reports_and_transitions(void **test)
{
	struct controller *c = *test;
	struct reported_alloc reported[] = {
		{.id = number_uuid(100), .client_status = ALLOC_RUNNING},
		{.id = number_uuid(101), .client_status = ALLOC_RUNNING}};
	struct entry e = {.kind = ENTRY_ALLOC_UPDATE,
		.alloc_update = {.generation = 1, .sequence = 5, .count = 2, .items = reported}};

	deploy(c);
	REFUSED(c, e, e.alloc_update.slot, 1); // they are not its
	REFUSED(c, e, e.alloc_update.slot, NODES);
	REFUSED(c, e, e.alloc_update.generation, 2);
	REFUSED(c, e, e.alloc_update.sequence, 0);
	REFUSED(c, e, reported[1].id, number_uuid(102));
	REFUSED(c, e, reported[1].id, number_uuid(100)); // twice
	struct alloc_transition items[] = {{.id = number_uuid(100)}, {.id = number_uuid(101)}};
	struct entry moved = {.kind = ENTRY_ALLOC_TRANSITION, .alloc_transition = {2, items}};
	REFUSED(c, moved, items[0].id, number_uuid(99));
	REFUSED(c, moved, items[1].id, number_uuid(100)); // twice
	assert_int_equal(controller_node(c, COMMAND_NODE_EXPIRED, 0, 1), OUTCOME_DONE);
	assert_int_equal(checked(c, &e), -ERROR_CORRUPT); // its node is down
}

static void what_is_in_use_is_no_garbage(void **test)
{
	struct controller *c = *test;
	struct planned_job job = deploy(c);
	struct uuid ids[] = {job.eval, number_uuid(1)};
	struct entry e = {.kind = ENTRY_GC, .gc = {.kind = GC_EVALUATION, .count = 1, .ids = ids}};

	assert_int_equal(checked(c, &e), -ERROR_CORRUPT); // an evaluation that has to be worked
	e.gc.kind = GC_EVALUATION_ALIVE;
	ids[0] = number_uuid(9);
	assert_int_equal(checked(c, &e), -ERROR_CORRUPT); // that is not there
	e.gc.kind = GC_DEPLOYMENT;
	ids[0] = number_uuid(1);
	assert_int_equal(checked(c, &e), -ERROR_CORRUPT); // that runs
	e.gc.kind = GC_ALLOCATION;
	ids[0] = number_uuid(100);
	assert_int_equal(checked(c, &e), -ERROR_CORRUPT); // that runs
	ids[1] = number_uuid(101);
	e.gc.count = 2;
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(
			report_as(c, 0, &ids[i], ALLOC_COMPLETE, (struct optional_bool){0}),
			OUTCOME_DONE);
	REFUSED(c, e, ids[1], number_uuid(100)); // twice
	REFUSED(c, e, ids[0], number_uuid(102));
}

static void notes_and_drains(void **test)
{
	struct controller *c = *test;
	struct entry e = {.kind = ENTRY_JOB_NOTE,
		.job_note = {
			.namespace_name = TEXT("default"), .id = TEXT("web"), .launched_ns = 1}};

	(void)plan_job(c, "web", JOB_SERVICE);
	REFUSED(c, e, e.job_note.id, TEXT("none"));
	REFUSED(c, e, e.job_note.namespace_name, TEXT("none"));
	REFUSED(c, e, e.job_note.launched_ns, 0); // of no group
	e = (struct entry){.kind = ENTRY_NODE_DRAIN, .node_drain = {.generation = 1}};
	REFUSED(c, e, e.node_drain.slot, NODES);
	REFUSED(c, e, e.node_drain.generation, 2);
	REFUSED(c, e, e.node_drain.end, DRAIN_COMPLETE); // of none
	REFUSED(c, e, e.node_drain.deadline_ns, DRAIN_DEADLINE_MAX_NS + 1);
}

static void machines(void **test)
{
	struct controller *c = *test;
	struct vm *vm = build_vm("mine", 1);
	char message[160], other[] = "other";
	struct entry e = put_of(STATE_VMS, vm);

	assert_int_equal(create_vm(c, build_vm("other", 1)), OUTCOME_DONE);
	assert_true(vm_complete(vm, "uid-mine", 1, message, sizeof message));
	REFUSED(c, e, vm->name, other);
	REFUSED(c, e, vm->status, VM_RUNNING);
	REFUSED(c, e, vm->power_state, 200);
	entry_release(&e);
	e = (struct entry){.kind = ENTRY_VM,
		.vm = {.change = VM_CHANGES_POWER,
			.name = TEXT("other"),
			.power_state = VM_POWER_STOPPED}};
	REFUSED(c, e, e.vm.name, TEXT("mine"));
	REFUSED(c, e, e.vm.power_state, 200);
}

static void workers(void **test)
{
	struct controller *c = *test;
	struct vm_worker *worker = build_worker("mine", "m-mine", 4);
	struct entry e = put_of(STATE_VM_WORKERS, worker);
	char other[] = "other";

	assert_int_equal(put_worker(c, build_worker("other", "m-other", 4)), OUTCOME_DONE);
	REFUSED(c, e, worker->beats, true); // only a node beats
	REFUSED(c, e, worker->name, other); // which is another machine
	REFUSED(c, e, worker->node, number_uuid(99));
	REFUSED(c, e, ARRAY_AT(&worker->resources, struct named_count, 0)->count, -1);
	worker->node = number_uuid(1);
	assert_int_equal(checked(c, &e), 0);
	entry_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(roles, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tokens, set_up, tear_down),
		cmocka_unit_test_setup_teardown(evaluations, set_up, tear_down),
		cmocka_unit_test_setup_teardown(scheduler_configs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(deployments, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reports_and_transitions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_in_use_is_no_garbage, set_up, tear_down),
		cmocka_unit_test_setup_teardown(notes_and_drains, set_up, tear_down),
		cmocka_unit_test_setup_teardown(machines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(workers, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
