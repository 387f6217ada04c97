// What is past its time goes, and nothing else (row B66).
#include "state/log/entry.h"
#include "state/records/scheduler_config.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct world {
	struct controller c;
	struct node_registration node;
	struct uuid eval; // of the newest registration
};

#define HOURS_MS(n) ((n)*3600ull * 1000)

static void open_world(struct world *w)
{
	controller_init(&w->c, (struct state_limits){0});
	controller_open(&w->c);
	controller_register(&w->c, 1, &w->node);
}

static void register_one(struct world *w, const char *id, enum job_type type)
{
	struct command_job_register result = {0};

	assert_int_equal(register_job(&w->c, build_scheduled_job(id, type), &result), OUTCOME_DONE);
	w->eval = result.made.id;
}

// Steps until the command is done; counts the batches that it took.
static uint32_t collect_with(struct world *w, const struct command_gc *gc, uint32_t *pieces)
{
	struct command command = {.type = COMMAND_GC, .gc = *gc};
	uint32_t done = 0;

	controller_push(&w->c, &command, &done);
	*pieces = 0;
	while (done == 0) {
		assert_true((*pieces)++ < 1000);
		applier_step(w->c.applier);
	}
	assert_int_equal(command.outcome, OUTCOME_DONE);
	return command.gc.collected;
}

// The times of row B66, as of now.
static uint32_t collect(struct world *w)
{
	int64_t now_ns = (int64_t)w->c.time.wall_ns;
	uint32_t pieces;
	struct command_gc gc = {
		.evals_before_ns = now_ns - (int64_t)HOURS_MS(1) * 1000000,
		.batch_evals_before_ns = now_ns - (int64_t)HOURS_MS(24) * 1000000,
		.jobs_before_ns = now_ns - (int64_t)HOURS_MS(4) * 1000000,
		.nodes_before_ns = now_ns - (int64_t)HOURS_MS(24) * 1000000,
	};
	return collect_with(w, &gc, &pieces);
}

static uint32_t collect_all(struct world *w)
{
	uint32_t pieces;
	return collect_with(w, &(struct command_gc){.force = true}, &pieces);
}

static bool is_there(const struct world *w, uint32_t allocation)
{
	struct uuid id = placed_id(allocation);

	state_read_begin();
	bool there = state_allocation(w->c.state, &id) != NULL;
	state_read_end();
	return there;
}

static struct state_counts counts(const struct world *w)
{
	struct state_counts now;
	state_counts(w->c.state, &now);
	return now;
}

static void close_world(struct world *w)
{
	expect_restores(&w->c);
	controller_free(&w->c);
}

static void evaluations_go_an_hour_after_their_end(void **unused)
{
	struct world w;

	open_world(&w);
	register_one(&w, "sys", JOB_SYSTEM);
	assert_int_equal(collect_all(&w), 0); // it is pending
	change_evaluation(&w.c, &w.eval, EVAL_COMPLETE);
	advance_ms(&w.c, HOURS_MS(1));
	assert_int_equal(collect(&w), 0);
	advance_ms(&w.c, 1);
	assert_int_equal(collect(&w), 1);
	assert_int_equal(counts(&w).evaluations, 0);
	assert_int_equal(counts(&w).jobs, 1); // runs for good
	close_world(&w);
}

static enum command_outcome pause_broker(struct world *w)
{
	struct scheduler_config config = {.pause_eval_broker = true};
	struct command command = {
		.type = COMMAND_SCHEDULER_CONFIG, .scheduler_config = {.config = &config}};
	return controller_run(&w->c, &command);
}

// others: whether those that may not go are left.
static enum command_outcome delete_evaluations(
	struct world *w, const struct uuid *ids, uint32_t count, bool others, uint32_t deleted)
{
	struct uuid copies[8];
	memcpy(copies, ids, count * sizeof ids[0]);
	struct command_evaluations_delete wish = {
		.ids = copies, .count = count, .leaves_others = others};
	struct command command = {.type = COMMAND_EVALUATIONS_DELETE, .evaluations_delete = &wish};
	enum command_outcome outcome = controller_run(&w->c, &command);
	assert_int_equal(wish.deleted, deleted);
	assert_int_equal(*wish.message != '\0', outcome != OUTCOME_DONE);
	return outcome;
}

