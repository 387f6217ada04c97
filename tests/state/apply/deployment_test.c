// Deployments in plans: how they begin, what they count, how they end; and what plans note of allocations.
#include "state/base/memory.h"
#include "tests/state/deployments.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NODES = 6 }; // numbers and slots 0 …, generation 1

static const struct optional_bool healthy = {true, true}, unhealthy = {true, false}, silent = {0};

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

// Deployment 1 of job "web" with three allocations of g0: 100 and 101 are canaries.
static struct planned_job begin(struct controller *c)
{
	struct planned_job job = deployed_job(c, "web", 50);
	struct plan *plan = plan_deployment(&job, build_deployment(c, "web", 1, 2));

	plan_deployed(plan, 100, 0, 1, true);
	plan_deployed(plan, 101, 1, 1, true);
	plan_deployed(plan, 102, 2, 1, false);
	commit_plan(c, plan);
	return job;
}

static void begins_with_what_was_placed(void **test)
{
	struct controller *c = *test;
	struct planned_job job = deployed_job(c, "web", 50);
	struct deployment *built = build_deployment(c, "web", 1, 2);
	group_of(built, "g0")->placed_allocs = 77; // whatever its scheduler believes
	*(struct uuid *)array_append(&group_of(built, "g0")->placed_canaries, sizeof(struct uuid)) =
		number_uuid(9);
	struct plan *plan = plan_deployment(&job, built);

	plan_deployed(plan, 100, 0, 1, true);
	plan_deployed(plan, 102, 2, 1, false);
	commit_plan(c, plan);
	struct deployment *d = published_deployment(c, 1);
	assert_int_equal(d->status, DEPLOYMENT_RUNNING);
	assert_int_equal(d->create_time_ns, c->time.wall_ns);
	const struct deployment_group *g = group_of(d, "g0");
	assert_int_equal(g->placed_allocs, 2);
	assert_int_equal(g->placed_canaries.count, 1);
	struct uuid canary = number_uuid(100);
	assert_true(uuid_equal(g->placed_canaries.items, &canary));
	assert_int_equal(g->require_progress_by_ns, (int64_t)c->time.wall_ns + DEADLINE_NS);
	assert_int_equal(group_of(d, "g1")->placed_allocs, 0);
	assert_int_equal(group_of(d, "g1")->require_progress_by_ns, 0);
	deployment_free(d);
}

static void canaries_are_those_that_were_placed(void **test)
{
	struct controller *c = *test;
	struct planned_job job = deployed_job(c, "web", 50);
	struct plan *plan = plan_deployment(&job, build_deployment(c, "web", 1, 2));
	struct plan_result result;

	plan_deployed(plan, 100, 0, 1, true);
	plan_deployed(plan, 101, 1, 1, true)->resources.cpu_mhz = 99999;
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_int_equal(result.placements_committed, 1);
	assert_string_equal(rejection_of(&result, 1), "cpu");
	plan_result_release(&result);
	struct deployment *d = published_deployment(c, 1);
	assert_int_equal(group_of(d, "g0")->placed_canaries.count, 1);
	assert_int_equal(group_of(d, "g0")->placed_allocs, 1);
	deployment_free(d);
	plan = plan_deployment(&job, build_deployment(c, "web", 2, 2));
	plan_deployment_status(plan, 1, DEPLOYMENT_FAILED, "over");
	plan->all_at_once = true;
	plan_deployed(plan, 102, 1, 2, true)->resources.cpu_mhz = 99999;
	assert_int_equal(run_plan(c, plan, NULL), OUTCOME_DONE);
	assert_null(published_deployment(c, 2)); // all or nothing
	expect_status(c, 1, DEPLOYMENT_RUNNING, "Deployment is running");
}

static bool count_one(const struct deployment *d, void *context)
{
	uint64_t *newer = context;

	assert_true(d->record.create_index < newer[1]);
	newer[1] = d->record.create_index;
	newer[0]++;
	return true;
}

