// Requests of a scheduler (rows B8–B21, B36, B37), made directly to a pipeline that delivers its evaluation to the
// test.
#include "placement/pipeline/delivery.h"
#include "placement/pipeline/pipeline_parts.h"
#include "placement/pipeline/planning.h"
#include "placement/pipeline/scheduler_thread.h"
#include "state/base/error.h"
#include "tests/placement/broker/evals.h"
#include "tests/placement/pipeline/cluster.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 8 };

struct fixture {
	struct cluster cluster; // first
	struct backoff backoff;
	struct planning planning;
	struct planner planner;
	struct evaluation *eval;
	struct command down;
};

static struct broker *broker(struct fixture *f)
{
	return f->cluster.pipeline->broker;
}

// Dequeues the evaluation of the job "agent".
static void deliver(struct fixture *f)
{
	uint64_t token, index;

	(void)applier_step(f->cluster.applier);
	f->eval = broker_dequeue(broker(f), 1u << EVAL_SYSTEM, 0, &token, &index);
	assert_non_null(f->eval);
	planning_begin(&f->planning, f->cluster.pipeline, f->eval, token);
	f->planning.backoff = &f->backoff;
	f->planner = planning_planner(&f->planning);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	cluster_init(&f->cluster, 7);
	for (uint32_t n = 0; n < NODES; n++)
		cluster_node(&f->cluster, n);
	cluster_job(&f->cluster, (struct job_ask){.id = "agent", .type = JOB_SYSTEM});
	deliver(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->eval) {
		planning_end(&f->planning, 0);
		evaluation_free(f->eval);
	}
	cluster_free(&f->cluster);
	free(f);
	return 0;
}

static struct evaluation *stored(struct fixture *f, const struct uuid *id)
{
	state_read_begin();
	const struct evaluation *e = state_evaluation(f->cluster.state, id);
	struct evaluation *copy = e ? evaluation_copy(e) : NULL;
	state_read_end();
	return copy;
}

static struct broker_stats stats(struct fixture *f)
{
	struct broker_stats s;
	broker_stats(broker(f), &s);
	return s;
}

static void b10_an_index_that_does_not_come(void **state)
{
	struct fixture *f = *state;
	struct scheduler_view view;
	uint64_t index = state_index(f->cluster.state);

	assert_int_equal(planning_wait_for_index(&f->planning, index), 0);
	assert_int_equal(planning_wait_for_index(&f->planning, index + 1), -ERROR_SYNC_TIMEOUT);
	assert_int_equal(
		f->planner.begin_view(&f->planning, index + 1, &view), -ERROR_SYNC_TIMEOUT);
	// Trap 3: the failures stay until a plan succeeds.
	assert_int_equal(f->backoff.failures, 2);
	assert_int_equal(f->planner.begin_view(&f->planning, index, &view), 0);
	f->planner.end_view(&f->planning);
	assert_int_equal(f->backoff.failures, 0);
}

// The pipeline nacks an evaluation whose index the state does not reach (B10); it comes again later (B32).
static void b10_is_nacked(void **state)
{
	struct fixture *f = *state;
	struct evaluation *e = evaluation_copy(f->eval);

	assert_int_equal(broker_ack(broker(f), &f->eval->id, f->planning.token), 0);
	e->record.modify_index = state_index(f->cluster.state) + 100;
	broker_enqueue(broker(f), e, 0);
	evaluation_free(e);
	assert_true(scheduler_thread_turn(f->cluster.pipeline->threads[0], 0));
	assert_int_equal(stats(f).waiting, 1);
	assert_int_equal(stats(f).unacked, 0);
}

