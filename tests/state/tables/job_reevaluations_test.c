// Events of nodes become few evaluations, and none is lost.
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
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

static uint32_t node_updates(const struct controller *c, const char *job)
{
	return count_evaluations(c, job, TRIGGER_NODE_UPDATE);
}

// Lets what is due become evaluations.
static void step_at(struct controller *c, uint64_t later_ms)
{
	advance_ms(c, later_ms);
	applier_step(c->applier);
}

static void a_mark_waits_until_it_is_quiet(void **unused)
{
	struct controller c;

	open_controller(&c);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	register_job(&c, build_scheduled_job("once", JOB_SYSBATCH), NULL);
	register_job(&c, build_scheduled_job("direct", JOB_DIRECT), NULL);
	for (uint32_t i = 0; i < 3; i++)
		controller_register(&c, i, NULL); // each a millisecond after the other
	step_at(&c, 99);
	assert_int_equal(node_updates(&c, "sys"), 0);
	expect_restores(&c);
	step_at(&c, 1);
	assert_int_equal(node_updates(&c, "sys"), 1);
	assert_int_equal(node_updates(&c, "once"), 0); // a new node wakes none (row A40)
	assert_int_equal(node_updates(&c, "direct"), 0);
	step_at(&c, 5000);
	assert_int_equal(node_updates(&c, "sys"), 1);
	expect_restores(&c);
	controller_free(&c);
}

static void a_mark_waits_a_second_at_most(void **unused)
{
	struct controller c;

	open_controller(&c);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	for (uint32_t i = 0; i < 30; i++) {
		controller_register(&c, i, NULL);
		step_at(&c, 49); // never quiet for 100 ms
		assert_int_equal(node_updates(&c, "sys"), i < 20 ? 0 : 1);
	}
	controller_free(&c);
}

// While nodes come and go, a job that they concern is evaluated once in an interval of heartbeats; a job that was not
// evaluated for their sake is at once.
static void a_job_rests_while_nodes_come_and_go(void **unused)
{
	struct controller c;

	controller_init(&c, (struct state_limits){0});
	c.beat_ns = 20 * NS_PER_S;
	controller_open(&c);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	for (uint32_t i = 0; i < 380; i++) { // 19 s
		controller_register(&c, i, NULL);
		step_at(&c, 49);
		assert_int_equal(node_updates(&c, "sys"), i < 20 ? 0 : 1);
		if (i == 200)
			register_job(&c, build_scheduled_job("late", JOB_SYSTEM), NULL);
	}
	assert_int_equal(node_updates(&c, "late"), 1);
	step_at(&c, 900);
	assert_int_equal(node_updates(&c, "sys"), 1);
	step_at(&c, 100); // nothing happened for a second
	assert_int_equal(node_updates(&c, "sys"), 2);
	assert_int_equal(node_updates(&c, "late"), 2);
	step_at(&c, 1000);
	controller_register(&c, 1000, NULL);
	step_at(&c, 100); // the crowd is past
	assert_int_equal(node_updates(&c, "sys"), 3);
	controller_free(&c);
}

static void a_clock_that_goes_back_delays_nothing(void **unused)
{
	struct controller c;

	open_controller(&c);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	controller_register(&c, 1, NULL);
	applier_step(c.applier);
	c.time.wall_ns -= 3600ull * 1000000000;
	applier_step(c.applier);
	assert_int_equal(node_updates(&c, "sys"), 1);
	controller_free(&c);
}

// The mark of the first node stays, as the table of evaluations is full, and is of an hour to come.
static void a_mark_of_a_clock_that_went_back_is_added_to(void **unused)
{
	struct controller c;

	controller_init(&c, (struct state_limits){.evaluations = 1});
	controller_open(&c);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	controller_register(&c, 1, NULL);
	c.time.wall_ns -= 3600ull * 1000000000;
	controller_register(&c, 2, NULL);
	controller_verify(&c);
	expect_restores(&c);
	controller_free(&c);
}

static void the_evaluation_says_which_node(void **unused)
{
	struct controller c;
	struct node_registration node;

	open_controller(&c);
	struct job *job = build_scheduled_job("sys", JOB_SYSTEM);
	job->priority = 77;
	register_job(&c, job, NULL);
	controller_register(&c, 4, &node);
	uint64_t registered = state_index(c.state);
	step_at(&c, 100);
	uint64_t cursor = 0;
	state_read_begin();
	const struct evaluation *e =
		state_next(c.state, STATE_EVALUATIONS, &cursor); // of the registration
	e = state_next(c.state, STATE_EVALUATIONS, &cursor);
	assert_int_equal(e->triggered_by, TRIGGER_NODE_UPDATE);
	assert_true(uuid_equal(&e->node_id, &node.node));
	assert_int_equal(e->node_modify_index, registered);
	assert_int_equal(e->priority, 77);
	assert_int_equal(e->type, EVAL_SYSTEM);
	assert_int_equal(e->status, EVAL_PENDING);
	assert_null(state_next(c.state, STATE_EVALUATIONS, &cursor));
	state_read_end();
	controller_free(&c);
}