static void readers_find_them(void **test)
{
	struct controller *c = *test;
	struct planned_job job = begin(c);
	uint64_t before = state_index(c->state), seen[2] = {0, UINT64_MAX}, cursor = 0;
	struct plan *plan = plan_deployment(&job, build_deployment(c, "web", 2, 0));

	plan_deployment_status(plan, 1, DEPLOYMENT_FAILED, "over");
	commit_plan(c, plan);
	struct uuid second = number_uuid(2);
	state_read_begin();
	const struct deployment *latest =
		state_latest_deployment(c->state, TEXT("default"), TEXT("web"));
	assert_true(uuid_equal(&latest->id, &second));
	assert_null(state_latest_deployment(c->state, TEXT("default"), TEXT("none")));
	state_job_deployments(c->state, TEXT("default"), TEXT("web"), count_one, seen);
	assert_int_equal(seen[0], 2);
	const struct deployment *first = state_next(c->state, STATE_DEPLOYMENTS, &cursor);
	assert_int_equal(first->status, DEPLOYMENT_FAILED);
	assert_ptr_equal(state_next(c->state, STATE_DEPLOYMENTS, &cursor), latest);
	assert_null(state_next(c->state, STATE_DEPLOYMENTS, &cursor));
	uint64_t index =
		state_job_index_of(c->state, STATE_DEPLOYMENTS, TEXT("default"), TEXT("web"));
	assert_true(index > before && index <= state_index(c->state));
	assert_int_equal(state_table_index(c->state, STATE_DEPLOYMENTS), index);
	state_read_end();
	struct state_counts counts;
	state_counts(c->state, &counts);
	assert_int_equal(counts.deployments, 2);
	assert_int_equal(counts.deployments_active, 1);
}

struct observed {
	uint32_t begun, changed;
	uint64_t index;
};

static void observe(
	void *context, const struct state_change *changes, uint32_t count, uint64_t index)
{
	struct observed *o = context;

	for (uint32_t i = 0; i < count; i++) {
		if (changes[i].table != STATE_DEPLOYMENTS)
			continue;
		const struct deployment *d = (const struct deployment *)changes[i].after;
		assert_string_equal(d->job_id, "web");
		o->begun += changes[i].before == NULL;
		o->changed += changes[i].before != NULL;
		o->index = index;
	}
}

static void observers_are_told(void **test)
{
	struct controller *c = *test;
	struct observed observed = {0};
	struct state_observer observer = {.changed = observe, .context = &observed};

	state_observe(c->state, &observer);
	begin(c);
	assert_int_equal(observed.begun, 1);
	assert_int_equal(observed.changed, 0);
	assert_int_equal(report_health(c, 0, 100, healthy), OUTCOME_DONE);
	assert_int_equal(observed.changed, 1);
	assert_int_equal(observed.index, state_index(c->state));
	assert_int_equal(report_health(c, 0, 100, healthy), OUTCOME_DONE);
	assert_int_equal(observed.changed, 1); // said before
}

static void a_second_one_waits_for_the_end_of_the_first(void **test)
{
	struct controller *c = *test;
	struct planned_job job = begin(c);
	struct plan *plan = plan_deployment(&job, build_deployment(c, "web", 2, 0));
	struct plan_result result;

	plan_deployed(plan, 110, 3, 2, false);
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_int_equal(result.alloc_index, 0);
	assert_int_equal(result.refresh_index, state_index(c->state));
	plan_result_release(&result);
	assert_null(published_deployment(c, 2));
	plan = plan_deployment(&job, build_deployment(c, "web", 2, 0));
	plan_deployment_status(plan, 1, DEPLOYMENT_CANCELLED, DEPLOYMENT_TEXT_NEWER_JOB);
	commit_plan(c, plan);
	expect_status(c, 1, DEPLOYMENT_CANCELLED, "Cancelled due to newer version of job");
	expect_status(c, 2, DEPLOYMENT_RUNNING, "Deployment is running");
}

static void one_of_a_job_that_is_gone_does_not_begin(void **test)
{
	struct controller *c = *test;
	struct planned_job job = deployed_job(c, "web", 50);
	struct deployment *old = build_deployment(c, "web", 1, 0);
	struct plan_result result;

	assert_int_equal(controller_stop_job(c, "web", true), OUTCOME_DONE);
	struct planned_job again = deployed_job(c, "web", 50);
	assert_true(again.version != job.version);
	assert_int_equal(run_plan(c, plan_deployment(&again, old), &result), OUTCOME_DONE);
	assert_int_equal(result.alloc_index, 0);
	assert_true(result.refresh_index > 0);
	plan_result_release(&result);
}