static void b12_and_b20_stamps(void **state)
{
	struct fixture *f = *state;
	struct scheduler_view view;
	struct evaluation *created = make_eval((struct eval_ask){
		.number = 90, .job = "agent", .type = EVAL_SYSTEM, .status = EVAL_BLOCKED});

	assert_int_equal(f->planner.begin_view(&f->planning, 0, &view), 0);
	uint64_t first = view.index(view.context);
	f->planner.end_view(&f->planning);
	cluster_node(&f->cluster, 100); // changes the state
	assert_int_equal(f->planner.begin_view(&f->planning, 0, &view), 0);
	assert_true(view.index(view.context) > first);
	f->planner.end_view(&f->planning);

	created->previous_eval = f->eval->id;
	created->record.create_index = created->record.modify_index = 0;
	assert_int_equal(f->planner.create_eval(&f->planning, created), 0);
	struct evaluation *update = evaluation_copy(f->eval);
	update->status = EVAL_COMPLETE;
	assert_int_equal(f->planner.update_eval(&f->planning, update), 0);
	evaluation_free(update);
	assert_int_equal(stats(f).unacked, 1); // not acked before it is durable
	planning_end(&f->planning, 0);
	assert_int_equal(stats(f).unacked, 1);
	(void)applier_step(f->cluster.applier);
	assert_int_equal(stats(f).unacked, 0);

	struct evaluation *e = stored(f, &created->id), *own = stored(f, &f->eval->id);
	assert_int_equal(e->snapshot_index, first);
	assert_int_equal(own->snapshot_index, first);
	assert_int_equal(own->status, EVAL_COMPLETE);
	assert_true(e->create_time_ns == (int64_t)f->cluster.time.wall_ns);
	assert_true(own->modify_time_ns > own->create_time_ns);
	evaluation_free(e);
	evaluation_free(own);
	evaluation_free(created);
	evaluation_free(f->eval);
	f->eval = NULL;
}

static void b14_an_error_nacks(void **state)
{
	struct fixture *f = *state;

	planning_end(&f->planning, -EINVAL);
	assert_int_equal(stats(f).unacked, 0);
	assert_int_equal(stats(f).waiting, 1);
	evaluation_free(f->eval);
	f->eval = NULL;
}

static void ask_everything(struct fixture *f, int error)
{
	struct plan *plan = plan_create();
	struct plan_result result = {0};
	struct evaluation *blocked = evaluation_copy(f->eval), *created = evaluation_copy(f->eval);

	blocked->status = EVAL_BLOCKED;
	created->previous_eval = f->eval->id;
	plan->eval_id = f->eval->id;
	assert_int_equal(f->planner.submit_plan(&f->planning, plan, &result), error);
	assert_int_equal(f->planner.update_eval(&f->planning, f->eval), error);
	assert_int_equal(f->planner.create_eval(&f->planning, created), error);
	assert_int_equal(f->planner.reblock_eval(&f->planning, blocked), error);
	plan_result_release(&result);
	plan_free(plan);
	evaluation_free(blocked);
	evaluation_free(created);
}

static void b15_nothing_is_asked_while_it_stops(void **state)
{
	struct fixture *f = *state;

	pipeline_stop(f->cluster.pipeline);
	ask_everything(f, -ERROR_PLANNING_STOPPING);
}

static void b36_another_delivery_asks_in_vain(void **state)
{
	struct fixture *f = *state;

	f->planning.token++;
	ask_everything(f, -ERROR_TOKEN);
	f->planning.token--;
	assert_int_equal(broker_nack(broker(f), &f->eval->id, f->planning.token), 0);
	ask_everything(f, -ERROR_NOT_FOUND);
}

static void b36_a_late_delivery_asks_in_vain(void **state)
{
	struct fixture *f = *state;
	struct plan *plan = plan_create();
	struct plan_result result = {0};

	manual_time_advance_ms(&f->cluster.time, 60000);
	assert_int_equal(f->planner.submit_plan(&f->planning, plan, &result), -ERROR_LATE);
	plan_free(plan);
}

static void two_minutes_pass(struct cluster *c)
{
	manual_time_advance_ms(&c->time, 120000);
	(void)broker_tick(c->pipeline->broker);
}

