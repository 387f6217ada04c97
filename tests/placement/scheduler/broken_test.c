// An invariant that fails ends its evaluation with its text, and nothing else: the view is ended, and later evaluations
// work.
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/committed.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

// The failing function's arrays are lost (GUARDED_FAILURES_MAX of state/base/limits.h).
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static int set_up(void **state)
{
	committed_set_up(state);
	struct fixture *f = *state;
	nodes(f, 3, "");
	f->committer.may_break = true;
	return 0;
}

static void expect_broken(struct fixture *f, const char *text)
{
	const struct evaluation *end = committer_end(&f->committer);
	assert_int_equal(end->status, EVAL_FAILED);
	assert_non_null(strstr(end->status_description, text));
	assert_non_null(strstr(end->status_description, "invariant broken: "));
	assert_false(f->committer.in_view);
	assert_int_equal(f->committer.plans, 0);
	assert_int_equal(f->committer.created_count, 0);
}

// Makes an allocation of a group that its job does not have, which no state may hold.
static void break_and_mend(struct fixture *f, const char *words, enum eval_trigger trigger)
{
	struct job *job = world_job(f->world, words);
	struct allocation *a = world_allocate(f->world, job, 0, 0, 0);
	for (uint32_t times = 1; times <= 3; times++) {
		a->group = 7;
		assert_int_equal(run(f, job, trigger), 0);
		expect_broken(f, "a->group < a->job->task_groups.count");
		assert_int_equal(f->committer.broken, times);
		a->group = 0;
	}
	assert_int_equal(run(f, job, trigger), 0);
	expect_end(f, EVAL_COMPLETE, "");
	assert_int_equal(f->committer.broken, 3);
	assert_int_equal(world_living(f->world, job), 3);
}

static void a_service_job(void **state)
{
	break_and_mend(*state, "service web count=3", TRIGGER_JOB_REGISTER);
}

static void a_batch_job(void **state)
{
	break_and_mend(*state, "batch sum count=3", TRIGGER_NODE_UPDATE);
}

static void a_system_job(void **state)
{
	break_and_mend(*state, "system agent", TRIGGER_NODE_UPDATE);
}

// More instances than can be numbered.
static void names_that_nobody_can_count(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system agent");
	group_of(job)->count = 1u << 31;
	add_task(add_group(job, "b"), "t");
	ARRAY_AT(&job->task_groups, struct task_group, 1)->count = 1u << 31;
	world_job_changed(job);
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	expect_broken(f, "required_names.c:");
	assert_int_equal(f->committer.broken, 1);
}

// A blocked evaluation ends, too: only the same failure would follow if it waited.
static void a_blocked_evaluation(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web count=3");
	struct evaluation *eval = evaluation_for(job, TRIGGER_QUEUED_ALLOCS);
	eval->status = EVAL_BLOCKED;
	world_allocate(f->world, job, 0, 0, 0)->group = 7;
	assert_int_equal(committer_run(&f->committer, eval), 0);
	expect_broken(f, "task_groups.count");
	evaluation_free(eval);
}

// When the planner fails to store the end, the worker repeats that.
static void an_end_that_is_not_stored(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web count=3");
	world_allocate(f->world, job, 0, 0, 0)->group = 7;
	f->committer.update_error = -5;
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), -5);
	assert_false(f->committer.in_view);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, committed_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_service_job),
		TEST(a_batch_job),
		TEST(a_system_job),
		TEST(names_that_nobody_can_count),
		TEST(a_blocked_evaluation),
		TEST(an_end_that_is_not_stored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
