// What each call of a scheduler thread leaves (rows B2, B8, B11, B16, B23, B40), and housekeeping by the clock (rows
// B48, B51, B66).
#include "placement/pipeline/core.h"
#include "placement/pipeline/pipeline_parts.h"
#include "placement/pipeline/planning.h"
#include "placement/pipeline/scheduler_thread.h"
#include "state/base/error.h"
#include "state/base/time_units.h"
#include "tests/placement/broker/evals.h"
#include "tests/placement/pipeline/cluster.h"
#include "tests/support/log_capture.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { NODES = 3 };

struct fixture {
	struct cluster cluster; // first
	struct backoff backoff;
	struct planning planning;
	struct planner planner;
	struct evaluation *eval; // of the job "agent", delivered to the test
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	uint64_t token, index;

	cluster_init(&f->cluster, 7);
	for (uint32_t n = 0; n < NODES; n++)
		cluster_node(&f->cluster, n);
	cluster_job(&f->cluster, (struct job_ask){.id = "agent", .type = JOB_SYSTEM});
	(void)applier_step(f->cluster.applier);
	f->eval = broker_dequeue(f->cluster.pipeline->broker, 1u << EVAL_SYSTEM, 0, &token, &index);
	assert_non_null(f->eval);
	planning_begin(&f->planning, f->cluster.pipeline, f->eval, token);
	f->planning.backoff = &f->backoff;
	f->planner = planning_planner(&f->planning);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	planning_end(&f->planning, 0);
	evaluation_free(f->eval);
	cluster_free(&f->cluster);
	free(f);
	return 0;
}

static struct pipeline_stats stats_of(const struct cluster *c)
{
	struct pipeline_stats s;
	pipeline_stats(c->pipeline, &s);
	return s;
}

static uint64_t samples(const struct pipeline_timing *timing)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < sizeof timing->us / sizeof *timing->us; i++)
		count += timing->us[i];
	return count;
}

static struct evaluation *waiting(struct fixture *f, uint32_t number, int triggered_by)
{
	struct evaluation *e = make_eval((struct eval_ask){.number = number,
		.job = "agent",
		.type = EVAL_SYSTEM,
		.status = EVAL_BLOCKED,
		.triggered_by = triggered_by});

	e->previous_eval = f->eval->id;
	e->record.create_index = e->record.modify_index = 0;
	return e;
}

static int submit(struct fixture *f, struct plan *plan)
{
	struct plan_result result = {0};

	plan->eval_id = f->eval->id;
	int error = f->planner.submit_plan(&f->planning, plan, &result);
	plan_result_release(&result);
	return error;
}

static int call(struct fixture *f, uint32_t which)
{
	struct plan *plan = plan_create();
	struct evaluation *blocked = waiting(f, 90 + which, TRIGGER_QUEUED_ALLOCS);
	struct evaluation *own = evaluation_copy(f->eval);
	int error = 0;

	switch (which) {
	case 0: error = submit(f, plan); break;
	case 1: error = f->planner.create_eval(&f->planning, blocked); break;
	case 2: error = f->planner.update_eval(&f->planning, own); break;
	case 3:
		own->status = EVAL_BLOCKED;
		error = f->planner.reblock_eval(&f->planning, own);
		break;
	default: error = planning_wait_for_index(&f->planning, 1); break;
	}
	evaluation_free(own);
	evaluation_free(blocked);
	plan_free(plan);
	return error;
}

static void b8_every_success_takes_the_failures_back(void **state)
{
	struct fixture *f = *state;

	for (uint32_t which = 0; which < 5; which++) {
		f->backoff.failures = 3;
		assert_int_equal(call(f, which), 0);
		assert_int_equal(f->backoff.failures, 0);
	}
	// One that is refused leaves them.
	f->backoff.failures = 3;
	f->planning.token++;
	for (uint32_t which = 0; which < 4; which++)
		assert_int_equal(call(f, which), -ERROR_TOKEN);
	assert_int_equal(f->backoff.failures, 3);
	f->planning.token--;
}

