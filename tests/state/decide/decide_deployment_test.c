// What operators, peers and the watcher ask of a deployment, and what clients are told when it is refused.
#include "state/base/memory.h"
#include "tests/state/deployments.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NODES = 6 }; // numbers and slots 0 …, generation 1

static const struct optional_bool healthy = {true, true};

static int setup(void **test)
{
	*test = controller_with_nodes((struct state_limits){.deployments = 8}, NODES);
	return 0;
}

static int teardown(void **test)
{
	controller_end(*test);
	return 0;
}

// Deployment 1 of "web" with canaries 100 and 101 and another, 102.
static struct planned_job begin(struct controller *c, int64_t priority, bool auto_revert)
{
	struct planned_job job = deployed_job(c, "web", priority);
	struct deployment *d = build_deployment(c, "web", 1, 2);

	group_of(d, "g1")->auto_revert = auto_revert;
	struct plan *plan = plan_deployment(&job, d);
	plan_deployed(plan, 100, 0, 1, true);
	plan_deployed(plan, 101, 1, 1, true);
	plan_deployed(plan, 102, 2, 1, false);
	commit_plan(c, plan);
	return job;
}

static void set(struct controller *c, enum deployment_status status)
{
	struct planned_job job = deployed_job(c, "other", 50); // whoever says it
	struct plan *plan = build_plan(&job);

	plan_deployment_status(plan, 1, status, deployment_status_names[status]);
	commit_plan(c, plan);
}

static void expect_refused(struct controller *c, enum deployment_action action,
	enum command_outcome outcome, const char *message)
{
	struct uuid id = number_uuid(100);
	struct command_deployment change = {.healthy = &id, .healthy_count = 1};
	uint64_t index = state_index(c->state);

	assert_int_equal(change_deployment(c, 1, action, &change), outcome);
	assert_string_equal(change.message, message);
	assert_int_equal(change.made.count, 0);
	assert_int_equal(state_index(c->state), index);
}

static void pause_and_resume(void **test)
{
	struct controller *c = *test;
	struct command_deployment change = {0};
	begin(c, 50, false);

	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_PAUSE, &change), OUTCOME_DONE);
	expect_status(c, 1, DEPLOYMENT_PAUSED, "Deployment is paused");
	assert_int_equal(change.made.count, 0);
	assert_int_equal(change.modify_index, state_index(c->state));
	assert_int_equal(ask_deployment(c, 1, DEPLOYMENT_PAUSE), OUTCOME_DONE); // it is
	expect_refused(c, DEPLOYMENT_RUN, OUTCOME_NOT_NOW, "can't run paused deployment");
	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_RESUME, &change), OUTCOME_DONE);
	expect_status(c, 1, DEPLOYMENT_RUNNING, "Deployment is running");
	assert_int_equal(change.made.count, 1);
	struct evaluation *e = published_evaluation(c, &change.made.id);
	struct uuid id = number_uuid(1);
	assert_int_equal(e->triggered_by, TRIGGER_DEPLOYMENT_WATCHER);
	assert_true(uuid_equal(&e->deployment_id, &id));
	assert_int_equal(e->priority, 50);
	assert_int_equal(e->type, EVAL_SERVICE);
	evaluation_free(e);
	assert_int_equal(ask_deployment(c, 2, DEPLOYMENT_PAUSE), OUTCOME_UNKNOWN_DEPLOYMENT);
}

static void what_is_over_stays_over(void **test)
{
	struct controller *c = *test;
	static const struct {
		enum deployment_action action;
		const char *message;
	} refused[] = {
		{DEPLOYMENT_PAUSE, "can't pause terminal deployment"},
		{DEPLOYMENT_RESUME, "can't resume terminal deployment"},
		{DEPLOYMENT_FAIL, "can't fail terminal deployment"},
		{DEPLOYMENT_PROMOTE, "can't promote terminal deployment"},
		{DEPLOYMENT_UNBLOCK, "can't unblock terminal deployment"},
		{DEPLOYMENT_RUN, "can't run terminal deployment"},
		{DEPLOYMENT_CANCEL, "can't cancel terminal deployment"},
		{DEPLOYMENT_SET_HEALTH,
			"can't set health of allocations for a terminal deployment"},
	};
	begin(c, 50, false);
	set(c, DEPLOYMENT_SUCCESSFUL);

	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		expect_refused(c, refused[i].action, OUTCOME_TERMINAL, refused[i].message);
}