// An evaluation that is made meanwhile sees what was marked.
static void any_evaluation_settles_the_mark(void **unused)
{
	struct controller c;
	struct command command = {
		.type = COMMAND_JOB_EVALUATE, .job_evaluate = {.id = TEXT("sys")}};

	open_controller(&c);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	controller_register(&c, 1, NULL);
	assert_int_equal(controller_run(&c, &command), OUTCOME_DONE);
	step_at(&c, 2000);
	assert_int_equal(node_updates(&c, "sys"), 0);
	expect_restores(&c);
	controller_free(&c);
}

static void text_free_and_set(char **text, const char *to)
{
	free(*text);
	*text = text_copy(text_of(to));
}

static void only_targets_of_the_job_mark_it(void **unused)
{
	struct controller c;
	struct job *job = build_scheduled_job("sys", JOB_SYSTEM);

	open_controller(&c);
	text_free_and_set(ARRAY_AT(&job->datacenters, char *, 0), "elsewhere-*");
	register_job(&c, job, NULL);
	job = build_scheduled_job("pool", JOB_SYSTEM);
	text_free_and_set(&job->node_pool, "gpus");
	register_job(&c, job, NULL);
	job = build_scheduled_job("all", JOB_SYSTEM);
	text_free_and_set(&job->node_pool, "all");
	register_job(&c, job, NULL);
	job = build_scheduled_job("stopped", JOB_SYSTEM);
	register_job(&c, job, NULL);
	controller_stop_job(&c, "stopped", false);
	register_job(&c, build_scheduled_job("once", JOB_SYSBATCH), NULL);
	register_job(&c, build_scheduled_job("web", JOB_SERVICE), NULL);
	controller_register(&c, 1, NULL);
	step_at(&c, 100);
	assert_int_equal(node_updates(&c, "sys"), 0);
	assert_int_equal(node_updates(&c, "pool"), 0);
	assert_int_equal(node_updates(&c, "all"), 1);
	assert_int_equal(node_updates(&c, "stopped"), 0);
	assert_int_equal(node_updates(&c, "once"), 0); // nor does a new node wake what runs once
	assert_int_equal(node_updates(&c, "web"), 0);
	controller_free(&c);
}

struct world {
	struct controller c;
	struct node_registration node;
	struct uuid eval;
};

// A node with allocation 1 of the job on it, and nothing marked.
static void open_world(struct world *w, enum job_type type)
{
	struct command_job_register result = {0};

	open_controller(&w->c);
	controller_register(&w->c, 1, &w->node);
	struct job *job = build_scheduled_job("web", type);
	struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, 0);
	group->reschedule = memory_take(sizeof *group->reschedule);
	group->reschedule->unlimited =
		(struct optional_bool){true, type == JOB_SERVICE || type == JOB_BATCH};
	register_job(&w->c, job, &result);
	w->eval = result.made.id;
	assert_int_equal(place_one(&w->c, &w->eval, "web", &w->node, 1), OUTCOME_DONE);
	step_at(&w->c, 2000);
	assert_int_equal(node_updates(&w->c, "web"), 0);
}

static void a_node_that_goes_and_comes_marks_what_it_runs(void **unused)
{
	struct world w;

	open_world(&w, JOB_SYSBATCH);
	controller_node(&w.c, COMMAND_NODE_EXPIRED, w.node.slot, w.node.generation);
	state_read_begin();
	struct uuid id = placed_id(1);
	assert_int_equal(state_allocation(w.c.state, &id)->client_status, ALLOC_PENDING);
	state_read_end(); // a scheduler says that it is lost, not the node's end
	step_at(&w.c, 100);
	assert_int_equal(node_updates(&w.c, "web"), 1);
	controller_node(&w.c, COMMAND_NODE_RETURNED, w.node.slot, w.node.generation);
	step_at(&w.c, 100);
	assert_int_equal(node_updates(&w.c, "web"), 2);
	expect_restores(&w.c);
	controller_free(&w.c);
}

static enum command_outcome register_again(struct world *w, const char *rack)
{
	struct node_registration *node = calloc(1, sizeof *node);

	advance_ms(&w->c, 1);
	build_node(node, 1, (uint64_t)controller_now_ms(&w->c));
	if (rack)
		node->pairs[node->pair_count++] =
			(struct node_pair){PAIR_META, TEXT("rack"), text_of(rack)};
	struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = node};
	enum command_outcome outcome = controller_run(&w->c, &command);
	w->node = *node;
	free(node);
	return outcome;
}

