// A disconnected node goes down once no allocation on it may reconnect any more, unless it has returned.
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/alloc_details.h"
#include "tests/placement/watch/scene.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define DISCONNECT_S 60

static struct planned_job add_job(struct scene *s)
{
	struct planned_job planned = {.id = "web"};
	struct command_job_register result = {0};
	struct job *job = build_scheduled_job("web", JOB_SERVICE);

	ARRAY_AT(&job->task_groups, struct task_group, 0)->max_client_disconnect_ns =
		(struct optional_i64){true, DISCONNECT_S * NS_PER_S};
	assert_int_equal(register_job(&s->controller, job, &result), OUTCOME_DONE);
	planned.eval = result.made.id;
	state_read_begin();
	planned.version =
		state_job(s->controller.state, TEXT("default"), TEXT("web"))->record.modify_index;
	state_read_end();
	return planned;
}

static void place(
	struct scene *s, const struct planned_job *job, const struct node_registration *node)
{
	struct plan *plan = build_plan(job);
	plan_place(plan, 1, 1, node->slot)->generation = node->generation;
	commit_plan(&s->controller, plan);
	assert_int_equal(report_status(&s->controller, node->slot, node->generation, 1, 1,
				 ALLOC_RUNNING, NULL),
		OUTCOME_DONE);
}

// Marks an allocation unknown, as a scheduler does when its node is disconnected.
static void make_unknown(struct scene *s, const struct planned_job *job)
{
	struct plan *plan = build_plan(job);
	struct plan_update *update = plan_update(plan, 1);

	update->client_status = ALLOC_UNKNOWN;
	update->details = alloc_details_create();
	*(struct alloc_state *)array_append(&update->details->states, sizeof(struct alloc_state)) =
		(struct alloc_state){text_copy(TEXT("ClientStatus")), text_copy(TEXT("unknown")),
			(int64_t)s->controller.time.wall_ns};
	commit_plan(&s->controller, plan);
}

static enum node_status status_of(struct scene *s)
{
	struct uuid id = number_uuid(1);

	state_read_begin();
	enum node_status status = state_node_by_id(s->controller.state, &id)->status;
	state_read_end();
	return status;
}

static struct node_registration disconnect(struct scene *s)
{
	struct node_registration node;

	scene_init(s);
	assert_int_equal(controller_register(&s->controller, 1, &node), OUTCOME_DONE);
	struct planned_job job = add_job(s);
	place(s, &job, &node);
	struct command expired = {
		.type = COMMAND_NODE_EXPIRED, .node = {node.slot, node.generation}};
	assert_int_equal(scene_run(s, &expired), OUTCOME_DONE);
	assert_int_equal(status_of(s), NODE_DISCONNECTED);
	make_unknown(s, &job);
	scene_settle(s);
	return node;
}

static void down_when_nothing_may_reconnect(void **state)
{
	struct scene s;

	(void)disconnect(&s);
	assert_int_equal(scene_stats(&s).nodes_disconnected, 1);
	scene_advance(&s, DISCONNECT_S * 1000 - 100);
	assert_int_equal(status_of(&s), NODE_DISCONNECTED);
	scene_advance(&s, SCENE_TTL_NS / 1000000 + 100);
	assert_int_equal(status_of(&s), NODE_DOWN);
	assert_int_equal(scene_stats(&s).nodes_disconnected, 0);
	scene_free(&s);
}

static void not_when_it_is_back(void **state)
{
	struct scene s;
	struct node_registration node = disconnect(&s);
	struct command returned = {
		.type = COMMAND_NODE_RETURNED, .node = {node.slot, node.generation}};

	scene_advance(&s, 30000);
	assert_int_equal(scene_run(&s, &returned), OUTCOME_DONE);
	assert_int_equal(status_of(&s), NODE_INITIALIZING);
	scene_advance(&s, 10 * DISCONNECT_S * 1000);
	assert_int_equal(status_of(&s), NODE_INITIALIZING);
	assert_int_equal(scene_stats(&s).nodes_disconnected, 0);
	// A command from before the node's return changes nothing.
	struct command late = {.type = COMMAND_NODE_EXPIRED,
		.node = {node.slot, node.generation, .if_disconnected = true}};
	assert_int_equal(scene_run(&s, &late), OUTCOME_DONE);
	assert_int_equal(status_of(&s), NODE_INITIALIZING);
	scene_free(&s);
}

// The node was purged while it was away: no command is sent about it.
static void not_when_it_is_purged(void **state)
{
	struct scene s;
	struct command purge = {.type = COMMAND_NODE_PURGE, .node_named = {.node = number_uuid(1)}};

	(void)disconnect(&s);
	assert_int_equal(scene_stats(&s).nodes_disconnected, 1);
	assert_int_equal(scene_run(&s, &purge), OUTCOME_DONE);
	scene_advance(&s, SCENE_TTL_NS / 1000000);
	assert_int_equal(scene_stats(&s).nodes_disconnected, 0);
	scene_free(&s);
}

static void after_a_restart(void **state)
{
	struct scene s;

	(void)disconnect(&s);
	scene_restart(&s, 2 * DISCONNECT_S * 1000);
	assert_int_equal(status_of(&s), NODE_DISCONNECTED);
	scene_advance(&s, SCENE_TTL_NS / 1000000);
	assert_int_equal(status_of(&s), NODE_DOWN);
	scene_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(down_when_nothing_may_reconnect),
		cmocka_unit_test(not_when_it_is_back),
		cmocka_unit_test(not_when_it_is_purged),
		cmocka_unit_test(after_a_restart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