static void late_words_are_left_out(void **test)
{
	struct controller *c = *test;
	struct planned_job job = begin(c);
	struct plan_result result;
	struct plan *plan = build_plan(&job);

	plan_deployment_status(plan, 1, DEPLOYMENT_PENDING, DEPLOYMENT_TEXT_PENDING);
	plan_deployment_status(plan, 3, DEPLOYMENT_FAILED, "not there");
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_int_equal(result.deployment_updates_committed, 0);
	assert_true(result.refresh_index > 0); // it runs already
	plan_result_release(&result);
	expect_status(c, 1, DEPLOYMENT_RUNNING, "Deployment is running");
	plan = build_plan(&job);
	plan_deployment_status(plan, 1, DEPLOYMENT_SUCCESSFUL, DEPLOYMENT_TEXT_SUCCESSFUL);
	plan_deployment_status(plan, 1, DEPLOYMENT_FAILED, "twice");
	plan_deployed(plan, 110, 3, 1, false);
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_int_equal(result.deployment_updates_committed, 1);
	assert_int_equal(result.placements_committed, 1);
	plan_result_release(&result);
	plan = build_plan(&job);
	plan_deployment_status(plan, 1, DEPLOYMENT_FAILED, "too late");
	assert_int_equal(run_plan(c, plan, NULL), OUTCOME_DONE);
	expect_status(c, 1, DEPLOYMENT_SUCCESSFUL, "Deployment completed successfully");
}

static void success_makes_its_version_stable(void **test)
{
	struct controller *c = *test;
	begin(c);
	struct planned_job job = deployed_job(c, "web", 60);
	struct plan *plan = build_plan(&job);

	assert_false(version_is_stable(c, "web", 0));
	plan_deployment_status(plan, 1, DEPLOYMENT_SUCCESSFUL, DEPLOYMENT_TEXT_SUCCESSFUL);
	commit_plan(c, plan);
	assert_true(version_is_stable(c, "web", 0));
	assert_false(version_is_stable(c, "web", 1));
}

static void groups_are_computed_while_it_initializes(void **test)
{
	struct controller *c = *test;
	struct planned_job job = deployed_job(c, "web", 50);
	struct deployment *bare = build_deployment(c, "web", 1, 2);
	struct plan_result result;

	for (uint32_t i = 0; i < bare->groups.count; i++)
		record_release(&deployment_group_description,
			ARRAY_AT(&bare->groups, struct deployment_group, i));
	bare->groups.count = 0;
	bare->status = DEPLOYMENT_INITIALIZING;
	commit_plan(c, plan_deployment(&job, bare));
	struct plan *plan = plan_deployment(&job, build_deployment(c, "web", 1, 2));
	plan_deployment_status(plan, 1, DEPLOYMENT_PENDING, DEPLOYMENT_TEXT_PENDING);
	commit_plan(c, plan);
	struct deployment *d = published_deployment(c, 1);
	assert_int_equal(d->groups.count, 2);
	assert_int_equal(d->status, DEPLOYMENT_PENDING);
	assert_int_equal(group_of(d, "g0")->desired_canaries, 2);
	deployment_free(d);
	plan = plan_deployment(&job, build_deployment(c, "web", 1, 5));
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE); // it waits already
	assert_int_equal(result.alloc_index, 0);
	plan_result_release(&result);
}

static void there_is_an_end_of_room(void **test)
{
	struct controller *c = *test;
	struct planned_job job;

	for (uint32_t i = 0; i < 8; i++) {
		char id[] = "job0";
		id[3] = (char)('0' + i);
		job = deployed_job(c, id, 50);
		commit_plan(c, plan_deployment(&job, build_deployment(c, id, 1 + i, 0)));
	}
	job = deployed_job(c, "more", 50);
	assert_int_equal(
		run_plan(c, plan_deployment(&job, build_deployment(c, "more", 9, 0)), NULL),
		OUTCOME_TABLE_FULL);
}