static void b16_a_plan_says_what_it_saw(void **state)
{
	struct fixture *f = *state;
	struct plan *plan = plan_create();
	struct scheduler_view view;

	assert_int_equal(f->planner.begin_view(&f->planning, 0, &view), 0);
	uint64_t seen = view.index(view.context);
	f->planner.end_view(&f->planning);
	cluster_node(&f->cluster, 100); // changes the state
	assert_true(state_index(f->cluster.state) > seen);
	assert_int_equal(submit(f, plan), 0);
	assert_true(plan->snapshot_index == seen);
	assert_true(plan->eval_token == f->planning.token);
	plan_free(plan);
}

static void b23_each_call_is_a_sample(void **state)
{
	struct fixture *f = *state;
	struct scheduler_view view;

	assert_int_equal(f->planner.begin_view(&f->planning, 0, &view), 0);
	f->planner.end_view(&f->planning);
	assert_int_equal(planning_wait_for_index(&f->planning, 1u << 30), -ERROR_SYNC_TIMEOUT);
	for (uint32_t which = 0; which < 4; which++)
		assert_int_equal(call(f, which), 0);
	f->planning.token++;
	assert_int_equal(call(f, 0), -ERROR_TOKEN);
	f->planning.token--;
	(void)applier_step(f->cluster.applier);
	struct pipeline_stats s = stats_of(&f->cluster);
	assert_int_equal(samples(&s.wait_for_index), 2);
	assert_int_equal(samples(&s.submit_plan), 2);
	assert_int_equal(samples(&s.create_eval), 1);
	assert_int_equal(samples(&s.update_eval), 1);
	assert_int_equal(samples(&s.reblock_eval), 1);
	assert_int_equal(samples(&s.send_ack), 0);
}

static void b23_a_turn_is_measured(void **unused)
{
	struct cluster c;

	cluster_init(&c, 7);
	cluster_node(&c, 0);
	cluster_job(&c, (struct job_ask){.id = "agent", .type = JOB_SYSTEM});
	(void)cluster_settle(&c);
	struct pipeline_stats s = stats_of(&c);
	assert_int_equal(samples(&s.invoke[EVAL_SYSTEM]), 1);
	assert_int_equal(samples(&s.invoke[EVAL_SERVICE]), 0);
	assert_int_equal(samples(&s.send_ack), 1);
	assert_int_equal(samples(&s.submit_plan), 1);
	assert_int_equal(samples(&s.update_eval), 1);
	assert_true(samples(&s.dequeue) > 1); // those that brought nothing, too
	cluster_free(&c);
}

static void b15_nothing_that_was_not_asked_is_measured(void **state)
{
	struct fixture *f = *state;

	pipeline_stop(f->cluster.pipeline);
	for (uint32_t which = 0; which < 4; which++)
		assert_int_equal(call(f, which), -ERROR_PLANNING_STOPPING);
	assert_string_equal(error_text(-ERROR_PLANNING_STOPPING), "shutdown while planning");
	struct pipeline_stats s = stats_of(&f->cluster);
	assert_int_equal(samples(&s.submit_plan) + samples(&s.create_eval), 0);
	assert_int_equal(samples(&s.update_eval) + samples(&s.reblock_eval), 0);
}

static void b9_what_comes_during_the_stop_goes_back(void **unused)
{
	struct cluster c;

	cluster_init(&c, 7);
	cluster_node(&c, 0);
	cluster_job(&c, (struct job_ask){.id = "agent", .type = JOB_SYSTEM});
	(void)applier_step(c.applier);
	submitter_stop(c.pipeline->submitter);
	assert_true(scheduler_thread_turn(c.pipeline->threads[0], 0));
	struct pipeline_stats s = stats_of(&c);
	assert_int_equal(s.broker.unacked, 0);
	assert_int_equal(s.broker.waiting, 1); // it would be delivered again
	assert_int_equal(s.nacked, 1);
	assert_int_equal(samples(&s.invoke[EVAL_SYSTEM]), 0);
	cluster_free(&c);
}

static void never_done(struct command *unused)
{
	fail_msg("a command that was not taken is not done");
}