// Row B55: only what placement looks at.
static void another_description_marks(void **unused)
{
	struct world w;

	open_world(&w, JOB_SYSBATCH);
	assert_int_equal(register_again(&w, NULL), OUTCOME_DONE);
	step_at(&w.c, 100);
	assert_int_equal(node_updates(&w.c, "web"), 0);
	assert_int_equal(register_again(&w, "r1"), OUTCOME_DONE);
	step_at(&w.c, 100);
	assert_int_equal(node_updates(&w.c, "web"), 1);
	assert_int_equal(register_again(&w, "r1"), OUTCOME_DONE);
	step_at(&w.c, 100);
	assert_int_equal(node_updates(&w.c, "web"), 1);
	controller_free(&w.c);
}

// Rows B57, B58: within 50 ms, whatever nodes do meanwhile; reports that come together make one evaluation.
static void a_report_becomes_an_evaluation_at_once(void **unused)
{
	struct world w;
	struct command_job_register result = {0};

	open_world(&w, JOB_SERVICE);
	assert_int_equal(place_one(&w.c, &w.eval, "web", &w.node, 2), OUTCOME_DONE);
	register_job(&w.c, build_scheduled_job("sys", JOB_SYSTEM), &result);
	controller_node(&w.c, COMMAND_NODE_EXPIRED, w.node.slot, w.node.generation);
	controller_node(&w.c, COMMAND_NODE_RETURNED, w.node.slot, w.node.generation);
	report_one(&w.c, &w.node, 1, ALLOC_FAILED);
	step_at(&w.c, 20);
	report_one(&w.c, &w.node, 2, ALLOC_FAILED);
	expect_restores(&w.c);
	assert_int_equal(count_evaluations(&w.c, "web", TRIGGER_ALLOC_FAILURE), 0);
	step_at(&w.c, 30);
	assert_int_equal(count_evaluations(&w.c, "web", TRIGGER_ALLOC_FAILURE), 1);
	assert_int_equal(node_updates(&w.c, "sys"), 0); // waits until the nodes are quiet
	step_at(&w.c, 50);
	assert_int_equal(node_updates(&w.c, "sys"), 1);
	step_at(&w.c, 2000);
	assert_int_equal(count_evaluations(&w.c, "web", TRIGGER_ALLOC_FAILURE), 1);
	assert_int_equal(node_updates(&w.c, "web"), 0); // it saw the node too
	expect_restores(&w.c);
	controller_free(&w.c);
}

// Row B58: one that failed is looked at when its job may replace it.
static void a_failure_marks_what_reschedules(void **unused)
{
	static const enum job_type types[] = {JOB_SERVICE, JOB_BATCH, JOB_SYSTEM, JOB_SYSBATCH};

	for (uint32_t i = 0; i < 4; i++) {
		struct world w;
		open_world(&w, types[i]);
		report_one(&w.c, &w.node, 1, ALLOC_RUNNING);
		report_one(&w.c, &w.node, 1, ALLOC_FAILED);
		step_at(&w.c, 100);
		assert_int_equal(count_evaluations(&w.c, "web", TRIGGER_ALLOC_FAILURE),
			types[i] == JOB_SERVICE || types[i] == JOB_BATCH);
		expect_restores(&w.c);
		controller_free(&w.c);
	}
}

// Stops allocation 1 as an operator does, the plan of its evaluation included.
static void stop_by_hand(struct world *w)
{
	struct command stop = {
		.type = COMMAND_ALLOC_STOP, .alloc_stop = {.allocation = placed_id(1)}};

	assert_int_equal(controller_run(&w->c, &stop), OUTCOME_DONE);
	assert_int_equal(stop_one(&w->c, &stop.alloc_stop.made.id, "web", 1, STOP_NODE_TAINTED),
		OUTCOME_DONE);
}

// Row A21: the plan that stops it does not replace it.
static void what_is_stopped_by_hand_is_looked_at_again(void **unused)
{
	static const enum job_type types[] = {JOB_SYSTEM, JOB_SYSBATCH};

	for (uint32_t i = 0; i < 2; i++) {
		struct world w;
		open_world(&w, types[i]);
		stop_by_hand(&w);
		step_at(&w.c, 100);
		assert_int_equal(count_evaluations(&w.c, "web", TRIGGER_ALLOC_STOP),
			types[i] == JOB_SYSTEM ? 2 : 1);
		step_at(&w.c, 5000);
		assert_int_equal(count_evaluations(&w.c, "web", TRIGGER_ALLOC_STOP),
			types[i] == JOB_SYSTEM ? 2 : 1);
		expect_restores(&w.c);
		controller_free(&w.c);
	}
}

