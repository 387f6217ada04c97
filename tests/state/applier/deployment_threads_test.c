// Deployments on the applier's own threads, while others read them and take snapshots.
#include "tests/state/deployments.h"
#include "tests/support/readers.h"
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 3, ROUNDS = 150, READERS = 3 };

static const struct optional_bool healthy = {true, true};

static bool is_whole(const struct deployment *d)
{
	if (d->groups.count != 2 || strcmp(d->job_id, "web") != 0 || !d->status_description)
		return false;
	const struct deployment_group *g = deployment_group_of(d, TEXT("g0"));
	return g && g->healthy_allocs <= g->placed_allocs && g->placed_allocs <= NODES &&
	       g->placed_canaries.count <= 1 && d->record.create_index <= d->record.modify_index;
}

static bool look_at(const struct deployment *d, void *context)
{
	struct reader *r = context;

	r->wrong += !is_whole(d);
	return true;
}

static void *read_all(void *argument)
{
	struct reader *r = argument;
	const struct state *state = r->controller->state;

	while (!r->stop) {
		const struct deployment *d;
		uint64_t cursor = 0;
		state_read_begin();
		while ((d = state_next(state, STATE_DEPLOYMENTS, &cursor)))
			r->wrong += !is_whole(d);
		state_job_deployments(state, TEXT("default"), TEXT("web"), look_at, r);
		d = state_latest_deployment(state, TEXT("default"), TEXT("web"));
		r->wrong += d && !is_whole(d);
		state_read_end();
		r->rounds++;
		sched_yield();
	}
	return NULL;
}

static struct planned_job register_version(struct controller *c, uint32_t round)
{
	struct command command = {.type = COMMAND_JOB_REGISTER,
		.job_register = {.job = build_deployed_job("web", 1 + round % 99)}};

	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	return (struct planned_job){"web", command.index, command.job_register.made.id};
}

static void commit(struct controller *c, struct plan *plan)
{
	struct plan_result result;
	struct command command = {.type = COMMAND_PLAN, .plan = {.plan = plan, .result = &result}};
	uint32_t placements = plan->placements.count;

	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	assert_int_equal(result.placements_committed, placements);
	assert_int_equal(result.refresh_index, 0);
	plan_result_release(&result);
	plan_free(plan);
}

static void roll_out(struct controller *c, const struct planned_job *job, uint32_t round)
{
	struct plan *plan = plan_deployment(job, build_deployment(c, "web", 1 + round, round % 2));

	if (round % 3 != 1 && round > 0)
		plan_deployment_status(plan, round, DEPLOYMENT_CANCELLED, "another came");
	for (uint32_t i = 0; i < NODES; i++) {
		plan_deployed(plan, 1000 + round * NODES + i, i, 1 + round, i == 0);
		if (round > 0)
			plan_stop(plan, 1000 + (round - 1) * NODES + i, STOP_UPDATING);
	}
	commit(c, plan);
}

// The new one runs, and the one before it has ended.
static void report(struct controller *c, uint32_t round, uint32_t node)
{
	struct alloc_update_item items[2] = {
		{.allocation = number_uuid(1000 + round * NODES + node),
			.client_status = ALLOC_RUNNING,
			.healthy = healthy},
		{.client_status = ALLOC_COMPLETE}};
	if (round > 0)
		items[1].allocation = number_uuid(1000 + (round - 1) * NODES + node);
	struct command_alloc_update update = {node, 1, round + 1, round > 0 ? 2 : 1, items};
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};

	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
}

static void promote_or_end(struct controller *c, const struct planned_job *job, uint32_t round)
{
	struct command_deployment change = {
		.id = number_uuid(1 + round), .action = DEPLOYMENT_PROMOTE};
	struct command command = {.type = COMMAND_DEPLOYMENT, .deployment = &change};
	struct command gc = {.type = COMMAND_GC, .gc = {.deployments_before_ns = INT64_MAX}};

	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	if (round % 3 != 0)
		return;
	struct plan *plan = build_plan(job);
	plan_deployment_status(plan, 1 + round, DEPLOYMENT_SUCCESSFUL, DEPLOYMENT_TEXT_SUCCESSFUL);
	commit(c, plan);
	assert_int_equal(controller_run(c, &gc), OUTCOME_DONE);
}

static void deployments_change_under_readers(void **unused)
{
	struct controller c;
	reader_body *const bodies[READERS] = {read_all, read_all, reader_of_snapshots};
	struct reader readers[READERS];

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(controller_register(&c, i, NULL), OUTCOME_DONE);
	controller_start(&c, -1);
	readers_start(readers, bodies, READERS, &c);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct planned_job job = register_version(&c, round);
		roll_out(&c, &job, round);
		for (uint32_t node = 0; node < NODES; node++)
			report(&c, round, node);
		promote_or_end(&c, &job, round);
	}
	readers_stop(readers, READERS);
	applier_stop(c.applier, 1000);
	expect_restores(&c);
	controller_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deployments_change_under_readers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
