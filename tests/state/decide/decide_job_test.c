// What registering, stopping and evaluating jobs makes of evaluations, versions and summaries.
#include "state/base/memory.h"
#include "state/snapshot/snapshot_item.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void open_controller(struct controller *c)
{
	controller_init(c, (struct state_limits){0});
	controller_open(c);
}

static void registering_makes_an_evaluation(void **unused)
{
	static const enum job_type types[] = {JOB_SERVICE, JOB_BATCH, JOB_SYSTEM, JOB_SYSBATCH};
	static const char *const ids[] = {"service", "batch", "system", "sysbatch"};
	struct controller c;

	open_controller(&c);
	for (uint32_t i = 0; i < 4; i++) {
		struct command_job_register result = {.eval_priority = i == 3 ? 80 : 0};
		uint32_t batches = c.log.count;
		struct job *job = build_scheduled_job(ids[i], types[i]);
		job->priority = 40;
		assert_int_equal(register_job(&c, job, &result), OUTCOME_DONE);
		assert_int_equal(c.log.count, batches + 1); // in the same batch
		assert_int_equal(result.made.count, 1);
		struct evaluation *e = published_evaluation(&c, &result.made.id);
		assert_string_equal(e->job_id, ids[i]);
		assert_string_equal(eval_type_names[e->type], ids[i]);
		assert_int_equal(e->triggered_by, TRIGGER_JOB_REGISTER);
		assert_int_equal(e->status, EVAL_PENDING);
		assert_int_equal(e->priority, i == 3 ? 80 : 40);
		assert_int_equal(e->job_modify_index, e->record.create_index - 1);
		assert_int_equal(result.made.index, e->record.create_index);
		evaluation_free(e);
	}
	expect_restores(&c);
	controller_free(&c);
}

static void some_jobs_get_no_evaluation(void **unused)
{
	struct controller c;
	struct command_job_register result = {0};

	open_controller(&c);
	struct job *job = build_scheduled_job("cron", JOB_BATCH);
	job->periodic = memory_take(sizeof *job->periodic);
	assert_int_equal(register_job(&c, job, &result), OUTCOME_DONE);
	assert_int_equal(result.made.count, 0);
	assert_int_equal(job_status(&c, "cron"), JOB_RUNNING);
	job = build_scheduled_job("template", JOB_BATCH);
	job->parameterized = memory_take(sizeof *job->parameterized);
	assert_int_equal(register_job(&c, job, &result), OUTCOME_DONE);
	assert_int_equal(result.made.count, 0);
	assert_int_equal(
		register_job(&c, build_scheduled_job("direct", JOB_DIRECT), &result), OUTCOME_DONE);
	assert_int_equal(result.made.count, 0);
	assert_int_equal(controller_stop_job(&c, "cron", false), OUTCOME_DONE);
	assert_int_equal(job_status(&c, "cron"), JOB_DEAD);
	struct state_counts counts;
	state_counts(c.state, &counts);
	assert_int_equal(counts.evaluations, 0);
	struct command evaluate = {
		.type = COMMAND_JOB_EVALUATE, .job_evaluate = {.id = TEXT("template")}};
	assert_int_equal(controller_run(&c, &evaluate), OUTCOME_BAD_DESCRIPTION);
	expect_restores(&c);
	controller_free(&c);
}

static uint64_t version_of(const struct controller *c, const char *id)
{
	state_read_begin();
	uint64_t version = state_job(c->state, TEXT("default"), text_of(id))->version;
	state_read_end();
	return version;
}

static void only_another_specification_is_another_version(void **unused)
{
	struct controller c;
	struct command_job_register result = {0};

	open_controller(&c);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	assert_int_equal(
		register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), &result), OUTCOME_DONE);
	assert_true(result.existed);
	assert_int_equal(version_of(&c, "sys"), 0);
	assert_int_equal(count_evaluations(&c, "sys", TRIGGER_JOB_REGISTER), 2);
	struct job *job = build_scheduled_job("sys", JOB_SYSTEM);
	job->priority = 70;
	assert_int_equal(register_job(&c, job, &result), OUTCOME_DONE);
	assert_int_equal(version_of(&c, "sys"), 1);
	assert_int_equal(count_evaluations(&c, "sys", TRIGGER_JOB_REGISTER), 3);
	assert_int_equal(register_job(&c, build_scheduled_job("sys", JOB_SYSBATCH), NULL),
		OUTCOME_BAD_DESCRIPTION);
	expect_restores(&c);
	controller_free(&c);
}

static bool has_version(const struct controller *c, uint64_t version)
{
	state_read_begin();
	bool found = state_job_version(c->state, TEXT("default"), TEXT("sys"), version) != NULL;
	state_read_end();
	return found;
}

