// Plans under a quota (row B45): what stops and is preempted makes room, what grows takes it, and a plan that is over
// it changes nothing.
#include "state/records/namespaces/job_namespace.h"
#include "state/records/namespaces/quota.h"
#include "tests/state/plans.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NODES = 2, LIMIT = 2 }; // instances; and as many quarters of a node's cpu

static void put_quota(struct controller *c)
{
	struct quota *quota = record_create(&quota_description);
	struct quota_limit *limit = array_append(&quota->limits, sizeof *limit);
	struct command command = {.type = COMMAND_QUOTA, .quota = {quota}};

	quota->name = text_copy(TEXT("small"));
	*limit = (struct quota_limit){0};
	limit->resources.instances = LIMIT;
	limit->resources.cpu_mhz = LIMIT * 1000;
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
}

static int setup(void **test)
{
	struct controller *c = controller_with_nodes((struct state_limits){0}, NODES);
	struct job_namespace *n = record_create(&job_namespace_description);
	struct command command = {.type = COMMAND_NAMESPACE, .namespace = {n}};

	put_quota(c);
	n->name = text_copy(TEXT("default"));
	n->quota = text_copy(TEXT("small"));
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	*test = c;
	return 0;
}

static int teardown(void **test)
{
	controller_verify(*test);
	controller_end(*test);
	return 0;
}

static void fill(struct controller *c, const struct planned_job *job)
{
	struct plan *plan = build_plan(job);

	for (uint32_t i = 0; i < LIMIT; i++)
		plan_place(plan, 100 + i, 0, 0)->name_index = i;
	commit_plan(c, plan);
}

static void refused(struct controller *c, struct plan *plan)
{
	struct plan_result result;

	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_true(result.is_over_quota);
	assert_int_equal(result.placements_committed, 0);
	assert_int_equal(result.stops_committed, 0);
	assert_true(result.refresh_index > 0);
	plan_result_release(&result);
}

static void no_more_than_it_allows(void **test)
{
	struct controller *c = *test;
	struct planned_job web = plan_job(c, "web", JOB_SYSTEM);
	struct plan *plan = build_plan(&web);

	for (uint32_t i = 0; i <= LIMIT; i++)
		plan_place(plan, 200 + i, 0, 0)->name_index = i;
	refused(c, plan);
	fill(c, &web);
	plan = build_plan(&web);
	plan_place(plan, 110, 1, 1);
	refused(c, plan);
}

static void what_stops_makes_room(void **test)
{
	struct controller *c = *test;
	struct planned_job web = plan_job(c, "web", JOB_SYSTEM);

	fill(c, &web);
	struct plan *plan = build_plan(&web);
	plan_stop(plan, 100, STOP_NOT_NEEDED);
	plan_place(plan, 110, 1, 1);
	commit_plan(c, plan);
	plan = build_plan(&web); // it does so once
	plan_stop(plan, 100, STOP_NOT_NEEDED);
	plan_place(plan, 111, 1, 1)->name_index = 2;
	refused(c, plan);
}

static void what_is_preempted_makes_room(void **test)
{
	struct controller *c = *test;
	struct planned_job low = plan_job(c, "low", JOB_BATCH),
			   high = plan_job(c, "high", JOB_SYSTEM);

	fill(c, &low);
	struct plan *plan = build_plan(&high);
	plan_preempt(plan, 100, 200);
	plan_place(plan, 200, 0, 0);
	commit_plan(c, plan);
}

// One that goes on under another version counts as what it has then.
static void what_goes_on_with_more_takes_it(void **test)
{
	struct controller *c = *test;
	struct planned_job web = plan_job(c, "web", JOB_SYSTEM);

	fill(c, &web);
	web = plan_job(c, "web", JOB_SYSTEM);
	struct plan *plan = build_plan(&web);
	plan_update(plan, 100)->resources.cpu_mhz = 1001;
	refused(c, plan);
	plan = build_plan(&web);
	plan_update(plan, 100);
	plan_update(plan, 101)->resources.cpu_mhz = 500;
	commit_plan(c, plan);
	plan = build_plan(&web);
	plan_update(plan, 100)->resources.cpu_mhz = 1500;
	commit_plan(c, plan);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_more_than_it_allows),
		TEST(what_stops_makes_room),
		TEST(what_is_preempted_makes_room),
		TEST(what_goes_on_with_more_takes_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