static void b9_nothing_is_taken_after_the_stop(void **unused)
{
	struct cluster c;
	struct command late = {.type = COMMAND_EVALUATIONS, .done = never_done};

	cluster_init(&c, 7);
	submitter_stop(c.pipeline->submitter);
	assert_int_equal(submitter_send(c.pipeline->submitter, &late), -ERROR_STOPPING);
	late.type = COMMAND_PLAN;
	assert_int_equal(submitter_send(c.pipeline->submitter, &late), -ERROR_STOPPING);
	assert_false(submitter_sleep(c.pipeline->submitter, (int64_t)(3600 * NS_PER_S)));
	(void)applier_step(c.applier);
	cluster_free(&c);
}

static void b9_what_is_decided_after_the_stop_is_let_go(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(call(f, 1), 0);
	submitter_stop(f->cluster.pipeline->submitter);
	assert_int_equal(planning_flush(&f->planning), -ERROR_STOPPING);
}

// Its processor is none of this machine's.
static void a_thread_that_cannot_be_pinned_works_all_the_same(void **unused)
{
	static struct log_capture captured;
	struct cluster c;

	log_capture_begin(&captured);
	cluster_init_threads(&c, 1);
	struct scheduler_thread *thread = scheduler_thread_create(c.pipeline, 1);
	assert_int_equal(scheduler_thread_start(thread, CPU_SETSIZE - 1), 0);
	cluster_quiesce(&c);
	scheduler_thread_join(thread);
	log_capture_end(&captured);
	assert_int_equal(log_capture_count(&captured, "event=scheduler-not-pinned", "cpu=1023"), 1);
	scheduler_thread_destroy(thread);
	cluster_free(&c);
}

static void take_one(void *queue)
{
	struct command *taken;

	assert_int_equal(command_queue_take(queue, &taken, 1), 1);
}

// A clock that says when it is looked at a second time: by who has sent in vain, and is about to wait.
struct looked_at {
	_Atomic uint32_t times;
	sem_t again;
};

static uint64_t look_at_clock(void *context)
{
	struct looked_at *l = context;

	if (atomic_fetch_add(&l->times, 1) == 1)
		assert_int_equal(sem_post(&l->again), 0);
	return time_monotonic_ns(&time_source_real);
}

static void *send_late(void *submitter)
{
	static struct command late = {.type = COMMAND_EVALUATIONS};

	return (void *)(intptr_t)submitter_send(submitter, &late);
}

static void what_finds_no_room_is_sent_when_there_is_some(void **unused)
{
	struct looked_at looked_at = {0};
	const struct time_source time = {.monotonic_ns = look_at_clock, .context = &looked_at};
	struct submitter_settings settings = {.queue = command_queue_create(1), .time = &time};
	struct command filler = {.type = COMMAND_EVALUATIONS};
	pthread_t thread;
	void *error;

	while (command_queue_push(settings.queue, COMMAND_PRODUCER_SHARED, &filler))
		;
	struct submitter *waiting = submitter_create(&settings);
	settings.time = &time_source_real;
	settings.step = take_one;
	settings.step_context = settings.queue;
	struct submitter *stepping = submitter_create(&settings);
	assert_int_equal(submitter_send(stepping, &filler), 0);
	assert_int_equal(sem_init(&looked_at.again, 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, send_late, waiting), 0);
	assert_int_equal(sem_wait(&looked_at.again), 0);
	submitter_stop(waiting);
	assert_int_equal(pthread_join(thread, &error), 0);
	assert_int_equal((intptr_t)error, -ERROR_STOPPING);
	assert_int_equal(sem_destroy(&looked_at.again), 0);
	submitter_destroy(waiting);
	submitter_destroy(stepping);
	command_queue_destroy(settings.queue);
}

static void each_outcome_is_an_error_of_its_own(void **unused)
{
	assert_int_equal(outcome_error(OUTCOME_DONE), 0);
	assert_int_equal(outcome_error(OUTCOME_STOPPING), -ERROR_STOPPING);
	assert_int_equal(outcome_error(OUTCOME_STORE_FULL), -ERROR_STORE_FULL);
	assert_int_equal(outcome_error(OUTCOME_TABLE_FULL), -ERROR_TABLE_FULL);
	assert_int_equal(outcome_error(OUTCOME_CONFLICT), -ERROR_CONFLICT);
	assert_int_equal(outcome_error(OUTCOME_UNKNOWN_JOB), -ERROR_NOT_FOUND);
	assert_int_equal(outcome_error(OUTCOME_TERMINAL), -EINVAL);
}

