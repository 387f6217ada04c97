// The watcher checks nodes' standings once a second, and does what is due for suspended nodes (rows E18 to E20, E27 to
// E30).
#include "placement/watch/nodes/standings.h"
#include "tests/placement/watch/scene.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct node_standings standings_of(struct scene *s)
{
	struct state_counts counts;

	state_counts(s->controller.state, &counts);
	return node_standings_of(&counts);
}

static enum node_standing scene_standing(struct scene *s, uint32_t number)
{
	struct uuid id = number_uuid(number);

	state_read_begin();
	enum node_standing standing =
		standing_of(&state_node_by_id(s->controller.state, &id)->standing);
	state_read_end();
	return standing;
}

static void expire(struct scene *s, const struct node_registration *node)
{
	struct command expired = {
		.type = COMMAND_NODE_EXPIRED, .node = {node->slot, node->generation}};

	assert_int_equal(scene_run(s, &expired), OUTCOME_DONE);
}

// Number of sweeps that the watcher asked for.
static uint64_t sweeps(struct scene *s)
{
	return applier_counters(s->controller.applier)
		->outcomes[COMMAND_NODE_STANDING][OUTCOME_DONE];
}

static void each_look_is_counted_once(void **state)
{
	struct node_registration node;
	struct scene s;

	scene_init(&s);
	scene_advance(&s, 1000);
	struct watchers_stats before = scene_stats(&s);
	scene_advance(&s, 10000);
	struct watchers_stats after = scene_stats(&s);
	assert_int_equal(after.looks_changed, before.looks_changed);
	assert_int_equal(after.looks_unchanged - before.looks_unchanged, 10);
	assert_int_equal(controller_register(&s.controller, 1, &node), OUTCOME_DONE);
	scene_advance(&s, 2000);
	before = after;
	after = scene_stats(&s);
	assert_int_equal(after.looks_changed - before.looks_changed, 1);
	assert_int_equal(after.looks_unchanged - before.looks_unchanged, 1);
	assert_int_equal(standings_of(&s).healthy, 1);
	assert_int_equal(standings_of(&s).free, 1);
	scene_free(&s);
}

// A node goes as another one comes: the numbers are as before, but it was no look at which nothing happened.
static void who_comes_and_goes_is_counted(void **state)
{
	struct node_registration nodes[2];
	struct uuid id = number_uuid(2);
	struct scene s;

	scene_init(&s);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(
			controller_register(&s.controller, i + 1, &nodes[i]), OUTCOME_DONE);
	expire(&s, &nodes[0]);
	scene_advance(&s, 2000);
	struct watchers_stats before = scene_stats(&s);
	struct node_standings were = standings_of(&s);
	expire(&s, &nodes[1]);
	struct command returned = {
		.type = COMMAND_NODE_RETURNED, .node = {nodes[0].slot, nodes[0].generation}};
	assert_int_equal(scene_run(&s, &returned), OUTCOME_DONE);
	struct node_standings are = standings_of(&s);
	assert_memory_equal(&were, &are, sizeof are);
	scene_advance(&s, 2000);
	struct watchers_stats after = scene_stats(&s);
	assert_int_equal(after.looks_changed - before.looks_changed, 1);
	assert_int_equal(after.looks_unchanged - before.looks_unchanged, 1);
	state_read_begin();
	assert_int_equal(state_node_by_id(s.controller.state, &id)->status, NODE_DOWN);
	state_read_end();
	scene_free(&s);
}

// The numbers change, but no node came or went.
static void a_task_that_starts_is_no_news_of_nodes(void **state)
{
	struct node_registration node;
	struct scene s;

	scene_init(&s);
	assert_int_equal(controller_register(&s.controller, 1, &node), OUTCOME_DONE);
	struct command returned = {
		.type = COMMAND_NODE_RETURNED, .node = {node.slot, node.generation}};
	assert_int_equal(scene_run(&s, &returned), OUTCOME_DONE);
	struct planned_job job = plan_job(&s.controller, "web", JOB_SERVICE);
	scene_advance(&s, 2000);
	struct watchers_stats before = scene_stats(&s);
	struct plan *plan = build_plan(&job);
	plan_place(plan, 100, 1, node.slot);
	commit_plan(&s.controller, plan);
	assert_int_equal(standings_of(&s).running, 1);
	scene_advance(&s, 3000);
	struct watchers_stats after = scene_stats(&s);
	assert_int_equal(after.looks_changed, before.looks_changed);
	assert_int_equal(after.looks_unchanged - before.looks_unchanged, 3);
	scene_free(&s);
}