static void an_operator_deletes_what_waits(void **unused)
{
	struct uuid ids[4];
	struct world w;

	open_world(&w);
	register_one(&w, "a", JOB_SERVICE);
	ids[0] = w.eval;
	assert_int_equal(
		store_evaluation(&w.c, build_evaluation(1, "a", EVAL_BLOCKED)), OUTCOME_DONE);
	struct evaluation *blocked = build_evaluation(2, "a", EVAL_BLOCKED);
	ids[1] = blocked->id;
	assert_int_equal(store_evaluation(&w.c, blocked), OUTCOME_DONE);
	register_one(&w, "b", JOB_SERVICE);
	ids[2] = w.eval;
	assert_int_equal(place_one(&w.c, &w.eval, "b", &w.node, 1), OUTCOME_DONE);
	ids[3] = number_uuid(77); // nobody's
	assert_int_equal(delete_evaluations(&w, ids, 2, false, 0), OUTCOME_CONFLICT);
	assert_int_equal(pause_broker(&w), OUTCOME_DONE);
	assert_int_equal(delete_evaluations(&w, ids, 3, false, 0), OUTCOME_CONFLICT);
	assert_int_equal(delete_evaluations(&w, ids + 3, 1, false, 0), OUTCOME_CONFLICT);
	assert_int_equal(counts(&w).evaluations, 4);
	assert_int_equal(delete_evaluations(&w, ids, 4, true, 2), OUTCOME_DONE);
	assert_int_equal(counts(&w).evaluations, 2);
	assert_int_equal(counts(&w).evaluations_blocked, 1);
	assert_int_equal(counts(&w).evaluations_pending, 1);
	controller_verify(&w.c);
	close_world(&w);
}

static void an_evaluation_stays_with_its_allocations(void **unused)
{
	struct world w;

	open_world(&w);
	register_one(&w, "sys", JOB_SYSTEM);
	assert_int_equal(place_one(&w.c, &w.eval, "sys", &w.node, 1), OUTCOME_DONE);
	change_evaluation(&w.c, &w.eval, EVAL_COMPLETE);
	advance_ms(&w.c, HOURS_MS(5));
	assert_int_equal(collect(&w), 0);
	assert_int_equal(collect_all(&w), 0);
	report_one(&w.c, &w.node, 1, ALLOC_RUNNING);
	stop_one(&w.c, &w.eval, "sys", 1, STOP_NOT_NEEDED);
	advance_ms(&w.c, HOURS_MS(5));
	assert_int_equal(collect_all(&w), 0); // its node says that it runs
	report_one(&w.c, &w.node, 1, ALLOC_COMPLETE);
	assert_int_equal(collect(&w), 0);
	advance_ms(&w.c, HOURS_MS(2));
	assert_int_equal(collect(&w), 2);
	assert_false(is_there(&w, 1));
	assert_int_equal(counts(&w).evaluations, 0);
	close_world(&w);
}

// A sysbatch job would do again what it forgot.
static void a_batch_job_that_goes_on_keeps_what_it_did(void **unused)
{
	struct world w;

	open_world(&w);
	register_one(&w, "once", JOB_SYSBATCH);
	place_one(&w.c, &w.eval, "once", &w.node, 1);
	place_one(&w.c, &w.eval, "once", &w.node, 2);
	change_evaluation(&w.c, &w.eval, EVAL_COMPLETE);
	report_one(&w.c, &w.node, 1, ALLOC_COMPLETE);
	assert_int_equal(job_status(&w.c, "once"), JOB_RUNNING);
	advance_ms(&w.c, HOURS_MS(19));
	assert_int_equal(collect(&w), 0);
	assert_int_equal(collect_all(&w), 0);
	assert_true(is_there(&w, 1));

	report_one(&w.c, &w.node, 2, ALLOC_FAILED);
	assert_int_equal(job_status(&w.c, "once"), JOB_DEAD);
	expect_restores(&w.c);
	advance_ms(&w.c, HOURS_MS(4));
	assert_int_equal(collect(&w), 0);
	advance_ms(&w.c, HOURS_MS(1));
	assert_int_equal(collect(&w), 4); // with everything that it had
	assert_int_equal(counts(&w).jobs, 0);
	assert_int_equal(counts(&w).allocations, 0);
	assert_int_equal(counts(&w).evaluations, 0);
	close_world(&w);
}

