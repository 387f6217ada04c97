// A region with others, whose controllers answer as the test says.
#include "placement/watch/jobs/peers.h"
#include "placement/watch/watchers.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/evaluation.h"
#include "state/records/plan.h"
#include "tests/support/controller.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { EAST, HOME, WEST, REGIONS };
static const char *const names[REGIONS] = {"east", "home", "west"};

struct scene {
	struct controller controller;
	struct watchers *watchers;
	struct peers peers;
	int seen[REGIONS];     // their answers
	bool refuses[REGIONS]; // to take a job
	uint32_t asked, told[REGIONS];
	bool is_stopped[REGIONS], is_purged[REGIONS];
	uint32_t stops; // that they received
	char rollout[64];
};

static int region_of(const char *name)
{
	int i = 0;

	while (strcmp(names[i], name) != 0)
		i++;
	assert_int_not_equal(i, HOME);
	return i;
}

static int deployment(void *context, const char *region, const char *namespace_name,
	const char *job_id, const char *rollout)
{
	struct scene *s = context;

	assert_string_equal(namespace_name, "default");
	assert_string_equal(job_id, "web");
	assert_string_equal(rollout, s->rollout);
	s->asked++;
	return s->seen[region_of(region)];
}

static int submit(void *context, const char *region, const struct job *job)
{
	struct scene *s = context;
	int i = region_of(region);

	assert_string_equal(job->multiregion->submission, "{}");
	s->told[i]++;
	if (s->refuses[i])
		return -EINVAL;
	s->seen[i] = DEPLOYMENT_INITIALIZING;
	return 0;
}

static int stop(void *context, const char *region, const struct job *job)
{
	struct scene *s = context;
	int i = region_of(region);

	assert_true(job->stop);
	assert_in_range(job->multiregion->stop_everywhere_ns, 1,
		controller_now_ms(&s->controller) * 1000000);
	s->stops++;
	if (s->refuses[i])
		return -EINVAL;
	s->is_stopped[i] = true;
	s->is_purged[i] = job->multiregion->purge_everywhere;
	return 0;
}

static void step(void *context)
{
	(void)applier_step(((struct scene *)context)->controller.applier);
}

static void watch(struct scene *s)
{
	struct watchers_settings settings = {
		.state = s->controller.state,
		.queue = s->controller.queue,
		.time = &s->controller.source,
		.seed = 1,
		.peers = &s->peers,
		.step = step,
		.step_context = s,
	};

	s->watchers = watchers_create(&settings);
	controller_open(&s->controller);
	assert_int_equal(watchers_start(s->watchers), 0);
}

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof *s);

	*state = s;
	controller_init(&s->controller, (struct state_limits){0});
	s->peers = (struct peers){"home", NS_PER_S, deployment, submit, stop, s};
	watch(s);
	for (uint32_t i = 0; i < REGIONS; i++)
		s->seen[i] = REGION_ABSENT;
	return 0;
}

// Starts the next controller from this one's log.
static void restart(struct scene *s)
{
	struct controller old = s->controller;

	watchers_stop(s->watchers);
	applier_stop(old.applier, 0);
	watchers_destroy(s->watchers);
	controller_init(&s->controller, (struct state_limits){0});
	s->controller.time = old.time;
	controller_seed(&s->controller, old.seed + 1000);
	controller_take_log(&s->controller, &old);
	controller_free(&old);
	const struct memory_log *log = &s->controller.log;
	assert_int_equal(controller_replay(&s->controller, log, log->count), 0);
	watch(s);
}

static int teardown(void **state)
{
	struct scene *s = *state;

	controller_verify(&s->controller);
	watchers_destroy(s->watchers);
	controller_free(&s->controller);
	free(s);
	return 0;
}

static void advance(struct scene *s, uint32_t seconds)
{
	for (uint32_t i = 0; i <= seconds; i++) {
		if (i > 0)
			manual_time_advance_ms(&s->controller.time, 1000);
		while (applier_step(s->controller.applier) > 0 || watchers_turn(s->watchers))
			continue;
	}
}

static struct job *build(const char *rollout, bool submitted_here, int type)
{
	static const struct resources ask = {1, 1, 1};
	struct job *job = build_job("web", &ask, 1);