static void a_lost_node_is_forgotten_after_a_minute_and_no_sooner(void **state)
{
	struct node_registration nodes[2];
	struct scene s;

	scene_init(&s);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(
			controller_register(&s.controller, i + 1, &nodes[i]), OUTCOME_DONE);
	expire(&s, &nodes[0]);
	assert_int_equal(standings_of(&s).healthy, 1);
	assert_int_equal(standings_of(&s).suspended, 1);
	scene_advance(&s, 60000);
	assert_int_equal(scene_standing(&s, 1), NODE_SUSPENDED);
	assert_int_equal(scene_stats(&s).nodes_swept, 0);
	scene_advance(&s, 100);
	assert_int_equal(scene_standing(&s, 1), NODE_FORGOTTEN);
	assert_int_equal(scene_standing(&s, 2), NODE_HEALTHY);
	assert_int_equal(scene_stats(&s).nodes_swept, 1);
	assert_int_equal(standings_of(&s).suspended, 0);
	assert_int_equal(sweeps(&s), 1);
	assert_int_equal(scene_stats(&s).commands_refused, 0);
	scene_free(&s);
}

// In the order of their times, not of their numbers.
static void each_is_forgotten_in_its_own_time(void **state)
{
	struct node_registration nodes[4];
	struct scene s;

	scene_init(&s);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(
			controller_register(&s.controller, i + 1, &nodes[i]), OUTCOME_DONE);
	for (uint32_t i = 4; i-- > 0;) {
		expire(&s, &nodes[i]);
		scene_advance(&s, 10000);
	}
	scene_advance(&s, 20100);
	for (uint32_t i = 4; i-- > 0;) {
		assert_int_equal(scene_stats(&s).nodes_swept, 4 - i);
		assert_int_equal(scene_standing(&s, i + 1), NODE_FORGOTTEN);
		scene_advance(&s, 10000);
	}
	assert_int_equal(sweeps(&s), 4);
	scene_free(&s);
}

// The mark is stored: its time goes on without a controller.
static void so_it_is_after_a_restart(void **state)
{
	struct node_registration node;
	struct scene s;

	scene_init(&s);
	assert_int_equal(controller_register(&s.controller, 1, &node), OUTCOME_DONE);
	expire(&s, &node);
	scene_restart(&s, 30000);
	assert_int_equal(scene_standing(&s, 1), NODE_SUSPENDED);
	scene_restart(&s, 30100);
	scene_advance(&s, 100);
	assert_int_equal(scene_standing(&s, 1), NODE_FORGOTTEN);
	scene_free(&s);
}

static void who_returns_in_time_is_healthy(void **state)
{
	struct node_registration node;
	struct scene s;

	scene_init(&s);
	assert_int_equal(controller_register(&s.controller, 1, &node), OUTCOME_DONE);
	expire(&s, &node);
	scene_advance(&s, 59000);
	struct command returned = {
		.type = COMMAND_NODE_RETURNED, .node = {node.slot, node.generation}};
	assert_int_equal(scene_run(&s, &returned), OUTCOME_DONE);
	scene_advance(&s, 120000);
	assert_int_equal(scene_standing(&s, 1), NODE_HEALTHY);
	assert_int_equal(sweeps(&s), 0); // nothing is due for it any more
	scene_free(&s);
}

static void what_runs_on_lost_nodes_leaves_fewer_free(void **state)
{
	struct state_counts counts = {
		.nodes_standing = {[NODE_HEALTHY] = 3, [NODE_SUSPENDED] = 4, [NODE_OFFLINED] = 5},
		.nodes_running = 2};
	struct node_standings s = node_standings_of(&counts);

	assert_int_equal(s.healthy, 3);
	assert_int_equal(s.free, 1);
	assert_int_equal(s.suspended, 4);
	counts.nodes_running = 7;
	assert_int_equal(node_standings_of(&counts).free, 0);
	assert_int_equal(node_standings_of(&counts).running, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_look_is_counted_once),
		cmocka_unit_test(who_comes_and_goes_is_counted),
		cmocka_unit_test(a_task_that_starts_is_no_news_of_nodes),
		cmocka_unit_test(a_lost_node_is_forgotten_after_a_minute_and_no_sooner),
		cmocka_unit_test(each_is_forgotten_in_its_own_time),
		cmocka_unit_test(so_it_is_after_a_restart),
		cmocka_unit_test(who_returns_in_time_is_healthy),
		cmocka_unit_test(what_runs_on_lost_nodes_leaves_fewer_free),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