static void the_newest_stable_version_stays(void **unused)
{
	struct controller c;

	open_controller(&c);
	for (uint32_t i = 0; i < 12; i++) {
		struct job *job = build_scheduled_job("sys", JOB_SYSTEM);
		job->priority = 20 + i;
		job->stable = i == 1 || i == 2;
		register_job(&c, job, NULL);
		uint32_t kept = 0;
		for (uint32_t version = 0; version <= i; version++)
			kept += has_version(&c, version);
		assert_int_equal(kept, i < JOB_VERSIONS_MAX ? i + 1 : JOB_VERSIONS_MAX);
		assert_true(has_version(&c, i));
	}
	assert_false(has_version(&c, 1));
	assert_true(has_version(&c, 2));
	assert_false(has_version(&c, 6));
	assert_true(has_version(&c, 7));
	expect_restores(&c);
	controller_free(&c);
}

static void counts_are_kept_when_asked(void **unused)
{
	struct controller c;
	struct command_job_register result = {.preserve_counts = true};

	open_controller(&c);
	struct job *job = build_scheduled_job("web", JOB_SERVICE);
	ARRAY_AT(&job->task_groups, struct task_group, 0)->count = 7;
	register_job(&c, job, NULL);
	job = build_scheduled_job("web", JOB_SERVICE);
	ARRAY_AT(&job->task_groups, struct task_group, 0)->count = 2;
	job->priority = 60;
	assert_int_equal(register_job(&c, job, &result), OUTCOME_DONE);
	state_read_begin();
	const struct job *stored = state_job(c.state, TEXT("default"), TEXT("web"));
	assert_int_equal(ARRAY_AT(&stored->task_groups, struct task_group, 0)->count, 7);
	assert_int_equal(stored->priority, 60);
	state_read_end();
	controller_free(&c);
}

static enum command_outcome deregister(
	struct controller *c, const char *id, bool purge, int64_t priority, struct eval_made *made)
{
	struct command command = {.type = COMMAND_JOB_DEREGISTER,
		.job_deregister = {.id = text_of(id), .purge = purge, .eval_priority = priority}};
	enum command_outcome outcome = controller_run(c, &command);

	*made = command.job_deregister.made;
	return outcome;
}

static void stopping_makes_a_service_evaluation(void **unused)
{
	struct controller c;
	struct eval_made made;

	open_controller(&c);
	assert_int_equal(deregister(&c, "sys", false, 0, &made), OUTCOME_UNKNOWN_JOB);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	assert_int_equal(deregister(&c, "sys", false, 0, &made), OUTCOME_DONE);
	struct evaluation *e = published_evaluation(&c, &made.id);
	assert_int_equal(e->type, EVAL_SERVICE);
	assert_int_equal(e->triggered_by, TRIGGER_JOB_DEREGISTER);
	assert_int_equal(e->priority, 50);
	assert_int_equal(e->job_modify_index, e->record.create_index - 1);
	evaluation_free(e);
	assert_int_equal(job_status(&c, "sys"), JOB_DEAD);
	assert_int_equal(version_of(&c, "sys"), 1);

	assert_int_equal(deregister(&c, "sys", false, 90, &made), OUTCOME_DONE);
	assert_int_equal(version_of(&c, "sys"), 1); // stopped already
	assert_int_equal(count_evaluations(&c, "sys", TRIGGER_JOB_DEREGISTER), 2);
	assert_int_equal(deregister(&c, "sys", true, 0, &made), OUTCOME_DONE);
	assert_int_equal(job_status(&c, "sys"), -1);
	assert_int_equal(count_evaluations(&c, "sys", TRIGGER_JOB_DEREGISTER), 3);
	expect_restores(&c);
	// The name may be used again; evaluations of before stay with it.
	assert_int_equal(
		register_job(&c, build_scheduled_job("sys", JOB_SYSBATCH), NULL), OUTCOME_DONE);
	assert_int_equal(version_of(&c, "sys"), 0);
	assert_int_equal(count_evaluations(&c, "sys", TRIGGER_JOB_DEREGISTER), 3);
	expect_restores(&c);
	controller_free(&c);
}

static const struct multiregion *regions_of(const struct controller *c, const char *id)
{
	const struct job *job = state_job(c->state, TEXT("default"), text_of(id));

	return job ? job->multiregion : NULL;
}

static struct job *build_job_of_regions(const char *id)
{
	struct job *job = build_scheduled_job(id, JOB_BATCH);

	job->multiregion = memory_take(sizeof *job->multiregion);
	struct job_region *region = array_append(&job->multiregion->regions, sizeof *region);
	region->name = text_copy(TEXT("global"));
	return job;
}