static void expect_counts(
	const struct controller *c, int64_t placed, int64_t are_healthy, int64_t are_unhealthy)
{
	struct deployment *d = published_deployment(c, 1);
	const struct deployment_group *g = group_of(d, "g0");

	assert_int_equal(g->placed_allocs, placed);
	assert_int_equal(g->healthy_allocs, are_healthy);
	assert_int_equal(g->unhealthy_allocs, are_unhealthy);
	deployment_free(d);
}

static void health_is_counted_once(void **test)
{
	struct controller *c = *test;
	begin(c);

	assert_int_equal(report_health(c, 0, 100, silent), OUTCOME_DONE);
	expect_counts(c, 3, 0, 0);
	advance_ms(c, 5000);
	assert_int_equal(report_health(c, 0, 100, healthy), OUTCOME_DONE);
	assert_int_equal(report_health(c, 1, 101, unhealthy), OUTCOME_DONE);
	expect_counts(c, 3, 1, 1);
	struct deployment *d = published_deployment(c, 1);
	assert_int_equal(group_of(d, "g0")->require_progress_by_ns,
		(int64_t)c->time.wall_ns + DEADLINE_NS); // progress was made
	assert_int_equal(d->modify_time_ns, c->time.wall_ns);
	deployment_free(d);
	assert_int_equal(report_health(c, 0, 100, healthy), OUTCOME_DONE);
	expect_counts(c, 3, 1, 1);
	assert_int_equal(report_health(c, 0, 100, unhealthy), OUTCOME_DONE);
	expect_counts(c, 3, 0, 2);
	assert_int_equal(report_health(c, 0, 100, silent), OUTCOME_DONE);
	expect_counts(c, 3, 0, 2);
	state_read_begin();
	const struct allocation *a = published_allocation(c, 100);
	assert_true(allocation_health(a)->canary); // what it was placed as
	assert_false(allocation_health(a)->healthy.value);
	state_read_end();
}

static void health_is_noted_without_a_deployment(void **test)
{
	struct controller *c = *test;
	struct planned_job job = deployed_job(c, "web", 50);
	struct plan *plan = build_plan(&job);

	plan_place(plan, 100, 0, 0);
	commit_plan(c, plan);
	assert_int_equal(report_health(c, 0, 100, healthy), OUTCOME_DONE);
	state_read_begin();
	const struct alloc_deployment_status *status =
		allocation_health(published_allocation(c, 100));
	assert_true(status->healthy.set && status->healthy.value && !status->canary);
	assert_int_equal(status->timestamp_ns, c->time.wall_ns);
	state_read_end();
}

static void an_update_joins_a_later_deployment(void **test)
{
	struct controller *c = *test;
	begin(c);
	struct planned_job job = deployed_job(c, "web", 60);
	struct plan *plan = plan_deployment(&job, build_deployment(c, "web", 2, 0));

	assert_int_equal(report_health(c, 2, 102, healthy), OUTCOME_DONE);
	plan_deployment_status(plan, 1, DEPLOYMENT_CANCELLED, DEPLOYMENT_TEXT_NEWER_JOB);
	struct plan_update *u = plan_update(plan, 102);
	u->resources = (struct resources){100, 100, 10};
	u->details = alloc_details_create();
	u->details->deployment_id = number_uuid(2);
	commit_plan(c, plan);
	expect_counts(c, 3, 1, 0); // stays where it was
	struct deployment *d = published_deployment(c, 2);
	assert_int_equal(group_of(d, "g0")->placed_allocs, 1);
	assert_int_equal(group_of(d, "g0")->healthy_allocs, 0);
	deployment_free(d);
	assert_int_equal(report_health(c, 2, 102, healthy), OUTCOME_DONE);
	d = published_deployment(c, 2);
	assert_int_equal(group_of(d, "g0")->healthy_allocs, 1);
	deployment_free(d);
}

static void flag(struct controller *c, uint32_t id, enum eval_trigger trigger)
{
	static const struct desired_transition migrate = {.migrate = {true, true}};
	struct uuid ids[] = {number_uuid(id), number_uuid(999), number_uuid(id)};
	struct command_alloc_transitions ask = {
		.ids = ids, .count = 3, .transition = &migrate, .trigger = (int)trigger};
	struct command command = {.type = COMMAND_ALLOC_TRANSITIONS, .alloc_transitions = &ask};

	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	assert_int_equal(ask.made.count, 1);
}