	job->type = type;
	job->node_pool = text_copy(TEXT("default"));
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("*"));
	job->multiregion = memory_take(sizeof *job->multiregion);
	job->multiregion->strategy = memory_take(sizeof *job->multiregion->strategy);
	job->multiregion->strategy->max_parallel = 1;
	job->multiregion->rollout = text_copy(text_of(rollout));
	if (submitted_here)
		job->multiregion->submission = text_copy(TEXT("{}"));
	for (uint32_t i = 0; i < REGIONS; i++) {
		struct job_region *r = array_append(&job->multiregion->regions, sizeof *r);
		r->name = text_copy(text_of(names[i]));
	}
	return job;
}

static void submit_here(struct scene *s, const char *rollout, bool submitted_here, int type)
{
	snprintf(s->rollout, sizeof s->rollout, "%s", rollout);
	assert_int_equal(
		controller_job(&s->controller, build(rollout, submitted_here, type)), OUTCOME_DONE);
}

// Sets the newest deployment's status, as a scheduler would.
static void set_status(struct scene *s, int status, const char *description)
{
	struct plan *plan = plan_create();
	struct plan_result result = {0};
	struct command command = {.type = COMMAND_PLAN, .plan = {.plan = plan, .result = &result}};
	uint64_t cursor = 0;

	state_read_begin();
	const struct deployment *d =
		state_latest_deployment(s->controller.state, TEXT("default"), TEXT("web"));
	struct deployment_update *u = array_append(&plan->deployment_updates, sizeof *u);
	*u = (struct deployment_update){d->id, status, text_copy(text_of(description))};
	const struct evaluation *first =
		state_next(s->controller.state, STATE_EVALUATIONS, &cursor);
	plan->eval_id = first->id;
	plan->namespace_name = text_copy(TEXT("default"));
	plan->job_id = text_copy(TEXT("web"));
	plan->job_version =
		state_job(s->controller.state, TEXT("default"), TEXT("web"))->job_modify_index;
	state_read_end();
	assert_int_equal(controller_run(&s->controller, &command), OUTCOME_DONE);
	plan_result_release(&result);
	plan_free(plan);
}

static void expect_status(struct scene *s, int status, const char *description)
{
	state_read_begin();
	const struct deployment *d =
		state_latest_deployment(s->controller.state, TEXT("default"), TEXT("web"));
	assert_string_equal(deployment_status_names[d->status], deployment_status_names[status]);
	if (description)
		assert_string_equal(d->status_description, description);
	state_read_end();
}

static void everybody_is_told_until_he_has_it(void **state)
{
	struct scene *s = *state;

	s->refuses[WEST] = true;
	s->seen[EAST] = REGION_UNKNOWN; // away: it gets nothing
	submit_here(s, "r1", true, JOB_SERVICE);
	advance(s, 3);
	assert_int_equal(s->told[EAST], 0);
	assert_int_equal(s->told[WEST], 4);
	s->refuses[WEST] = false;
	s->seen[EAST] = REGION_ABSENT;
	advance(s, 10);
	assert_int_equal(s->told[EAST], 1);
	assert_int_equal(s->told[WEST], 5);
	expect_status(s, DEPLOYMENT_INITIALIZING, NULL);
}

static void who_was_told_tells_nobody(void **state)
{
	struct scene *s = *state;

	submit_here(s, "r1", false, JOB_SERVICE);
	advance(s, 10);
	assert_int_equal(s->told[EAST] + s->told[WEST], 0);
	assert_true(s->asked > 0);
}

static void what_is_too_old_is_not_sent(void **state)
{
	struct scene *s = *state;

	s->refuses[WEST] = true;
	s->seen[EAST] = DEPLOYMENT_PENDING;
	submit_here(s, "r1", true, JOB_SERVICE);
	advance(s, 3700);
	uint32_t told = s->told[WEST];
	assert_in_range(told, 3500, 3601);
	advance(s, 100);
	assert_int_equal(s->told[WEST], told);
}

