// Events of nodes become few evaluations, and none is lost.
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
	struct command_node_register node;

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

// --- A rack of nodes -----------------------------------------------------------------------------

enum { RACK_NODES = 1000, RACK_JOBS = 50 };

static void name_of(uint32_t job, char name[16])
{
	snprintf(name, 16, "job-%u", job);
}

static uint32_t all_node_updates(const struct controller *c)
{
	char name[16];
	uint32_t count = 0;

	for (uint32_t i = 0; i < RACK_JOBS; i++) {
		name_of(i, name);
		uint32_t of_job = node_updates(c, name);
		assert_true(of_job <= 1);
		count += of_job;
	}
	return count;
}

static void many_nodes_make_one_evaluation_per_job(void **unused)
{
	struct controller c, again;
	char name[16];

	open_controller(&c);
	for (uint32_t i = 0; i < RACK_JOBS; i++) {
		name_of(i, name);
		register_job(&c, build_scheduled_job(name, JOB_SYSTEM), NULL);
	}
	struct command_node_register *nodes = calloc(RACK_NODES, sizeof *nodes);
	struct command *commands = calloc(RACK_NODES, sizeof *commands);
	uint32_t done = 0;
	for (uint32_t i = 0; i < RACK_NODES; i++) {
		build_node(&nodes[i], i, 1);
		commands[i] =
			(struct command){.type = COMMAND_NODE_REGISTER, .node_register = &nodes[i]};
		controller_push(&c, &commands[i], &done);
		if (i % 100 == 99)
			step_at(&c, 20);
	}
	assert_int_equal(done, RACK_NODES);
	assert_int_equal(all_node_updates(&c), 0);

	// The process ends here, and another goes on where it was: from the log alone.
	controller_init(&again, (struct state_limits){0});
	assert_int_equal(controller_replay(&again, &c.log, c.log.count), 0);
	again.time.wall_ns = c.time.wall_ns;
	controller_open(&again);
	step_at(&again, 100);
	assert_int_equal(all_node_updates(&again), RACK_JOBS);
	expect_restores(&c);
	controller_verify(&again);
	controller_free(&again);

	// And from a snapshot.
	struct bytes_writer image = controller_image(&c);
	controller_init(&again, (struct state_limits){0});
	assert_int_equal(controller_load(&again, &image), 0);
	again.time.wall_ns = c.time.wall_ns;
	controller_open(&again);
	step_at(&again, 100);
	assert_int_equal(all_node_updates(&again), RACK_JOBS);
	controller_verify(&again);
	controller_free(&again);
	bytes_writer_free(&image);

	step_at(&c, 100);
	assert_int_equal(all_node_updates(&c), RACK_JOBS);
	free(nodes);
	free(commands);
	controller_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mark_waits_until_it_is_quiet),
		cmocka_unit_test(a_mark_waits_a_second_at_most),
		cmocka_unit_test(a_clock_that_goes_back_delays_nothing),
		cmocka_unit_test(the_evaluation_says_which_node),
		cmocka_unit_test(any_evaluation_settles_the_mark),
		cmocka_unit_test(only_targets_of_the_job_mark_it),
		cmocka_unit_test(many_nodes_make_one_evaluation_per_job),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