static void an_update_keeps_what_others_said_meanwhile(void **test)
{
	struct controller *c = *test;
	struct planned_job job = begin(c);
	struct plan *plan = build_plan(&job);
	struct plan_update *u = plan_update(plan, 100);

	u->resources = (struct resources){100, 100, 10};
	u->details = alloc_details_create(); // as its scheduler saw it
	u->details->deployment_id = number_uuid(1);
	u->details->deployment_status = memory_take(sizeof *u->details->deployment_status);
	u->details->deployment_status->canary = true;
	assert_int_equal(report_health(c, 0, 100, healthy), OUTCOME_DONE);
	assert_int_equal(report_health(c, 1, 101, healthy), OUTCOME_DONE);
	flag(c, 100, TRIGGER_NODE_DRAIN);
	assert_int_equal(ask_deployment(c, 1, DEPLOYMENT_PROMOTE), OUTCOME_DONE);
	commit_plan(c, plan);
	state_read_begin();
	const struct allocation *a = published_allocation(c, 100);
	assert_true(a->details->transition.migrate.value);
	assert_true(allocation_health(a)->healthy.value);
	assert_false(allocation_health(a)->canary);
	state_read_end();
	expect_counts(c, 3, 2, 0);
	assert_int_equal(count_evaluations(c, "web", TRIGGER_NODE_DRAIN), 1);
}

static void a_failed_one_is_told_what_follows(void **test)
{
	struct controller *c = *test;
	struct planned_job job = begin(c);

	assert_int_equal(report_status(c, 0, 1, 1000, 100, ALLOC_FAILED, NULL), OUTCOME_DONE);
	assert_int_equal(controller_node(c, COMMAND_NODE_EXPIRED, 0, 1), OUTCOME_DONE);
	struct plan *plan = build_plan(&job);
	struct plan_update *u = plan_update(plan, 100);
	u->job_version = 0;
	u->resources = (struct resources){100, 100, 10};
	u->details = alloc_details_create(); // nothing but the follow-up is taken from it
	u->details->followup_eval = number_uuid(7);
	commit_plan(c, plan);
	state_read_begin();
	const struct allocation *a = published_allocation(c, 100);
	struct uuid follow_up = number_uuid(7), deployment = number_uuid(1);
	assert_true(uuid_equal(&a->details->followup_eval, &follow_up));
	assert_true(uuid_equal(&a->details->deployment_id, &deployment));
	assert_int_equal(a->client_status, ALLOC_FAILED);
	state_read_end();
	expect_counts(c, 3, 0, 0);
	struct plan_result result;
	plan = build_plan(&job);
	plan_update(plan, 100); // to another version: it is over
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_int_equal(result.updates_committed, 0);
	plan_result_release(&result);
}

static void replacements_are_linked(void **test)
{
	struct controller *c = *test;
	struct planned_job job = begin(c);

	assert_int_equal(report_status(c, 0, 1, 1000, 100, ALLOC_FAILED, NULL), OUTCOME_DONE);
	struct plan *plan = build_plan(&job);
	plan_stop(plan, 100, STOP_RESCHEDULED);
	struct plan_placement *p = plan_deployed(plan, 200, 3, 1, true);
	p->details->previous_allocation = number_uuid(100);
	struct reschedule_event *event =
		array_append(&p->details->reschedule_events, sizeof *event);
	*event = (struct reschedule_event){5, number_uuid(100), number_uuid(0), 6};
	commit_plan(c, plan);
	state_read_begin();
	struct uuid next = number_uuid(200);
	assert_true(uuid_equal(&published_allocation(c, 100)->details->next_allocation, &next));
	const struct alloc_details *details = published_allocation(c, 200)->details;
	assert_int_equal(details->reschedule_events.count, 1);
	state_read_end();
	expect_counts(c, 4, 0, 0);
}

static const char *second_of_a_name(
	struct controller *c, const struct planned_job *job, uint32_t id, bool canary)
{
	struct plan *plan = build_plan(job);
	struct plan_result result;