static void steps_follow_the_others(void **state)
{
	struct scene *s = *state;

	submit_here(s, "r1", false, JOB_SERVICE);
	s->seen[EAST] = s->seen[WEST] = DEPLOYMENT_PENDING;
	advance(s, 5);
	expect_status(s, DEPLOYMENT_INITIALIZING, NULL);
	set_status(s, DEPLOYMENT_PENDING, DEPLOYMENT_TEXT_PENDING);
	advance(s, 5);
	expect_status(s, DEPLOYMENT_PENDING, DEPLOYMENT_TEXT_PENDING);
	s->seen[EAST] = DEPLOYMENT_RUNNING;
	advance(s, 5);
	expect_status(s, DEPLOYMENT_PENDING, DEPLOYMENT_TEXT_PENDING);
	s->seen[EAST] = DEPLOYMENT_BLOCKED;
	advance(s, 1);
	expect_status(s, DEPLOYMENT_RUNNING, DEPLOYMENT_TEXT_RUNNING);
	set_status(s, DEPLOYMENT_BLOCKED, DEPLOYMENT_TEXT_BLOCKED);
	advance(s, 5);
	expect_status(s, DEPLOYMENT_BLOCKED, DEPLOYMENT_TEXT_BLOCKED);
	s->seen[WEST] = REGION_UNKNOWN;
	advance(s, 5);
	expect_status(s, DEPLOYMENT_BLOCKED, DEPLOYMENT_TEXT_BLOCKED);
	s->seen[WEST] = DEPLOYMENT_BLOCKED;
	advance(s, 1);
	expect_status(s, DEPLOYMENT_SUCCESSFUL, DEPLOYMENT_TEXT_SUCCESSFUL);
	// The rollout is over: no region is asked any more.
	uint32_t asked = s->asked;
	advance(s, 10);
	assert_int_equal(s->asked, asked);
	struct watchers_stats stats;
	watchers_stats(s->watchers, &stats);
	assert_int_equal(stats.region_steps, 2);
	assert_int_equal(stats.rollouts_watched, 0);
	assert_int_equal(stats.commands_refused, 0);
}

static void a_failure_before_us_is_ours(void **state)
{
	struct scene *s = *state;

	submit_here(s, "r1", false, JOB_SERVICE);
	s->seen[EAST] = DEPLOYMENT_FAILED;
	s->seen[WEST] = DEPLOYMENT_PENDING;
	advance(s, 1);
	expect_status(s, DEPLOYMENT_FAILED, DEPLOYMENT_TEXT_FAILED_BY_PEER);
}

static void a_failure_after_us_is_not(void **state)
{
	struct scene *s = *state;

	submit_here(s, "r1", false, JOB_SERVICE);
	set_status(s, DEPLOYMENT_PENDING, DEPLOYMENT_TEXT_PENDING);
	s->seen[EAST] = DEPLOYMENT_SUCCESSFUL;
	s->seen[WEST] = DEPLOYMENT_FAILED;
	advance(s, 1);
	expect_status(s, DEPLOYMENT_RUNNING, DEPLOYMENT_TEXT_RUNNING);
}

// Row C42: they only get the job.
static void jobs_without_deployments_are_not_held_up(void **state)
{
	struct scene *s = *state;

	submit_here(s, "r1", true, JOB_BATCH);
	advance(s, 3);
	assert_int_equal(s->told[EAST], 1);
	assert_int_equal(s->told[WEST], 1);
	uint32_t asked = s->asked;
	advance(s, 10);
	assert_int_equal(s->asked, asked);
	state_read_begin();
	assert_null(state_latest_deployment(s->controller.state, TEXT("default"), TEXT("web")));
	state_read_end();
}

static void stop_here(struct scene *s, bool everywhere, bool purge)
{
	struct command command = {.type = COMMAND_JOB_DEREGISTER,
		.job_deregister = {.id = TEXT("web"), .everywhere = everywhere, .purge = purge}};

	assert_int_equal(controller_run(&s->controller, &command), OUTCOME_DONE);
}

// -1: the job is missing.
static int is_stopped_here(struct scene *s)
{
	state_read_begin();
	const struct job *job = state_job(s->controller.state, TEXT("default"), TEXT("web"));
	int is_stopped = job ? job->stop : -1;
	state_read_end();
	return is_stopped;
}