static void a_stop_everywhere_is_kept_with_the_job(void **unused)
{
	struct command command = {.type = COMMAND_JOB_DEREGISTER,
		.job_deregister = {.id = TEXT("two"), .everywhere = true}};
	struct controller c;

	open_controller(&c);
	struct command_job_register with_priority = {.eval_priority = 77};
	register_job(&c, build_job_of_regions("two"), &with_priority);
	state_read_begin();
	assert_int_equal(regions_of(&c, "two")->eval_priority, 77);
	state_read_end();
	for (uint32_t purge = 0; purge < 2; purge++) { // the second time it is stopped already
		command.job_deregister.purge = purge;
		command.job_deregister.eval_priority = purge ? 33 : 0;
		assert_int_equal(controller_run(&c, &command), OUTCOME_DONE);
		assert_int_equal(version_of(&c, "two"), 1 + purge);
		state_read_begin();
		const struct multiregion *m = regions_of(&c, "two");
		assert_true(m->stop_everywhere_ns >= controller_now_ms(&c) * 1000000);
		assert_int_equal(m->purge_everywhere, purge);
		assert_int_equal(m->eval_priority, purge ? 33 : 0);
		state_read_end();
	}
	expect_restores(&c);
	// A job of one region is stopped, or purged, as ever.
	register_job(&c, build_scheduled_job("one", JOB_BATCH), NULL);
	command.job_deregister = (struct command_job_deregister){
		.id = TEXT("one"), .everywhere = true, .purge = true};
	assert_int_equal(controller_run(&c, &command), OUTCOME_DONE);
	assert_int_equal(job_status(&c, "one"), -1);
	// Registered again nothing is left of the stop.
	register_job(&c, build_job_of_regions("two"), NULL);
	state_read_begin();
	assert_int_equal(regions_of(&c, "two")->stop_everywhere_ns, 0);
	state_read_end();
	command.job_deregister = (struct command_job_deregister){.id = TEXT("two")};
	assert_int_equal(controller_run(&c, &command), OUTCOME_DONE);
	state_read_begin();
	assert_int_equal(regions_of(&c, "two")->stop_everywhere_ns, 0);
	state_read_end();
	expect_restores(&c);
	controller_free(&c);
}

static void the_late_word_of_another_region_stops_nothing(void **unused)
{
	struct command command = {
		.type = COMMAND_JOB_DEREGISTER, .job_deregister = {.id = TEXT("web")}};
	struct controller c;

	open_controller(&c);
	register_job(&c, build_scheduled_job("web", JOB_BATCH), NULL);
	state_read_begin();
	int64_t submitted_ns = state_job(c.state, TEXT("default"), TEXT("web"))->submit_time_ns;
	state_read_end();
	command.job_deregister.before_ns = submitted_ns - 1;
	for (uint32_t purge = 0; purge < 2; purge++) {
		command.job_deregister.purge = purge;
		assert_int_equal(controller_run(&c, &command), OUTCOME_DONE);
		assert_int_equal(command.job_deregister.made.count, 0);
		assert_int_equal(version_of(&c, "web"), 0);
	}
	command.job_deregister.purge = false;
	command.job_deregister.before_ns = submitted_ns;
	for (uint32_t again = 0; again < 2; again++) { // said twice it is done once
		assert_int_equal(controller_run(&c, &command), OUTCOME_DONE);
		assert_int_equal(command.job_deregister.made.count, !again);
		assert_int_equal(version_of(&c, "web"), 1);
	}
	command.job_deregister.purge = true;
	assert_int_equal(controller_run(&c, &command), OUTCOME_DONE);
	assert_int_equal(job_status(&c, "web"), -1);
	controller_free(&c);
}

static void evaluating_makes_one_more(void **unused)
{
	struct controller c;
	struct command command = {
		.type = COMMAND_JOB_EVALUATE, .job_evaluate = {.id = TEXT("sys")}};

	open_controller(&c);
	assert_int_equal(controller_run(&c, &command), OUTCOME_UNKNOWN_JOB);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	assert_int_equal(controller_run(&c, &command), OUTCOME_DONE);
	assert_int_equal(command.job_evaluate.made.count, 1);
	assert_int_equal(count_evaluations(&c, "sys", TRIGGER_JOB_REGISTER), 2);
	controller_free(&c);
}

// Semantics of job status: what is to be done, or done.
static void status_follows_evaluations(void **unused)
{
	struct controller c;
	struct command_job_register result = {0};

	open_controller(&c);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), &result);
	assert_int_equal(job_status(&c, "sys"), JOB_RUNNING);
	change_evaluation(&c, &result.made.id, EVAL_COMPLETE);
	assert_int_equal(job_status(&c, "sys"), JOB_RUNNING);

	register_job(&c, build_scheduled_job("once", JOB_SYSBATCH), &result);
	assert_int_equal(job_status(&c, "once"), JOB_PENDING);
	change_evaluation(&c, &result.made.id, EVAL_COMPLETE);
	assert_int_equal(job_status(&c, "once"), JOB_DEAD); // there was no node for it
	expect_restores(&c);
	result = (struct command_job_register){0};
	register_job(&c, build_scheduled_job("once", JOB_SYSBATCH), &result);
	assert_int_equal(job_status(&c, "once"), JOB_PENDING);
	change_evaluation(&c, &result.made.id, EVAL_BLOCKED);
	assert_int_equal(job_status(&c, "once"), JOB_PENDING);
	expect_restores(&c);
	controller_free(&c);
}