// Those of another specification are not needed any more.
static void a_batch_job_lets_go_of_its_former_versions(void **unused)
{
	struct world w;

	open_world(&w);
	register_one(&w, "once", JOB_SYSBATCH);
	place_one(&w.c, &w.eval, "once", &w.node, 1);
	report_one(&w.c, &w.node, 1, ALLOC_COMPLETE);
	change_evaluation(&w.c, &w.eval, EVAL_COMPLETE);
	struct command_job_register result = {0};
	struct job *job = build_scheduled_job("once", JOB_SYSBATCH);
	job->priority = 10;
	register_job(&w.c, job, &result);
	place_one(&w.c, &result.made.id, "once", &w.node, 2);
	advance_ms(&w.c, HOURS_MS(25));
	assert_int_equal(collect(&w), 2);
	assert_false(is_there(&w, 1));
	assert_true(is_there(&w, 2));
	close_world(&w);
}

static void a_stopped_job_goes_after_four_hours(void **unused)
{
	struct world w;

	open_world(&w);
	register_one(&w, "sys", JOB_SYSTEM);
	struct uuid eval = w.eval;
	place_one(&w.c, &eval, "sys", &w.node, 1);
	change_evaluation(&w.c, &eval, EVAL_COMPLETE);
	controller_stop_job(&w.c, "sys", false);
	assert_int_equal(job_status(&w.c, "sys"), JOB_DEAD);
	advance_ms(&w.c, HOURS_MS(5));
	assert_int_equal(collect_all(&w), 0); // its allocation lives
	stop_one(&w.c, &eval, "sys", 1, STOP_NOT_NEEDED);
	report_one(&w.c, &w.node, 1, ALLOC_COMPLETE);
	uint64_t cursor = 0;
	state_read_begin();
	const struct evaluation *e;
	struct uuid stopping = {{0}};
	while ((e = state_next(w.c.state, STATE_EVALUATIONS, &cursor)))
		if (e->triggered_by == TRIGGER_JOB_DEREGISTER)
			stopping = e->id;
	state_read_end();
	change_evaluation(&w.c, &stopping, EVAL_COMPLETE);
	assert_int_equal(collect_all(&w), 4);
	assert_int_equal(job_status(&w.c, "sys"), -1);
	close_world(&w);
}

// What is left of a job that was purged goes like everything else.
static void a_service_job_without_work_stays_until_it_is_stopped(void **unused)
{
	struct world w;
	struct command stop = {
		.type = COMMAND_JOB_DEREGISTER, .job_deregister = {.id = TEXT("web")}};

	open_world(&w);
	register_one(&w, "web", JOB_SERVICE);
	change_evaluation(&w.c, &w.eval, EVAL_COMPLETE); // of no instances
	assert_int_equal(job_status(&w.c, "web"), JOB_DEAD);
	assert_int_equal(collect_all(&w), 1);
	assert_int_equal(job_status(&w.c, "web"), JOB_DEAD);
	controller_run(&w.c, &stop);
	change_evaluation(&w.c, &stop.job_deregister.made.id, EVAL_COMPLETE);
	assert_int_equal(collect_all(&w), 2);
	assert_int_equal(job_status(&w.c, "web"), -1);
	close_world(&w);
}

static void what_a_purged_job_left_goes(void **unused)
{
	struct world w;

	open_world(&w);
	register_one(&w, "sys", JOB_SYSTEM);
	place_one(&w.c, &w.eval, "sys", &w.node, 1);
	change_evaluation(&w.c, &w.eval, EVAL_COMPLETE);
	controller_stop_job(&w.c, "sys", true);
	expect_restores(&w.c);
	report_one(&w.c, &w.node, 1, ALLOC_COMPLETE);
	advance_ms(&w.c, 2000);
	applier_step(w.c.applier); // what it was marked for
	assert_int_equal(count_evaluations(&w.c, "sys", TRIGGER_JOB_DEREGISTER), 2);
	uint64_t cursor = 0;
	struct uuid pending[2] = {0};
	uint32_t count = 0;
	const struct evaluation *e;
	state_read_begin();
	while ((e = state_next(w.c.state, STATE_EVALUATIONS, &cursor)))
		if (e->status == EVAL_PENDING)
			pending[count++] = e->id;
	state_read_end();
	assert_int_equal(count, 2);
	change_evaluation(&w.c, &pending[0], EVAL_COMPLETE);
	change_evaluation(&w.c, &pending[1], EVAL_COMPLETE);
	assert_int_equal(collect_all(&w), 4);
	assert_int_equal(counts(&w).allocations, 0);
	assert_int_equal(counts(&w).evaluations, 0);
	close_world(&w);
}

static bool node_is_there(const struct world *w)
{
	state_read_begin();
	bool there = state_node_by_id(w->c.state, &w->node.node) != NULL;
	state_read_end();
	return there;
}