static bool is_forced(const struct world *w)
{
	struct uuid id = placed_id(1);

	state_read_begin();
	const struct allocation *a = state_allocation(w->c.state, &id);
	bool forced = a->details && a->details->transition.force_reschedule.value;
	state_read_end();
	return forced;
}

// Row B61: what failed is replaced whatever its policy says.
static void replacement_may_be_forced(void **unused)
{
	struct world w;
	struct command command = {.type = COMMAND_JOB_EVALUATE,
		.job_evaluate = {.id = TEXT("web"), .force_reschedule = true}};

	open_world(&w, JOB_BATCH);
	assert_int_equal(controller_run(&w.c, &command), OUTCOME_DONE);
	assert_false(is_forced(&w)); // it did not fail
	report_one(&w.c, &w.node, 1, ALLOC_FAILED);
	command.job_evaluate.force_reschedule = false;
	assert_int_equal(controller_run(&w.c, &command), OUTCOME_DONE);
	assert_false(is_forced(&w));
	command.job_evaluate.force_reschedule = true;
	assert_int_equal(controller_run(&w.c, &command), OUTCOME_DONE);
	assert_true(is_forced(&w));
	uint64_t index = state_index(w.c.state);
	assert_int_equal(controller_run(&w.c, &command), OUTCOME_DONE);
	assert_int_equal(state_index(w.c.state), index + 1); // the evaluation alone
	assert_int_equal(command.job_evaluate.made.count, 1);
	expect_restores(&w.c);
	controller_free(&w.c);
}

static void asking_evaluates_at_once(void **unused)
{
	struct world w;

	open_world(&w, JOB_SERVICE);
	register_job(&w.c, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	register_job(&w.c, build_scheduled_job("elsewhere", JOB_SERVICE), NULL);
	struct command command = {
		.type = COMMAND_NODE_EVALUATE, .node_named = {.node = number_uuid(99)}};
	assert_int_equal(controller_run(&w.c, &command), OUTCOME_UNKNOWN_NODE);
	command.node_named.node = w.node.node;
	assert_int_equal(controller_run(&w.c, &command), OUTCOME_DONE);
	assert_int_equal(command.node_named.made.count, 2);
	assert_int_equal(node_updates(&w.c, "web"), 1);
	assert_int_equal(node_updates(&w.c, "sys"), 1);
	assert_int_equal(node_updates(&w.c, "elsewhere"), 0);
	struct evaluation *e = published_evaluation(&w.c, &command.node_named.made.id);
	assert_true(uuid_equal(&e->node_id, &w.node.node));
	assert_int_equal(e->record.modify_index, command.node_named.made.index);
	evaluation_free(e);
	expect_restores(&w.c);
	controller_free(&w.c);
}

// Marks wait for room; so does nobody else.
static void marks_wait_while_the_table_is_full(void **unused)
{
	struct controller c;

	controller_init(&c, (struct state_limits){.evaluations = 1});
	controller_open(&c);
	struct command_job_register result = {0};
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), &result);
	controller_register(&c, 1, NULL);
	step_at(&c, 2000);
	assert_int_equal(node_updates(&c, "sys"), 0);
	assert_int_equal(
		register_job(&c, build_scheduled_job("web", JOB_SYSTEM), NULL), OUTCOME_TABLE_FULL);
	change_evaluation(&c, &result.made.id, EVAL_COMPLETE);
	uint32_t done = 0;
	struct command gc = {.type = COMMAND_GC, .gc = {.force = true}};
	controller_push(&c, &gc, &done);
	while (!done)
		applier_step(c.applier);
	step_at(&c, 1000);
	assert_int_equal(node_updates(&c, "sys"), 1);
	controller_verify(&c);
	controller_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mark_waits_until_it_is_quiet),
		cmocka_unit_test(a_mark_waits_a_second_at_most),
		cmocka_unit_test(a_job_rests_while_nodes_come_and_go),
		cmocka_unit_test(a_clock_that_goes_back_delays_nothing),
		cmocka_unit_test(a_mark_of_a_clock_that_went_back_is_added_to),
		cmocka_unit_test(the_evaluation_says_which_node),
		cmocka_unit_test(any_evaluation_settles_the_mark),
		cmocka_unit_test(only_targets_of_the_job_mark_it),
		cmocka_unit_test(a_node_that_goes_and_comes_marks_what_it_runs),
		cmocka_unit_test(another_description_marks),
		cmocka_unit_test(a_report_becomes_an_evaluation_at_once),
		cmocka_unit_test(a_failure_marks_what_reschedules),
		cmocka_unit_test(what_is_stopped_by_hand_is_looked_at_again),
		cmocka_unit_test(replacement_may_be_forced),
		cmocka_unit_test(asking_evaluates_at_once),
		cmocka_unit_test(marks_wait_while_the_table_is_full),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