static void queued_counts_reach_the_summary(void **unused)
{
	struct controller c;
	struct command_job_register result = {0};
	struct task_group_summary groups[4];
	uint32_t count = 4;

	open_controller(&c);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), &result);
	struct evaluation *e = published_evaluation(&c, &result.made.id);
	count_add(&e->queued, "g0", 12);
	count_add(&e->queued, "nobody", 3);
	store_evaluation(&c, e);
	state_read_begin();
	assert_true(state_job_summary(c.state, TEXT("default"), TEXT("sys"), groups, &count));
	assert_int_equal(count, 1);
	assert_string_equal(groups[0].group, "g0");
	assert_int_equal(groups[0].queued, 12);
	count = 4;
	assert_false(state_job_summary(c.state, TEXT("default"), TEXT("web"), groups, &count));
	assert_int_equal(count, 0);
	state_read_end();
	expect_restores(&c);
	controller_free(&c);
}

static struct job *job_of_counts(const char *id, enum job_type type, int64_t first, int64_t second)
{
	struct job *job = build_scheduled_job(id, type);
	struct task_group *group = array_append(&job->task_groups, sizeof *group);

	record_init(&task_group_description, group);
	group->name = text_copy(TEXT("second"));
	group->count = second;
	ARRAY_AT(&job->task_groups, struct task_group, 0)->count = first;
	assert_true(job_derive(job));
	return job;
}

static void no_job_asks_for_more_than_can_be_known(void **unused)
{
	struct controller c;
	struct command_job_register result = {0};

	controller_init(&c, (struct state_limits){.allocations = 1000});
	controller_open(&c);
	assert_int_equal(
		register_job(&c, job_of_counts("web", JOB_SERVICE, 999, 1), NULL), OUTCOME_DONE);
	assert_int_equal(register_job(&c, job_of_counts("web", JOB_SERVICE, 999, 2), &result),
		OUTCOME_BAD_DESCRIPTION);
	assert_string_equal(result.message,
		"Count of all groups together is 1001 instances, more than the 1000 that "
		"limits.allocations allows");
	struct job *huge = job_of_counts("huge", JOB_BATCH, INT64_MAX, INT64_MAX);
	assert_int_equal(register_job(&c, huge, NULL), OUTCOME_BAD_DESCRIPTION);
	// What is kept of the stored job counts too.
	struct command_job_register kept = {.preserve_counts = true};
	struct job *more = job_of_counts("web", JOB_SERVICE, 1, 1);
	struct task_group *third = array_append(&more->task_groups, sizeof *third);
	record_init(&task_group_description, third);
	third->name = text_copy(TEXT("third"));
	assert_true(job_derive(more));
	assert_int_equal(register_job(&c, more, &kept), OUTCOME_BAD_DESCRIPTION);
	expect_restores(&c);
	controller_free(&c);
}

// A node has as many of a group as its count says.
static void what_every_node_gets_counts_on_each(void **unused)
{
	struct controller c;

	controller_init(&c, (struct state_limits){.allocations = 1000});
	controller_open(&c);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(controller_register(&c, i, NULL), OUTCOME_DONE);
	assert_int_equal(
		register_job(&c, job_of_counts("a", JOB_SYSBATCH, 99, 1), NULL), OUTCOME_DONE);
	assert_int_equal(register_job(&c, job_of_counts("b", JOB_SYSBATCH, 100, 1), NULL),
		OUTCOME_BAD_DESCRIPTION);
	controller_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registering_makes_an_evaluation),
		cmocka_unit_test(some_jobs_get_no_evaluation),
		cmocka_unit_test(only_another_specification_is_another_version),
		cmocka_unit_test(the_newest_stable_version_stays),
		cmocka_unit_test(counts_are_kept_when_asked),
		cmocka_unit_test(stopping_makes_a_service_evaluation),
		cmocka_unit_test(a_stop_everywhere_is_kept_with_the_job),
		cmocka_unit_test(the_late_word_of_another_region_stops_nothing),
		cmocka_unit_test(evaluating_makes_one_more),
		cmocka_unit_test(status_follows_evaluations),
		cmocka_unit_test(queued_counts_reach_the_summary),
		cmocka_unit_test(no_job_asks_for_more_than_can_be_known),
		cmocka_unit_test(what_every_node_gets_counts_on_each),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