// Down for a day, and with nothing on it that is not over.
static void a_node_goes_a_day_after_its_end(void **unused)
{
	struct world w;

	open_world(&w);
	register_one(&w, "sys", JOB_SYSTEM);
	place_one(&w.c, &w.eval, "sys", &w.node, 1);
	assert_int_equal(collect_all(&w), 0);
	controller_node(&w.c, COMMAND_NODE_EXPIRED, w.node.slot, w.node.generation);
	advance_ms(&w.c, HOURS_MS(30));
	assert_int_equal(collect(&w), 0); // its allocation was not given up yet
	stop_one(&w.c, &w.eval, "sys", 1, STOP_NOT_NEEDED);
	assert_int_equal(collect(&w), 1);
	assert_false(node_is_there(&w));
	assert_true(is_there(&w, 1)); // stopped just now
	expect_restores(&w.c);

	controller_register(&w.c, 2, &w.node);
	controller_node(&w.c, COMMAND_NODE_EXPIRED, w.node.slot, w.node.generation);
	advance_ms(&w.c, HOURS_MS(23));
	collect(&w);
	assert_true(node_is_there(&w));
	advance_ms(&w.c, HOURS_MS(2));
	collect(&w);
	assert_false(node_is_there(&w));
	close_world(&w);
}

// Nobody waits for all of it: it goes in pieces, and what comes between them is not in their way.
static void much_garbage_goes_in_pieces(void **unused)
{
	enum { EVALS = 20000 };
	struct world w;
	uint32_t pieces, done = 0;

	open_world(&w);
	register_one(&w, "sys", JOB_SYSTEM);
	struct evaluation *items[100];
	for (uint32_t i = 0; i < EVALS; i += 100) {
		for (uint32_t j = 0; j < 100; j++)
			items[j] = build_evaluation(i + j, "sys", EVAL_CANCELED);
		struct command command = {
			.type = COMMAND_EVALUATIONS, .evaluations = {.items = items, .count = 100}};
		assert_int_equal(controller_run(&w.c, &command), OUTCOME_DONE);
	}
	assert_int_equal(collect_with(&w, &(struct command_gc){.force = true}, &pieces), EVALS);
	assert_true(pieces >= EVALS / GC_ITEMS_MAX);
	assert_int_equal(counts(&w).evaluations, 1);

	struct command commands[6];
	for (uint32_t i = 0; i < 6; i++) {
		commands[i] = (struct command){.type = COMMAND_GC, .gc = {.force = true}};
		controller_push(&w.c, &commands[i], &done);
	}
	struct command other = {.type = COMMAND_JOB_EVALUATE, .job_evaluate = {.id = TEXT("sys")}};
	controller_push(&w.c, &other, &done);
	applier_step(w.c.applier);
	assert_int_equal(other.outcome, OUTCOME_DONE);
	assert_int_equal(commands[4].outcome, OUTCOME_CONFLICT); // as many wait already
	assert_int_equal(done, 3);
	for (uint32_t i = 0; i < 100; i++)
		applier_step(w.c.applier);
	assert_int_equal(done, 7);
	close_world(&w);
}

static void a_stop_refuses_what_is_unfinished(void **unused)
{
	struct world w;
	uint32_t done = 0;
	struct command command = {.type = COMMAND_GC, .gc = {.force = true}};

	open_world(&w);
	controller_push(&w.c, &command, &done);
	applier_step(w.c.applier);
	assert_int_equal(done, 0);
	applier_stop(w.c.applier, 0);
	assert_int_equal(done, 1);
	assert_int_equal(command.outcome, OUTCOME_STOPPING);
	controller_free(&w.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(evaluations_go_an_hour_after_their_end),
		cmocka_unit_test(an_operator_deletes_what_waits),
		cmocka_unit_test(an_evaluation_stays_with_its_allocations),
		cmocka_unit_test(a_batch_job_that_goes_on_keeps_what_it_did),
		cmocka_unit_test(a_batch_job_lets_go_of_its_former_versions),
		cmocka_unit_test(a_stopped_job_goes_after_four_hours),
		cmocka_unit_test(a_service_job_without_work_stays_until_it_is_stopped),
		cmocka_unit_test(what_a_purged_job_left_goes),
		cmocka_unit_test(a_node_goes_a_day_after_its_end),
		cmocka_unit_test(much_garbage_goes_in_pieces),
		cmocka_unit_test(a_stop_refuses_what_is_unfinished),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