	plan_deployed(plan, id, 2, 1, canary)->name_index = 102; // as that of 102, on its node
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	const char *reason = rejection_of(&result, 2);
	plan_result_release(&result);
	return reason;
}

static void names_are_shared_for_a_while(void **test)
{
	struct controller *c = *test;
	struct planned_job job = begin(c);

	assert_string_equal(second_of_a_name(c, &job, 201, false), "allocation name is taken");
	assert_null(second_of_a_name(c, &job, 202, true)); // a canary beside what it replaces
	assert_null(second_of_a_name(c, &job, 203, true)); // and one beside both
	job = deployed_job(c, "web", 60);
	assert_null(second_of_a_name(c, &job, 204, false)); // another version
	struct plan *plan = build_plan(&job);
	plan_stop(plan, 204, STOP_UPDATING);
	plan_deployed(plan, 205, 2, 1, false)->name_index = 102;
	commit_plan(c, plan);
}

static uint32_t collect(struct controller *c, const struct command_gc *gc)
{
	struct command command = {.type = COMMAND_GC, .gc = *gc};
	uint32_t done = 0;

	controller_push(c, &command, &done);
	for (uint32_t i = 0; done == 0 && i < 1000; i++)
		applier_step(c->applier);
	assert_int_equal(command.outcome, OUTCOME_DONE);
	return command.gc.collected;
}

static void what_is_over_goes_when_nothing_lives(void **test)
{
	struct controller *c = *test;
	struct planned_job job = begin(c);
	struct command_gc later = {.deployments_before_ns = (int64_t)c->time.wall_ns + 1000000000};

	assert_int_equal(collect(c, &later), 0); // it is active
	struct plan *plan = build_plan(&job);
	plan_deployment_status(plan, 1, DEPLOYMENT_SUCCESSFUL, DEPLOYMENT_TEXT_SUCCESSFUL);
	commit_plan(c, plan);
	assert_int_equal(collect(c, &later), 0); // three live
	plan = build_plan(&job);
	plan_stop(plan, 100, STOP_NOT_NEEDED);
	plan_stop(plan, 101, STOP_NOT_NEEDED);
	plan_stop(plan, 102, STOP_NOT_NEEDED);
	commit_plan(c, plan);
	assert_int_equal(collect(c, &(struct command_gc){.deployments_before_ns = 1}), 0); // young
	assert_int_equal(collect(c, &later), 1);
	assert_null(published_deployment(c, 1));
	controller_verify(c);
}

static void the_job_may_go_before_its_deployments(void **test)
{
	struct controller *c = *test;
	struct planned_job job = deployed_job(c, "web", 50);
	struct plan *plan = plan_deployment(&job, build_deployment(c, "web", 1, 0));

	commit_plan(c, plan);
	assert_int_equal(controller_stop_job(c, "web", true), OUTCOME_DONE);
	expect_restores(c);
	assert_int_equal(ask_deployment(c, 1, DEPLOYMENT_CANCEL), OUTCOME_DONE);
	assert_int_equal(count_evaluations(c, "web", TRIGGER_DEPLOYMENT_WATCHER), 1);
	assert_int_equal(collect(c, &(struct command_gc){.force = true}), 1);
	assert_null(published_deployment(c, 1));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(begins_with_what_was_placed),
		TEST(canaries_are_those_that_were_placed),
		TEST(readers_find_them),
		TEST(observers_are_told),
		TEST(a_second_one_waits_for_the_end_of_the_first),
		TEST(one_of_a_job_that_is_gone_does_not_begin),
		TEST(late_words_are_left_out),
		TEST(success_makes_its_version_stable),
		TEST(groups_are_computed_while_it_initializes),
		TEST(there_is_an_end_of_room),
		TEST(health_is_counted_once),
		TEST(health_is_noted_without_a_deployment),
		TEST(an_update_joins_a_later_deployment),
		TEST(an_update_keeps_what_others_said_meanwhile),
		TEST(a_failed_one_is_told_what_follows),
		TEST(replacements_are_linked),
		TEST(names_are_shared_for_a_while),
		TEST(what_is_over_goes_when_nothing_lives),
		TEST(the_job_may_go_before_its_deployments),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