static void regions_wait_and_go_on(void **test)
{
	struct controller *c = *test;
	struct command_deployment change = {0};
	struct planned_job job = deployed_job(c, "web", 50);
	struct deployment *d = build_deployment(c, "web", 1, 0);

	d->status = DEPLOYMENT_INITIALIZING;
	commit_plan(c, plan_deployment(&job, d));
	expect_refused(c, DEPLOYMENT_RUN, OUTCOME_NOT_NOW, "can't run initializing deployment");
	expect_refused(c, DEPLOYMENT_PAUSE, OUTCOME_NOT_NOW, "can't pause initializing deployment");
	set(c, DEPLOYMENT_PENDING);
	expect_refused(c, DEPLOYMENT_RESUME, OUTCOME_NOT_NOW, "can't resume pending deployment");
	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_RUN, &change), OUTCOME_DONE);
	assert_int_equal(change.made.count, 1);
	expect_status(c, 1, DEPLOYMENT_RUNNING, "Deployment is running");
	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_RUN, &change), OUTCOME_DONE);
	assert_int_equal(change.made.count, 0); // asked for again, it is
	expect_refused(c, DEPLOYMENT_UNBLOCK, OUTCOME_NOT_NOW, "can't unblock running deployment");
	set(c, DEPLOYMENT_BLOCKED);
	assert_int_equal(ask_deployment(c, 1, DEPLOYMENT_UNBLOCK), OUTCOME_DONE);
	expect_status(c, 1, DEPLOYMENT_SUCCESSFUL, "Deployment completed successfully");
	assert_true(version_is_stable(c, "web", 0));
}

static void cancelled_with_a_reason(void **test)
{
	struct controller *c = *test;
	struct command_deployment change = {.description = DEPLOYMENT_TEXT_STOPPED_JOB};
	begin(c, 50, false);

	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_CANCEL, &change), OUTCOME_DONE);
	expect_status(c, 1, DEPLOYMENT_CANCELLED, "Cancelled because job is stopped");
	assert_int_equal(change.made.count, 1);
}

static void fails_without_going_back(void **test)
{
	struct controller *c = *test;
	struct command_deployment change = {.description = DEPLOYMENT_TEXT_DEADLINE};
	begin(c, 50, true);

	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_FAIL, &change), OUTCOME_DONE);
	expect_status(c, 1, DEPLOYMENT_FAILED, "Failed due to progress deadline");
	assert_int_equal(change.made.count, 1);
	assert_false(change.reverted_version.set);
}

static void there_is_nothing_to_go_back_to(void **test)
{
	struct controller *c = *test;
	struct command_deployment change = {.revert = true};
	begin(c, 50, true);

	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_FAIL, &change), OUTCOME_DONE);
	expect_status(c, 1, DEPLOYMENT_FAILED,
		"Deployment marked as failed - no stable job version to auto revert to");
	assert_false(change.reverted_version.set);
}

static void call_stable(struct controller *c, const char *job, uint64_t version)
{
	struct command command = {.type = COMMAND_JOB_STABLE,
		.job_stable = {TEXT("default"), text_of(job), version, true}};

	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
}

static uint64_t newest_version(const struct controller *c, int64_t *priority)
{
	state_read_begin();
	const struct job *job = state_job(c->state, TEXT("default"), TEXT("web"));
	uint64_t version = job->version;
	*priority = job->priority;
	state_read_end();
	return version;
}

static void goes_back_to_what_was_stable(void **test)
{
	struct controller *c = *test;
	struct command_deployment change = {
		.description = DEPLOYMENT_TEXT_UNHEALTHY, .revert = true};
	uint32_t batches;
	int64_t priority;

	deployed_job(c, "web", 40);
	call_stable(c, "web", 0);
	begin(c, 50, true);
	batches = c->log.count;
	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_FAIL, &change), OUTCOME_DONE);
	assert_int_equal(c->log.count, batches + 1); // all at once
	expect_status(c, 1, DEPLOYMENT_FAILED,
		"Failed due to unhealthy allocations - rolling back to job version 0");
	assert_true(change.reverted_version.set);
	assert_int_equal(change.reverted_version.value, 0);
	assert_int_equal(newest_version(c, &priority), 2);
	assert_int_equal(priority, 40);
	assert_int_equal(change.made.count, 1);
}