static void b11_a_stop_ends_the_wait(void **state)
{
	struct fixture *f = *state;

	pipeline_stop(f->cluster.pipeline);
	assert_int_equal(planning_wait_for_index(&f->planning, 1u << 30), -ERROR_SYNC_STOPPING);
	assert_string_equal(
		error_text(-ERROR_SYNC_STOPPING), "shutdown while waiting for state sync");
	assert_string_equal(error_text(-ERROR_SYNC_TIMEOUT), "sync wait timeout reached");
}

// By the real clock: looks after 20, 80 and 320 ms and then every second, the last one after 5 s.
static void b11_an_index_is_looked_for_again_and_again(void **unused)
{
	struct backoff backoff = {0};
	struct planning planning = {.backoff = &backoff};
	struct evaluation *eval = make_eval((struct eval_ask){.number = 1});
	struct cluster c;

	cluster_init_threads(&c, 1);
	planning_begin(&planning, c.pipeline, eval, 1);
	planning.backoff = &backoff;
	uint64_t began_ns = time_monotonic_ns(&c.source);
	assert_int_equal(planning_wait_for_index(&planning, 1u << 30), -ERROR_SYNC_TIMEOUT);
	assert_true(time_monotonic_ns(&c.source) - began_ns >= 5 * NS_PER_S);
	assert_int_equal(backoff.failures, 3); // waits below the cap
	planning_end(&planning, -ERROR_SYNC_TIMEOUT);
	evaluation_free(eval);
	cluster_free(&c);
}

static void switch_off(struct cluster *c)
{
	plan_queue_set_enabled(c->pipeline->plans, false);
}

static void b40_who_waits_is_told_why(void **state)
{
	struct fixture *f = *state;
	struct plan *plan = plan_create();

	f->cluster.meanwhile = switch_off;
	assert_int_equal(submit(f, plan), -ERROR_PLANS_FLUSHED);
	assert_int_equal(submit(f, plan), -ERROR_PLANS_OFF);
	assert_string_equal(error_text(-ERROR_PLANS_FLUSHED), "plan queue flushed");
	assert_string_equal(error_text(-ERROR_PLANS_OFF), "plan queue is disabled");
	plan_free(plan);
}

static void b2_every_type_is_asked_for(void **unused)
{
	struct cluster c;
	char job[] = "job-0";

	cluster_init_threads(&c, 1);
	cluster_node(&c, 0); // makes the state's index that of the evaluations, or more
	for (int type = 0; type < EVAL_TYPES; type++) {
		job[4] = (char)('0' + type);
		struct evaluation *e = make_eval((struct eval_ask){.number = (uint32_t)type + 1,
			.job = type == EVAL_CORE ? core_jobs[0] : job,
			.type = type,
			.modify_index = 1});
		broker_enqueue(c.pipeline->broker, e, 0);
		evaluation_free(e);
	}
	while (stats_of(&c).processed < EVAL_TYPES)
		usleep(1000);
	assert_int_equal(stats_of(&c).nacked, 0);
	cluster_free(&c);
}

static void b2_an_idle_worker_asks_every_half_second(void **unused)
{
	struct pipeline_stats s;
	struct cluster c;

	cluster_init_threads(&c, 1);
	do {
		usleep(10000);
		s = stats_of(&c);
	} while (samples(&s.dequeue) < 2);
	assert_true(s.dequeue.us_sum >= 2 * 500000);
	assert_int_equal(stats_of(&c).processed, 0);
	cluster_free(&c);
}

static struct evaluation *stored(struct fixture *f, uint32_t number)
{
	struct uuid id = eval_id(number);

	state_read_begin();
	struct evaluation *copy = evaluation_copy(state_evaluation(f->cluster.state, &id));
	state_read_end();
	return copy;
}

static void keep(struct fixture *f, uint32_t number, int triggered_by)
{
	struct evaluation *e = waiting(f, number, triggered_by);
	struct scheduler_view view;

	assert_int_equal(f->planner.begin_view(&f->planning, 0, &view), 0);
	f->planner.end_view(&f->planning);
	e->type = EVAL_SERVICE;
	assert_int_equal(f->planner.create_eval(&f->planning, e), 0);
	assert_int_equal(planning_flush(&f->planning), 0);
	(void)applier_step(f->cluster.applier);
	evaluation_free(e);
}