static void b37_the_timer_rests_while_a_plan_waits(void **state)
{
	struct fixture *f = *state;
	struct plan *plan = plan_create();
	struct plan_result result = {0};

	plan->eval_id = f->eval->id;
	plan->namespace_name = strdup("default");
	plan->job_id = strdup("agent");
	f->cluster.meanwhile = two_minutes_pass;
	assert_int_equal(f->planner.submit_plan(&f->planning, plan, &result), 0);
	assert_int_equal(broker_outstanding(broker(f), &f->eval->id, f->planning.token), 0);
	assert_true(plan->eval_token == f->planning.token); // B16
	manual_time_advance_ms(&f->cluster.time, 59999);
	assert_int_equal(stats(f).unacked, 1);
	plan_result_release(&result);
	plan_free(plan);
}

static void lose_a_node(struct cluster *c)
{
	struct fixture *f = (struct fixture *)c;
	cluster_push_node_down(c, 3, &f->down);
}

// B19: a node goes down between the view and the plan. The rest is committed, and the scheduler gets a new view.
static void b19_a_plan_that_is_partly_stale(void **state)
{
	struct fixture *f = *state;
	struct pipeline_stats s;

	planning_end(&f->planning, -EINVAL); // back to the broker
	evaluation_free(f->eval);
	f->eval = NULL;
	manual_time_advance_ms(&f->cluster.time, 1000);
	f->cluster.meanwhile = lose_a_node;
	assert_true(pipeline_step(f->cluster.pipeline));
	(void)cluster_settle(&f->cluster);
	assert_int_equal(f->down.outcome, OUTCOME_DONE);
	assert_int_equal(cluster_allocations(&f->cluster, "agent").live, NODES - 1);
	pipeline_stats(f->cluster.pipeline, &s);
	assert_int_equal(s.plans_partial, 1);
	assert_int_equal(s.nodes_rejected, 1);
	assert_int_equal(
		cluster_evaluations(&f->cluster, "agent", EVAL_COMPLETE, TRIGGER_JOB_REGISTER), 1);
}

static void queued(struct evaluation *e, int64_t count)
{
	struct named_count *q = array_append(&e->queued, sizeof *q);
	*q = (struct named_count){strdup("g"), count};
}

static void b21_reblocked_in_memory(void **state)
{
	struct fixture *f = *state;
	struct evaluation *e = evaluation_copy(f->eval);
	struct blocked_stats blocked;
	struct scheduler_view view;

	assert_int_equal(f->planner.begin_view(&f->planning, 0, &view), 0);
	f->planner.end_view(&f->planning);
	e->status = EVAL_BLOCKED;
	queued(e, 0); // as in the summary
	struct evaluation *before = stored(f, &e->id);
	assert_int_equal(f->planner.reblock_eval(&f->planning, e), 0);
	struct evaluation *after = stored(f, &e->id);
	assert_int_equal(before->record.modify_index, after->record.modify_index);
	blocked_stats(f->cluster.pipeline->blocked, &blocked);
	assert_int_equal(blocked.blocked, 1);
	evaluation_free(before);
	evaluation_free(after);
	evaluation_free(e);
}

static void b21_stored_first_when_more_is_queued(void **state)
{
	struct fixture *f = *state;
	struct evaluation *e = evaluation_copy(f->eval);

	e->status = EVAL_BLOCKED;
	queued(e, 5);
	assert_int_equal(f->planner.reblock_eval(&f->planning, e), 0);
	struct evaluation *after = stored(f, &e->id);
	assert_int_equal(after->status, EVAL_BLOCKED);
	assert_int_equal(count_get(&after->queued, "g"), 5);
	evaluation_free(after);
	evaluation_free(e);
}

static void b21_only_what_is_blocked_and_stored(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(f->planner.reblock_eval(&f->planning, f->eval), -EINVAL);
}

// There is room for the evaluation of the new version and none for the one that would go on after the stagger.
static void a11_no_step_without_the_next_one(void **unused)
{
	enum { ROOM = 2 };
	struct job_ask ask = {
		.id = "agent", .type = JOB_SYSTEM, .stagger_ms = 1000, .max_parallel = 1};
	struct pipeline_stats s;
	struct cluster c;

	cluster_init_limited(&c, 7, ROOM);
	for (uint32_t n = 0; n < NODES; n++)
		cluster_node(&c, n);
	cluster_job(&c, ask);
	(void)cluster_settle(&c);
	ask.version = "2";
	cluster_job(&c, ask);
	(void)cluster_settle(&c);
	assert_int_equal(cluster_allocations(&c, "agent").live, NODES);
	assert_int_equal(cluster_allocations(&c, "agent").of_version, 0);
	pipeline_stats(c.pipeline, &s);
	assert_int_equal(s.plans_submitted, 1);
	assert_int_equal(s.nacked, 1);
	cluster_free(&c);
}