static void does_not_go_back_to_itself(void **test)
{
	struct controller *c = *test;
	struct command_deployment change = {.revert = true};
	int64_t priority;
	begin(c, 50, true);

	call_stable(c, "web", 0);
	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_FAIL, &change), OUTCOME_DONE);
	expect_status(c, 1, DEPLOYMENT_FAILED,
		"Deployment marked as failed - not rolling back to stable job version 0 as current "
		"job has same specification");
	assert_int_equal(newest_version(c, &priority), 0);
}

static void no_group_asked_to_go_back(void **test)
{
	struct controller *c = *test;
	struct command_deployment change = {.revert = true};
	int64_t priority;

	deployed_job(c, "web", 40);
	call_stable(c, "web", 0);
	begin(c, 50, false);
	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_FAIL, &change), OUTCOME_DONE);
	expect_status(c, 1, DEPLOYMENT_FAILED, "Deployment marked as failed");
	assert_int_equal(newest_version(c, &priority), 1);
}

static void a_newer_version_is_not_taken_back(void **test)
{
	struct controller *c = *test;
	struct command_deployment change = {.revert = true};
	int64_t priority;

	deployed_job(c, "web", 40);
	call_stable(c, "web", 0);
	begin(c, 50, true);
	deployed_job(c, "web", 60); // what its owner did about it meanwhile
	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_FAIL, &change), OUTCOME_DONE);
	expect_status(c, 1, DEPLOYMENT_FAILED, "Deployment marked as failed");
	assert_int_equal(newest_version(c, &priority), 2);
	assert_int_equal(priority, 60);
}

static void the_priority_is_inherited(void **test)
{
	struct controller *c = *test;
	struct command_deployment change = {0};
	struct planned_job job = deployed_job(c, "web", 50);
	struct deployment *d = build_deployment(c, "web", 1, 0);

	d->eval_priority = 77;
	commit_plan(c, plan_deployment(&job, d));
	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_FAIL, &change), OUTCOME_DONE);
	struct evaluation *e = published_evaluation(c, &change.made.id);
	assert_int_equal(e->priority, 77);
	evaluation_free(e);
}

static bool is_canary(const struct controller *c, uint32_t id)
{
	state_read_begin();
	bool canary = allocation_health(published_allocation(c, id))->canary;
	state_read_end();
	return canary;
}

static void promotion_needs_healthy_canaries(void **test)
{
	struct controller *c = *test;
	begin(c, 50, false);

	expect_refused(c, DEPLOYMENT_PROMOTE, OUTCOME_NOT_NOW,
		"Task group \"g0\" has 0/2 healthy allocations");
	assert_int_equal(report_health(c, 0, 100, healthy), OUTCOME_DONE);
	assert_int_equal(report_health(c, 2, 102, healthy), OUTCOME_DONE); // no canary
	expect_refused(c, DEPLOYMENT_PROMOTE, OUTCOME_NOT_NOW,
		"Task group \"g0\" has 1/2 healthy allocations");
	assert_int_equal(report_health(c, 1, 101, healthy), OUTCOME_DONE);
	assert_int_equal(report_status(c, 1, 1, 1000, 101, ALLOC_FAILED, NULL), OUTCOME_DONE);
	expect_refused(c, DEPLOYMENT_PROMOTE, OUTCOME_NOT_NOW,
		"Task group \"g0\" has 1/2 healthy allocations"); // it was healthy
}

static void promotion_makes_canaries_ordinary(void **test)
{
	struct controller *c = *test;
	struct command_deployment change = {0};
	begin(c, 50, false);

	assert_int_equal(report_health(c, 0, 100, healthy), OUTCOME_DONE);
	assert_int_equal(report_health(c, 1, 101, healthy), OUTCOME_DONE);
	advance_ms(c, 9000);
	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_PROMOTE, &change), OUTCOME_DONE);
	assert_int_equal(change.made.count, 1);
	struct deployment *d = published_deployment(c, 1);
	assert_true(group_of(d, "g0")->promoted && group_of(d, "g1")->promoted);
	assert_int_equal(
		group_of(d, "g0")->require_progress_by_ns, (int64_t)c->time.wall_ns + DEADLINE_NS);
	assert_int_equal(group_of(d, "g0")->placed_canaries.count, 2);
	assert_int_equal(group_of(d, "g1")->require_progress_by_ns, 0); // nothing of it yet
	assert_int_equal(d->record.modify_index, change.modify_index);
	deployment_free(d);
	assert_false(is_canary(c, 100) || is_canary(c, 101));
	state_read_begin();
	const struct allocation *a = published_allocation(c, 100);
	assert_int_equal(a->alloc_modify_index, a->record.modify_index); // its node is told
	state_read_end();
}

