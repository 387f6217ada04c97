// Plans and reports on the applier's own threads, while others read what they refer to and take snapshots: what a
// reader has found stays whole until it lets go.
#include "state/records/alloc_details.h"
#include "state/records/metrics.h"
#include "tests/state/plans.h"
#include "tests/support/readers.h"
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 20, ROUNDS = 150, READERS = 2 };

static bool is_whole(const struct allocation *a)
{
	char name[64], text[DESIRED_DESCRIPTION_BYTES];
	const struct alloc_details *d = a->details;

	if (strncmp(allocation_name(a, name, sizeof name), "web.g0[", 7) != 0 || !d || !a->metrics)
		return false;
	if (allocation_desired_description(a, text)[0] == 0 && a->desired != ALLOC_RUN)
		return false;
	if (a->report && strcmp(allocation_client_description(a), "said by its node") != 0)
		return false;
	struct alloc_metrics seen;
	shared_metrics_read(a->metrics, &seen);
	bool is_whole = count_get(&seen.nodes_available, "dc1") == NODES;
	metrics_release(&seen);
	return is_whole &&
	       strcmp(ARRAY_AT(&d->ports, struct allocated_port, 0)->label, "http") == 0;
}

static bool look_at(const struct allocation *a, void *context)
{
	struct reader *r = context;

	r->wrong += !is_whole(a);
	return true;
}

static void *read_all(void *argument)
{
	struct reader *r = argument;

	while (!r->stop) {
		state_read_begin();
		for (uint32_t slot = 0; slot < NODES; slot++) {
			struct node_use use = state_node_use(r->controller->state, slot);
			r->wrong += use.used.cpu_mhz > 4000 || use.with_details > 2;
			state_node_allocations(r->controller->state, slot, look_at, r);
		}
		state_read_end();
		r->rounds++;
		sched_yield();
	}
	return NULL;
}

// Everything is replaced: a stop and a placement with its name and its port on each node.
static struct plan *replacing_plan(const struct planned_job *job, uint32_t round)
{
	struct plan *plan = build_plan(job);
	struct alloc_metrics seen = {0};

	count_add(&seen.nodes_available, "dc1", NODES);
	struct shared_metrics *metrics = shared_metrics_create(&seen, NULL);
	metrics_release(&seen);
	*(struct shared_metrics **)array_append(&plan->metrics, sizeof metrics) = metrics;
	for (uint32_t i = 0; i < NODES; i++) {
		struct plan_placement *p = plan_place(plan, 1000 + round * NODES + i, i, i);
		p->metrics = 0;
		p->details = port_details("10.0.0.1", 8080);
		if (round == 0)
			continue;
		plan_stop(plan, 1000 + (round - 1) * NODES + i, STOP_UPDATING);
		p->details->previous_allocation = number_uuid(1000 + (round - 1) * NODES + i);
	}
	return plan;
}

// The replaced ones have ended.
static void report_ended(struct controller *c, uint32_t round)
{
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(report_status(c, i, 1, 2 * round, 1000 + (round - 1) * NODES + i,
					 ALLOC_COMPLETE, NULL),
			OUTCOME_DONE);
}

static void report_running(struct controller *c, uint32_t round)
{
	struct alloc_update_item item = {
		.allocation = number_uuid(1000 + round * NODES), .client_status = ALLOC_RUNNING};
	struct command_alloc_update update = {0, 1, 2 * round + 1, 1, &item};
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};

	item.report = alloc_report_create();
	item.report->client_description = text_copy(TEXT("said by its node"));
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
}

static void readers_see_whole_allocations(void **unused)
{
	struct controller c;
	reader_body *const bodies[READERS] = {read_all, reader_of_snapshots};
	struct reader readers[READERS];

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	for (uint32_t i = 0; i < NODES; i++)
		controller_register(&c, i, NULL);
	struct planned_job job = plan_job(&c, "web", JOB_SYSTEM);
	controller_start(&c, -1);
	readers_start(readers, bodies, READERS, &c);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct plan_result result;
		struct command command = {
			.type = COMMAND_PLAN, .plan = {replacing_plan(&job, round), &result}};
		assert_int_equal(controller_run(&c, &command), OUTCOME_DONE);
		assert_int_equal(result.rejections.count, 0);
		assert_int_equal(result.placements_committed, NODES);
		plan_result_release(&result);
		plan_free(command.plan.plan);
		if (round > 0)
			report_ended(&c, round);
		report_running(&c, round);
	}
	readers_stop(readers, READERS);
	applier_stop(c.applier, 1000);
	controller_verify(&c);
	controller_free(&c);
}

// The table of allocations is small at first: the plan waits for the thread that widens it, other commands do not wait
// for the plan for ever, nor it for them.
static void a_plan_that_fills_the_table_many_times_over(void **unused)
{
	enum { PER_NODE = 1000, OTHERS = 2000 };
	static struct command others[OTHERS];
	struct controller c;
	struct plan_result result;
	uint32_t others_done = 0, done = 0;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	for (uint32_t i = 0; i < NODES; i++)
		controller_register(&c, i, NULL);
	struct planned_job job = plan_job(&c, "web", JOB_BATCH);
	struct plan *plan = build_plan(&job);
	for (uint32_t i = 0; i < NODES * PER_NODE; i++) {
		struct plan_placement *p = plan_place(plan, 1000 + i, i % NODES, i % NODES);
		p->name_index = i;
		p->resources = (struct resources){1, 1, 1};
	}
	controller_start(&c, -1);
	struct command command = {.type = COMMAND_PLAN, .plan = {plan, &result}};
	for (uint32_t i = 0; i < OTHERS; i++) {
		if (i == OTHERS / 2)
			controller_push(&c, &command, &done);
		others[i] = (struct command){.type = COMMAND_COLLECT};
		controller_push(&c, &others[i], &others_done);
	}
	controller_await(&done, 1);
	controller_await(&others_done, OTHERS);
	assert_int_equal(result.placements_committed, NODES * PER_NODE);
	plan_result_release(&result);
	plan_free(plan);
	applier_stop(c.applier, 1000);
	controller_verify(&c);
	controller_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_see_whole_allocations),
		cmocka_unit_test(a_plan_that_fills_the_table_many_times_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
