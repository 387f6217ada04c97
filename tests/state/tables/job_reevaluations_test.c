// Events of nodes become few evaluations, and none is lost.
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/records/plan.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
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

// Nodes that die together are missed one by one, over an interval of heartbeats.
static void marks_wait_as_long_as_they_are_told(void **unused)
{
	struct controller c;

	controller_init(&c, (struct state_limits){0});
	c.patience = (struct mark_patience){.quiet_ns = 1000000000, .oldest_ns = 2000000000};
	controller_open(&c);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	for (uint32_t i = 0; i < 50; i++) {
		controller_register(&c, i, NULL);
		step_at(&c, i == 20 ? 349 : 49); // never quiet for a second
		assert_int_equal(node_updates(&c, "sys"), i < 34 ? 0 : 1);
	}
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
	const struct evaluation *e = state_next_evaluation(c.state, &cursor); // of the registration
	e = state_next_evaluation(c.state, &cursor);
	assert_int_equal(e->triggered_by, TRIGGER_NODE_UPDATE);
	assert_true(uuid_equal(&e->node_id, &node.node));
	assert_int_equal(e->node_modify_index, registered);
	assert_int_equal(e->priority, 77);
	assert_int_equal(e->type, EVAL_SYSTEM);
	assert_int_equal(e->status, EVAL_PENDING);
	assert_null(state_next_evaluation(c.state, &cursor));
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
	controller_register(&c, 1, NULL);
	step_at(&c, 100);
	assert_int_equal(node_updates(&c, "sys"), 0);
	assert_int_equal(node_updates(&c, "pool"), 0);
	assert_int_equal(node_updates(&c, "all"), 1);
	assert_int_equal(node_updates(&c, "stopped"), 0);
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

enum { RACK_NODES = 1000, RACK_JOBS = 50 };

struct rack {
	struct controller c;
	struct node_registration *nodes;
	struct command *commands;
};

static void name_of(uint32_t job, char name[16])
{
	snprintf(name, 16, "job-%u", job);
}

// Node updates of all jobs; each has at most this many.
static uint32_t all_node_updates(const struct controller *c, uint32_t most)
{
	char name[16];
	uint32_t count = 0;

	for (uint32_t i = 0; i < RACK_JOBS; i++) {
		name_of(i, name);
		uint32_t of_job = node_updates(c, name);
		assert_true(of_job <= most);
		count += of_job;
	}
	return count;
}

// All at once but for a pause of 20 ms after every hundred.
static void push_all(struct rack *r)
{
	uint32_t done = 0;

	for (uint32_t i = 0; i < RACK_NODES; i++) {
		controller_push(&r->c, &r->commands[i], &done);
		if (i % 100 == 99)
			step_at(&r->c, 20);
	}
	assert_int_equal(done, RACK_NODES);
}

static void place_everywhere(struct rack *r, const char *job, uint32_t first_id)
{
	struct plan *plan = plan_create();
	struct plan_result result;

	state_read_begin();
	plan->job_version =
		state_job(r->c.state, TEXT("default"), text_of(job))->record.modify_index;
	uint64_t cursor = 0;
	plan->eval_id = state_next_evaluation(r->c.state, &cursor)->id;
	state_read_end();
	for (uint32_t i = 0; i < RACK_NODES; i++) {
		struct plan_placement *p = array_append(&plan->placements, sizeof *p);
		*p = (struct plan_placement){
			.id = number_uuid(10000000 + first_id + i),
			.node_id = r->nodes[i].node,
			.slot = r->nodes[i].slot,
			.generation = r->nodes[i].generation,
			.job_version = plan->job_version,
			.resources = {10, 10, 1},
			.metrics = PLAN_NO_METRICS,
		};
	}
	struct command command = {.type = COMMAND_PLAN, .plan = {plan, &result}};
	assert_int_equal(controller_run(&r->c, &command), OUTCOME_DONE);
	assert_int_equal(result.placements_committed, RACK_NODES);
	plan_result_release(&result);
	plan_free(plan);
}

static void open_rack(struct rack *r)
{
	char name[16];

	open_controller(&r->c);
	r->nodes = calloc(RACK_NODES, sizeof *r->nodes);
	r->commands = calloc(RACK_NODES, sizeof *r->commands);
	for (uint32_t i = 0; i < RACK_JOBS; i++) {
		name_of(i, name);
		register_job(&r->c, build_scheduled_job(name, JOB_SYSTEM), NULL);
	}
	for (uint32_t i = 0; i < RACK_NODES; i++) {
		build_node(&r->nodes[i], i, 1);
		r->commands[i] = (struct command){
			.type = COMMAND_NODE_REGISTER, .node_register = &r->nodes[i]};
	}
}

static void close_rack(struct rack *r)
{
	free(r->nodes);
	free(r->commands);
	controller_free(&r->c);
}

// The process ends with marks that are not due yet, and another goes on where it was.
static void expect_after_restart(struct rack *r, uint32_t most)
{
	struct bytes_writer image = controller_image(&r->c);

	for (uint32_t from_snapshot = 0; from_snapshot < 2; from_snapshot++) {
		struct controller again;
		controller_init(&again, (struct state_limits){0});
		assert_int_equal(from_snapshot
					 ? controller_load(&again, &image)
					 : controller_replay(&again, &r->c.log, r->c.log.count),
			0);
		again.time.wall_ns = r->c.time.wall_ns;
		controller_open(&again);
		step_at(&again, 100);
		assert_int_equal(all_node_updates(&again, most), most * RACK_JOBS);
		controller_verify(&again);
		controller_free(&again);
	}
	bytes_writer_free(&image);
}

static void many_nodes_make_one_evaluation_per_job(void **unused)
{
	struct rack r;
	char name[16];

	open_rack(&r);
	push_all(&r);
	assert_int_equal(all_node_updates(&r.c, 0), 0);
	expect_after_restart(&r, 1);
	step_at(&r.c, 100);
	assert_int_equal(all_node_updates(&r.c, 1), RACK_JOBS);

	for (uint32_t i = 0; i < RACK_JOBS; i++) {
		name_of(i, name);
		place_everywhere(&r, name, i * RACK_NODES);
	}
	for (uint32_t i = 0; i < RACK_NODES; i++)
		r.commands[i] = (struct command){.type = COMMAND_NODE_EXPIRED,
			.node = {r.nodes[i].slot, r.nodes[i].generation}};
	push_all(&r);
	assert_int_equal(all_node_updates(&r.c, 1), RACK_JOBS);
	expect_after_restart(&r, 2);
	step_at(&r.c, 100);
	assert_int_equal(all_node_updates(&r.c, 2), 2 * RACK_JOBS);
	close_rack(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mark_waits_until_it_is_quiet),
		cmocka_unit_test(a_mark_waits_a_second_at_most),
		cmocka_unit_test(marks_wait_as_long_as_they_are_told),
		cmocka_unit_test(a_clock_that_goes_back_delays_nothing),
		cmocka_unit_test(the_evaluation_says_which_node),
		cmocka_unit_test(any_evaluation_settles_the_mark),
		cmocka_unit_test(only_targets_of_the_job_mark_it),
		cmocka_unit_test(a_node_that_goes_and_comes_marks_what_it_runs),
		cmocka_unit_test(another_description_marks),
		cmocka_unit_test(a_failure_marks_what_reschedules),
		cmocka_unit_test(what_is_stopped_by_hand_is_looked_at_again),
		cmocka_unit_test(replacement_may_be_forced),
		cmocka_unit_test(asking_evaluates_at_once),
		cmocka_unit_test(marks_wait_while_the_table_is_full),
		cmocka_unit_test(many_nodes_make_one_evaluation_per_job),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