static void promotion_is_said_when_it_was_waited_for(void **test)
{
	struct controller *c = *test;
	struct planned_job job = deployed_job(c, "web", 50);
	struct deployment *d = build_deployment(c, "web", 1, 1);

	free(d->status_description);
	d->status_description = text_copy(TEXT(DEPLOYMENT_TEXT_NEEDS_PROMOTION));
	struct plan *plan = plan_deployment(&job, d);
	plan_deployed(plan, 100, 0, 1, true);
	commit_plan(c, plan);
	assert_int_equal(report_health(c, 0, 100, healthy), OUTCOME_DONE);
	expect_status(
		c, 1, DEPLOYMENT_RUNNING, "Deployment is running but requires manual promotion");
	assert_int_equal(ask_deployment(c, 1, DEPLOYMENT_PROMOTE), OUTCOME_DONE);
	expect_status(c, 1, DEPLOYMENT_RUNNING, "Deployment is running");
}

static void groups_are_promoted_by_name(void **test)
{
	struct controller *c = *test;
	struct text groups[] = {TEXT("g1"), TEXT("g1"), TEXT("nobody")};
	struct command_deployment change = {.groups = groups, .group_count = 3};
	begin(c, 50, false);

	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_PROMOTE, &change), OUTCOME_NOT_NOW);
	assert_string_equal(change.message, "task group \"nobody\" is not part of the deployment");
	change.group_count = 2;
	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_PROMOTE, &change), OUTCOME_DONE);
	struct deployment *d = published_deployment(c, 1);
	assert_true(!group_of(d, "g0")->promoted && group_of(d, "g1")->promoted);
	deployment_free(d);
	assert_true(is_canary(c, 100));
}

static void health_by_operators(void **test)
{
	struct controller *c = *test;
	struct uuid ids[] = {number_uuid(101), number_uuid(100), number_uuid(101)};
	struct command_deployment change = {.healthy = ids, .healthy_count = 3};
	begin(c, 50, false);

	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_SET_HEALTH, &change), OUTCOME_DONE);
	assert_int_equal(change.made.count, 1);
	struct deployment *d = published_deployment(c, 1);
	assert_int_equal(d->status, DEPLOYMENT_RUNNING);
	assert_int_equal(group_of(d, "g0")->healthy_allocs, 2);
	deployment_free(d);
	assert_int_equal(ask_deployment(c, 1, DEPLOYMENT_SET_HEALTH), OUTCOME_BAD_DESCRIPTION);
}

static void one_unhealthy_allocation_fails_it(void **test)
{
	struct controller *c = *test;
	struct uuid good[] = {number_uuid(100), number_uuid(102)}, bad = number_uuid(102);
	struct command_deployment change = {
		.healthy = good, .healthy_count = 2, .unhealthy = &bad, .unhealthy_count = 1};
	int64_t priority;

	deployed_job(c, "web", 40);
	call_stable(c, "web", 0);
	begin(c, 50, true); // but g0 does not ask to go back
	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_SET_HEALTH, &change), OUTCOME_DONE);
	expect_status(c, 1, DEPLOYMENT_FAILED, "Failed due to unhealthy allocations");
	struct deployment *d = published_deployment(c, 1);
	assert_int_equal(group_of(d, "g0")->healthy_allocs, 1);
	assert_int_equal(group_of(d, "g0")->unhealthy_allocs, 1); // the worse word counts
	deployment_free(d);
	assert_int_equal(newest_version(c, &priority), 1);
}