static void deploy_everywhere(struct scene *s)
{
	s->seen[EAST] = s->seen[WEST] = DEPLOYMENT_PENDING;
	submit_here(s, "r1", false, JOB_SERVICE);
	advance(s, 2);
}

static void a_stop_here_is_no_one_elses_affair(void **state)
{
	struct scene *s = *state;

	deploy_everywhere(s);
	stop_here(s, false, false);
	uint32_t asked = s->asked;
	advance(s, 10);
	assert_int_equal(s->stops, 0);
	assert_int_equal(s->asked, asked);
	assert_int_equal(is_stopped_here(s), 1);
}

static void everybody_is_told_to_stop_until_he_has(void **state)
{
	struct scene *s = *state;

	deploy_everywhere(s);
	s->refuses[WEST] = true;
	stop_here(s, true, false);
	advance(s, 3);
	assert_true(s->is_stopped[EAST] && !s->is_purged[EAST]);
	assert_int_equal(s->stops, 1 + 4);
	s->refuses[WEST] = false;
	advance(s, 10);
	assert_true(s->is_stopped[WEST] && !s->is_purged[WEST]);
	assert_int_equal(s->stops, 1 + 5);
	assert_int_equal(is_stopped_here(s), 1);
	// A new submission begins the rollout again, and no region is stopped.
	s->is_stopped[EAST] = false;
	s->seen[EAST] = s->seen[WEST] = REGION_ABSENT;
	submit_here(s, "r2", true, JOB_SERVICE);
	advance(s, 10);
	assert_int_equal(s->told[EAST], 1);
	assert_int_equal(s->stops, 1 + 5);
	assert_int_equal(is_stopped_here(s), 0);
}

static void it_is_forgotten_here_when_all_know(void **state)
{
	struct scene *s = *state;

	deploy_everywhere(s);
	s->refuses[WEST] = true;
	stop_here(s, true, true);
	assert_int_equal(is_stopped_here(s), 1);
	advance(s, 3);
	assert_true(s->is_purged[EAST]);
	assert_int_equal(is_stopped_here(s), 1);
	s->refuses[WEST] = false;
	advance(s, 1);
	assert_true(s->is_purged[WEST]);
	assert_int_equal(is_stopped_here(s), -1);
}

static void one_that_does_not_come_back_is_not_waited_for(void **state)
{
	struct scene *s = *state;

	deploy_everywhere(s);
	s->refuses[WEST] = true;
	stop_here(s, true, true);
	advance(s, 3599);
	assert_int_equal(is_stopped_here(s), 1);
	assert_int_equal(s->stops, 1 + 3600);
	advance(s, 2);
	assert_int_equal(is_stopped_here(s), -1);
	assert_int_equal(s->stops, 1 + 3600);
	assert_false(s->is_stopped[WEST]);
}

// The stop to send is stored with the job.
static void a_stop_is_told_of_after_a_restart(void **state)
{
	struct scene *s = *state;

	deploy_everywhere(s);
	s->refuses[EAST] = s->refuses[WEST] = true;
	stop_here(s, true, true);
	advance(s, 1);
	restart(s);
	assert_int_equal(is_stopped_here(s), 1);
	s->refuses[EAST] = s->refuses[WEST] = false;
	advance(s, 1);
	assert_true(s->is_purged[EAST] && s->is_purged[WEST]);
	assert_int_equal(is_stopped_here(s), -1);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(everybody_is_told_until_he_has_it),
		TEST(who_was_told_tells_nobody),
		TEST(what_is_too_old_is_not_sent),
		TEST(steps_follow_the_others),
		TEST(a_failure_before_us_is_ours),
		TEST(a_failure_after_us_is_not),
		TEST(jobs_without_deployments_are_not_held_up),
		TEST(a_stop_here_is_no_one_elses_affair),
		TEST(everybody_is_told_to_stop_until_he_has),
		TEST(it_is_forgotten_here_when_all_know),
		TEST(one_that_does_not_come_back_is_not_waited_for),
		TEST(a_stop_is_told_of_after_a_restart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
