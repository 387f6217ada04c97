// Suspended nodes are swept when their time has come, also after a restart, and not before.
#include "tests/watch/scene.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static enum node_standing standing_of(struct scene *s)
{
	struct uuid id = number_uuid(1);

	state_read_begin();
	enum node_standing standing =
		lifecycle_standing(&state_node_by_id(s->controller.state, &id)->lifecycle);
	state_read_end();
	return standing;
}

// Registered, and lost.
static struct command_node_register lose(struct scene *s)
{
	struct command_node_register node;

	scene_init(s);
	assert_int_equal(controller_register(&s->controller, 1, &node), OUTCOME_DONE);
	assert_int_equal(standing_of(s), NODE_HEALTHY);
	struct command expired = {
		.type = COMMAND_NODE_EXPIRED, .node = {node.slot, node.generation}};
	assert_int_equal(scene_run(s, &expired), OUTCOME_DONE);
	assert_int_equal(standing_of(s), NODE_SUSPENDED);
	return node;
}

static void a_lost_node_is_forgotten_after_a_minute(void **unused)
{
	struct scene s;

	(void)unused;
	lose(&s);
	scene_advance(&s, 59 * 1000);
	assert_int_equal(standing_of(&s), NODE_SUSPENDED);
	scene_advance(&s, 2 * 1000);
	assert_int_equal(standing_of(&s), NODE_FORGOTTEN);
	assert_int_equal(scene_stats(&s).nodes_swept, 1);
	scene_free(&s);
}

static void the_minute_goes_on_over_a_restart(void **unused)
{
	struct scene s;

	(void)unused;
	lose(&s);
	scene_advance(&s, 30 * 1000);
	scene_restart(&s, 20 * 1000);
	scene_advance(&s, 8 * 1000);
	assert_int_equal(standing_of(&s), NODE_SUSPENDED);
	scene_advance(&s, 4 * 1000);
	assert_int_equal(standing_of(&s), NODE_FORGOTTEN);
	scene_free(&s);
}

static void who_comes_back_in_time_is_not_swept(void **unused)
{
	struct scene s;

	(void)unused;
	struct command_node_register node = lose(&s);
	scene_advance(&s, 50 * 1000);
	struct command returned = {
		.type = COMMAND_NODE_RETURNED, .node = {node.slot, node.generation}};
	assert_int_equal(scene_run(&s, &returned), OUTCOME_DONE);
	assert_int_equal(standing_of(&s), NODE_HEALTHY);
	scene_advance(&s, 60 * 1000);
	assert_int_equal(standing_of(&s), NODE_HEALTHY);
	assert_int_equal(scene_stats(&s).nodes_swept, 0);
	scene_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lost_node_is_forgotten_after_a_minute),
		cmocka_unit_test(the_minute_goes_on_over_a_restart),
		cmocka_unit_test(who_comes_back_in_time_is_not_swept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
