// Racks of nodes that come and die together make few evaluations of each job.
#include "state/base/time_units.h"
#include "state/records/plan.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

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
	const struct evaluation *first = state_next(r->c.state, STATE_EVALUATIONS, &cursor);
	plan->eval_id = first->id;
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

static void all_beat(struct rack *r)
{
	for (uint32_t i = 0; i < RACK_NODES; i++)
		controller_node(
			&r->c, COMMAND_NODE_RETURNED, r->nodes[i].slot, r->nodes[i].generation);
}

static void open_rack(struct rack *r, int64_t beat_ns)
{
	char name[16];

	controller_init(&r->c, (struct state_limits){0});
	r->c.beat_ns = beat_ns;
	controller_open(&r->c);
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

	open_rack(&r, 0);
	push_all(&r);
	all_beat(&r);
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

// Its nodes sent their last heartbeats within an interval, so they are missed one by one for as long.
static void rack_dies(struct rack *r, int64_t beat_ns)
{
	int64_t began_ns = (int64_t)r->c.time.wall_ns;
	uint32_t done = 0;

	for (uint32_t i = 0; i < RACK_NODES; i++) {
		r->commands[i] = (struct command){.type = COMMAND_NODE_EXPIRED,
			.node = {r->nodes[i].slot, r->nodes[i].generation}};
		controller_push(&r->c, &r->commands[i], &done);
		applier_step(r->c.applier);
		r->c.time.wall_ns += (uint64_t)beat_ns / RACK_NODES;
		applier_step(r->c.applier);
		int64_t passed_ns = (int64_t)r->c.time.wall_ns - began_ns;
		if (passed_ns > NS_PER_S && passed_ns < NS_PER_S + 2 * beat_ns / RACK_NODES)
			assert_int_equal(all_node_updates(&r->c, 2), 2 * RACK_JOBS);
	}
	assert_int_equal(done, RACK_NODES);
}

// The first evaluation of each job comes within a second, and there are three at most, whatever the time to live is.
static void a_rack_that_dies_makes_three_evaluations_a_job(void **unused)
{
	static const int64_t beats_ns[] = {NS_PER_S / 10, NS_PER_S * 5 / 3, 20 * NS_PER_S};
	char name[16];

	for (uint32_t i = 0; i < 3; i++) {
		struct rack r;
		open_rack(&r, beats_ns[i]);
		push_all(&r);
		all_beat(&r);
		step_at(&r.c, 2000);
		assert_int_equal(all_node_updates(&r.c, 1), RACK_JOBS);
		for (uint32_t job = 0; job < RACK_JOBS; job++) {
			name_of(job, name);
			place_everywhere(&r, name, job * RACK_NODES);
		}
		step_at(&r.c, 30000);
		rack_dies(&r, beats_ns[i]);
		for (uint32_t second = 0; second < 30; second++)
			step_at(&r.c, 1000);
		all_node_updates(&r.c, 1 + 3);
		expect_after_restart(&r, 1 + (i == 0 ? 1 : 2));
		close_rack(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_nodes_make_one_evaluation_per_job),
		cmocka_unit_test(a_rack_that_dies_makes_three_evaluations_a_job),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