static void b48_the_older_one_is_canceled_with_its_reason(void **state)
{
	struct fixture *f = *state;

	keep(f, 90, TRIGGER_QUEUED_ALLOCS);
	struct evaluation *e = waiting(f, 91, TRIGGER_QUEUED_ALLOCS);
	e->type = EVAL_SERVICE;
	e->snapshot_index = state_index(f->cluster.state);
	struct command command = {
		.type = COMMAND_EVALUATIONS, .evaluations = {.items = &e, .count = 1}};
	assert_int_equal(cluster_run(&f->cluster, &command), OUTCOME_DONE);
	(void)cluster_settle(&f->cluster);
	struct evaluation *older = stored(f, 90), *newer = stored(f, 91);
	assert_int_equal(newer->status, EVAL_BLOCKED);
	assert_int_equal(older->status, EVAL_CANCELED);
	assert_string_equal(
		older->status_description, "existing blocked evaluation exists for job \"agent\"");
	evaluation_free(older);
	evaluation_free(newer);
}

static void b51_conflicts_are_tried_again_every_minute(void **state)
{
	struct fixture *f = *state;
	struct blocked_stats s;

	(void)cluster_settle(&f->cluster); // the minute begins
	keep(f, 90, TRIGGER_MAX_PLAN_ATTEMPTS);
	blocked_stats(f->cluster.pipeline->blocked, &s);
	assert_int_equal(s.blocked, 1);
	manual_time_advance_ms(&f->cluster.time, 59000);
	(void)cluster_settle(&f->cluster);
	blocked_stats(f->cluster.pipeline->blocked, &s);
	assert_int_equal(s.blocked, 1);
	manual_time_advance_ms(&f->cluster.time, 1000);
	(void)cluster_settle(&f->cluster);
	blocked_stats(f->cluster.pipeline->blocked, &s);
	assert_int_equal(s.blocked, 0);
}

static void b66_what_nobody_sets_is_as_the_row_says(void **state)
{
	const struct pipeline_settings *s = &((struct fixture *)*state)->cluster.pipeline->settings;

	assert_true(s->gc_interval_ns == 5 * 60 * NS_PER_S);
	assert_true(s->eval_gc_ns == 3600 * NS_PER_S);
	assert_true(s->batch_eval_gc_ns == 24 * 3600 * NS_PER_S);
	assert_true(s->job_gc_ns == 4 * 3600 * NS_PER_S);
	assert_true(s->deployment_gc_ns == 3600 * NS_PER_S);
	assert_true(s->acl_token_gc_ns == 3600 * NS_PER_S);
	assert_true(s->node_gc_ns == 24 * 3600 * NS_PER_S);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(b8_every_success_takes_the_failures_back),
		TEST(b16_a_plan_says_what_it_saw),
		TEST(b23_each_call_is_a_sample),
		cmocka_unit_test(b23_a_turn_is_measured),
		TEST(b15_nothing_that_was_not_asked_is_measured),
		cmocka_unit_test(b9_what_comes_during_the_stop_goes_back),
		cmocka_unit_test(b9_nothing_is_taken_after_the_stop),
		TEST(b9_what_is_decided_after_the_stop_is_let_go),
		cmocka_unit_test(a_thread_that_cannot_be_pinned_works_all_the_same),
		cmocka_unit_test(what_finds_no_room_is_sent_when_there_is_some),
		cmocka_unit_test(each_outcome_is_an_error_of_its_own),
		TEST(b11_a_stop_ends_the_wait),
		cmocka_unit_test(b11_an_index_is_looked_for_again_and_again),
		TEST(b40_who_waits_is_told_why),
		cmocka_unit_test(b2_every_type_is_asked_for),
		cmocka_unit_test(b2_an_idle_worker_asks_every_half_second),
		TEST(b48_the_older_one_is_canceled_with_its_reason),
		TEST(b51_conflicts_are_tried_again_every_minute),
		TEST(b66_what_nobody_sets_is_as_the_row_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