// Its own group has no say in it when what is healthy there is told along.
static void a_healthy_one_asks_for_nothing(void **test)
{
	struct controller *c = *test;
	struct uuid good = number_uuid(103), bad = number_uuid(102);
	struct command_deployment change = {
		.healthy = &good, .healthy_count = 1, .unhealthy = &bad, .unhealthy_count = 1};
	int64_t priority;

	deployed_job(c, "web", 40);
	call_stable(c, "web", 0);
	struct planned_job job = begin(c, 50, true);
	struct plan *plan = build_plan(&job);
	plan_deployed(plan, 103, 3, 1, false)->group = 1;
	commit_plan(c, plan);
	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_SET_HEALTH, &change), OUTCOME_DONE);
	expect_status(c, 1, DEPLOYMENT_FAILED, "Failed due to unhealthy allocations");
	assert_int_equal(newest_version(c, &priority), 1);
}

static void health_of_others_is_refused(void **test)
{
	struct controller *c = *test;
	struct uuid id = number_uuid(300);
	struct command_deployment change = {.healthy = &id, .healthy_count = 1};
	char message[160], alloc[UUID_TEXT_BYTES], deployment[UUID_TEXT_BYTES];
	struct planned_job job = begin(c, 50, false);
	struct plan *plan = build_plan(&job);

	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_SET_HEALTH, &change),
		OUTCOME_UNKNOWN_ALLOCATION);
	plan_place(plan, 300, 3, 3);
	commit_plan(c, plan);
	assert_int_equal(change_deployment(c, 1, DEPLOYMENT_SET_HEALTH, &change), OUTCOME_NOT_NOW);
	snprintf(message, sizeof message, "alloc \"%s\" is not part of deployment \"%s\"",
		uuid_format(&id, alloc), uuid_format(&change.id, deployment));
	assert_string_equal(change.message, message);
}

static struct job *multiregion_job(const char *id, int64_t priority)
{
	struct job *job = build_scheduled_job(id, JOB_SERVICE);

	job->priority = priority;
	job->multiregion = memory_take(sizeof *job->multiregion);
	struct job_region *region = array_append(&job->multiregion->regions, sizeof *region);
	region->name = text_copy(TEXT("west"));
	return job;
}

static struct uuid latest(const struct controller *c, enum deployment_status status)
{
	state_read_begin();
	const struct deployment *d =
		state_latest_deployment(c->state, TEXT("default"), TEXT("far"));
	assert_non_null(d);
	assert_int_equal(d->status, status);
	assert_true(d->is_multiregion);
	struct uuid id = d->id;
	state_read_end();
	return id;
}

static void a_region_waits_from_the_beginning(void **test)
{
	struct controller *c = *test;
	struct command_job_register result = {.eval_priority = 66};

	assert_int_equal(register_job(c, multiregion_job("far", 50), &result), OUTCOME_DONE);
	struct uuid first = latest(c, DEPLOYMENT_INITIALIZING);
	state_read_begin();
	assert_int_equal(state_deployment(c->state, &first)->eval_priority, 66);
	state_read_end();
	assert_int_equal(register_job(c, multiregion_job("far", 50), NULL), OUTCOME_DONE);
	struct uuid same = latest(c, DEPLOYMENT_INITIALIZING);
	assert_true(uuid_equal(&same, &first)); // nothing is new
	assert_int_equal(register_job(c, multiregion_job("far", 51), NULL), OUTCOME_DONE);
	struct uuid second = latest(c, DEPLOYMENT_INITIALIZING);
	assert_false(uuid_equal(&second, &first));
	state_read_begin();
	assert_string_equal(state_deployment(c->state, &first)->status_description,
		"Cancelled due to newer version of job");
	assert_int_equal(state_deployment(c->state, &second)->job_version, 1);
	state_read_end();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(pause_and_resume),
		TEST(what_is_over_stays_over),
		TEST(regions_wait_and_go_on),
		TEST(cancelled_with_a_reason),
		TEST(fails_without_going_back),
		TEST(there_is_nothing_to_go_back_to),
		TEST(goes_back_to_what_was_stable),
		TEST(does_not_go_back_to_itself),
		TEST(no_group_asked_to_go_back),
		TEST(a_newer_version_is_not_taken_back),
		TEST(the_priority_is_inherited),
		TEST(promotion_needs_healthy_canaries),
		TEST(promotion_makes_canaries_ordinary),
		TEST(promotion_is_said_when_it_was_waited_for),
		TEST(groups_are_promoted_by_name),
		TEST(health_by_operators),
		TEST(one_unhealthy_allocation_fails_it),
		TEST(a_healthy_one_asks_for_nothing),
		TEST(health_of_others_is_refused),
		TEST(a_region_waits_from_the_beginning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