// Full nodes have an evaluation each that waits; what cannot be stored of them holds nothing up.
static void a37_placement_goes_on_without_what_is_blocked(void **unused)
{
	enum { ROOM = 4, FULL = NODES - 2 };
	struct pipeline_stats s;
	struct cluster c;

	cluster_init_limited(&c, 7, ROOM);
	for (uint32_t n = 0; n < NODES; n++)
		cluster_node(&c, n);
	cluster_job(&c, (struct job_ask){.id = "filler",
				.type = JOB_SERVICE,
				.count = FULL,
				.cpu = 3000,
				.memory_mb = 6000});
	(void)cluster_settle(&c);
	cluster_job(&c, (struct job_ask){.id = "agent", .type = JOB_SYSTEM, .cpu = 2000});
	(void)cluster_settle(&c);
	assert_int_equal(cluster_allocations(&c, "agent").live, NODES - FULL);
	assert_int_equal(cluster_evaluations(&c, "agent", EVAL_COMPLETE, -1), 1);
	assert_int_equal(cluster_evaluations(&c, "agent", EVAL_BLOCKED, -1), 0);
	pipeline_stats(c.pipeline, &s);
	assert_int_equal(s.nacked, 0);
	cluster_free(&c);
}

// Waits until the job is being worked on.
static void await_work(struct cluster *c)
{
	struct pipeline_stats s;

	do
		pipeline_stats(c->pipeline, &s);
	while (s.broker.unacked == 0);
}

static void b17_a_queue_that_is_off_is_asked_again(void **unused)
{
	struct pipeline_stats s;
	struct cluster c;

	cluster_init_threads(&c, 1);
	for (uint32_t n = 0; n < NODES; n++)
		cluster_node(&c, n);
	plan_queue_set_enabled(c.pipeline->plans, false);
	cluster_job(&c, (struct job_ask){.id = "agent", .type = JOB_SYSTEM});
	await_work(&c);
	assert_int_equal(cluster_allocations(&c, "agent").live, 0);
	plan_queue_set_enabled(c.pipeline->plans, true);
	cluster_await(&c, "agent", NODES);
	pipeline_stats(c.pipeline, &s);
	assert_int_equal(s.nacked, 0);
	cluster_free(&c);
}

static void b17_a_stop_ends_the_wait(void **unused)
{
	struct cluster c;

	cluster_init_threads(&c, 1);
	cluster_node(&c, 0);
	plan_queue_set_enabled(c.pipeline->plans, false);
	cluster_job(&c, (struct job_ask){.id = "agent", .type = JOB_SYSTEM});
	await_work(&c);
	cluster_quiesce(&c);
	assert_int_equal(cluster_allocations(&c, "agent").live, 0);
	cluster_free(&c);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(b10_an_index_that_does_not_come),
		TEST(b10_is_nacked),
		TEST(b12_and_b20_stamps),
		TEST(b14_an_error_nacks),
		TEST(b15_nothing_is_asked_while_it_stops),
		cmocka_unit_test(a11_no_step_without_the_next_one),
		cmocka_unit_test(a37_placement_goes_on_without_what_is_blocked),
		cmocka_unit_test(b17_a_queue_that_is_off_is_asked_again),
		cmocka_unit_test(b17_a_stop_ends_the_wait),
		TEST(b36_another_delivery_asks_in_vain),
		TEST(b36_a_late_delivery_asks_in_vain),
		TEST(b37_the_timer_rests_while_a_plan_waits),
		TEST(b19_a_plan_that_is_partly_stale),
		TEST(b21_reblocked_in_memory),
		TEST(b21_stored_first_when_more_is_queued),
		TEST(b21_only_what_is_blocked_and_stored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
