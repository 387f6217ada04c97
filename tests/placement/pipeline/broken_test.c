// An evaluation in which an invariant fails gets the text of the check, is acknowledged and stays failed; the process
// and all other evaluations go on.
#include "placement/job_check/job_check.h"
#include "placement/pipeline/pipeline.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/pipeline/cluster.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// The failing function's arrays are lost (GUARDED_FAILURES_MAX of state/base/limits.h).
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static int setup(void **state)
{
	struct cluster *c = calloc(1, sizeof *c);
	cluster_init(c, 11);
	for (uint32_t n = 0; n < 3; n++)
		cluster_node(c, n);
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	cluster_free(*state);
	free(*state);
	return 0;
}

// More instances than can be numbered: validation refuses such a job, so the test sends the command without it.
static void register_uncountable(struct cluster *c)
{
	struct job *job = job_of(JOB_SYSTEM);
	set(&job->namespace_name, "default");
	set(&job->id, "broken");
	set(&job->name, "broken");
	group_of(job)->count = 1u << 31;
	struct task_group *second = add_group(job, "b");
	second->count = 1u << 31;
	add_task(second, "t");
	// Keeps the sum below what the applier lets a job ask for.
	struct task_group *third = add_group(job, "c");
	third->count = -(1ll << 40);
	add_task(third, "t");
	job_canonicalize(job);
	assert_true(job_derive(job));
	struct command command = {.type = COMMAND_JOB_REGISTER, .job_register = {.job = job}};
	assert_int_equal(cluster_run(c, &command), OUTCOME_DONE);
}

static void expect_failed(struct cluster *c, uint64_t broken)
{
	struct pipeline_stats s;
	struct evaluation *eval = cluster_evaluation(c, "broken", EVAL_FAILED, -1);
	assert_non_null(eval);
	assert_non_null(strstr(eval->status_description, "required_names.c:"));
	assert_non_null(strstr(eval->status_description, "invariant broken: "));
	evaluation_free(eval);
	assert_int_equal(cluster_evaluations(c, "broken", -1, -1), 1);
	pipeline_stats(c->pipeline, &s);
	assert_int_equal(s.broken, broken);
	assert_int_equal(s.nacked, 0);
	assert_int_equal(s.broker.unacked, 0);
	assert_int_equal(s.broker.ready, 0);
	assert_int_equal(s.broker.waiting, 0);
}

static void the_evaluation_fails_and_the_process_lives(void **state)
{
	struct cluster *c = *state;
	register_uncountable(c);
	(void)cluster_settle(c);
	expect_failed(c, 1);
	cluster_job(c, (struct job_ask){.id = "agent", .type = JOB_SYSTEM});
	(void)cluster_settle(c);
	assert_int_equal(cluster_allocations(c, "agent").live, 3);
	cluster_verify(c);
}

static void it_is_not_tried_again_after_a_kill(void **state)
{
	struct cluster *c = *state;
	register_uncountable(c);
	(void)cluster_settle(c);
	cluster_advance(c, 60000);
	expect_failed(c, 1);
	cluster_kill(c);
	(void)cluster_settle(c);
	cluster_advance(c, 60000);
	expect_failed(c, 0);
	cluster_verify(c);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_evaluation_fails_and_the_process_lives),
		TEST(it_is_not_tried_again_after_a_kill),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
