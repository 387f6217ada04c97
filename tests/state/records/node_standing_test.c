// Transitions of a node beside its status (rows E1 to E31), and its groups by snapshot (rows E22, E23).
#include "state/records/nodes/node_standing.h"
#include "state/tables/nodes/node_groups.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct standing_limits limits = {60, 900, true};

static struct standing fresh(bool readiness)
{
	struct standing l = {.forgotten = true};

	assert_true(standing_added(&l, readiness));
	return l;
}

static void lost_nodes_are_forgotten_after_more_than_the_limit(void **state)
{
	struct standing l = fresh(false);

	(void)state;
	assert_true(standing_removed(&l, 100)); // E15
	assert_int_equal(standing_of(&l), NODE_SUSPENDED);
	assert_int_equal(standing_due_ns(&l, &limits), 161);
	assert_int_equal(standing_swept(&l, &limits, 160), SWEEP_NOTHING);
	assert_int_equal(standing_swept(&l, &limits, 161), SWEEP_FORGOTTEN); // E19
	assert_int_equal(standing_of(&l), NODE_FORGOTTEN);
	l = fresh(false);
	standing_removed(&l, 100);
	assert_true(standing_added(&l, false)); // E8
	assert_int_equal(standing_of(&l), NODE_HEALTHY);
}

static void flaky_nodes_serve_their_time(void **state)
{
	struct standing l = fresh(false);

	(void)state;
	assert_true(standing_completed(&l, true, true, 100)); // E25
	assert_false(standing_added(&l, true));               // E9
	assert_int_equal(standing_swept(&l, &limits, 1000), SWEEP_NOTHING);
	assert_int_equal(standing_swept(&l, &limits, 1001), SWEEP_REJOINED); // E20
	assert_int_equal(l.readiness, READINESS_AWAITED);
	assert_true(standing_probed(&l, true, 0));
	assert_int_equal(standing_swept(&l, &limits, 1002), SWEEP_HEALTHY); // E18
}

static void who_awaits_a_probe_is_let_go_when_probes_stop_to_count(void **state)
{
	struct standing l = fresh(true);
	struct standing_limits without = {60, 900, false};

	(void)state;
	assert_int_equal(standing_due_ns(&l, &limits), INT64_MAX);
	assert_int_equal(standing_due_ns(&l, &without), 0);
	assert_int_equal(standing_swept(&l, &without, 1), SWEEP_HEALTHY);
}

static void an_offlined_node_comes_back_as_it_was(void **state)
{
	struct standing l = fresh(true);

	(void)state;
	assert_true(standing_offline(&l)); // E13
	assert_false(standing_offline(&l));
	assert_false(standing_added(&l, true)); // E10
	assert_true(standing_online(&l));       // E12
	assert_int_equal(standing_of(&l), NODE_SUSPENDED);
	standing_offline(&l);
	assert_true(standing_removed(&l, 5)); // E16
	assert_int_equal(standing_of(&l), NODE_FORGOTTEN);
}

static void groups_follow_work(void **state)
{
	struct node_groups *g = node_groups_create(8, 2);

	(void)state;
	assert_non_null(g);
	node_groups_join(g, 1, TEXT(""), false);
	node_groups_schedule(g, 1, TEXT("a"));
	assert_string_equal(node_groups_snapshot(g, 1), "a");
	assert_true(node_groups_is_busy(g, 1));
	node_groups_set_busy(g, 1, false);
	node_groups_schedule(g, 1, TEXT("b")); // E22: "a" is empty, and gone
	assert_int_equal(node_groups_find(g, TEXT("a")), NODE_GROUP_NONE);
	node_groups_rejoin(g, 1); // "b" stays
	assert_int_not_equal(node_groups_find(g, TEXT("b")), NODE_GROUP_NONE);
	node_groups_join(g, 2, TEXT("c"), true);
	node_groups_join(g, 3, TEXT("d"), true); // makes room: "b" goes
	assert_int_equal(node_groups_find(g, TEXT("b")), NODE_GROUP_NONE);
	node_groups_join(g, 4, TEXT("e"), true); // each node may have a group of its own
	assert_string_equal(node_groups_snapshot(g, 4), "e");
	assert_int_equal(node_groups_count(g), 4);
	node_groups_leave(g, 2);
	assert_false(node_groups_has(g, 2));
	node_groups_join(g, 2, TEXT("f"), true); // "c" goes
	assert_int_equal(node_groups_find(g, TEXT("c")), NODE_GROUP_NONE);
	assert_int_equal(node_groups_count(g), 4);
	node_groups_destroy(g);
}

static void how_no_node_can_stand(void **state)
{
	static const struct standing sound[] = {{0}, {.forgotten = true}, {.offlined = true},
		{.lost_ns = 1, .offlined = true}, {.flaky_ns = 1, .unready = true},
		{.readiness = READINESS_GIVEN_UP, .unready = true}};
	static const struct standing unsound[] = {{.lost_ns = 1, .flaky_ns = 1}, {.lost_ns = -1},
		{.flaky_ns = -1}, {.readiness = READINESS_GIVEN_UP + 1},
		{.forgotten = true, .offlined = true}, {.forgotten = true, .unready = true},
		{.forgotten = true, .lost_ns = 1}, {.forgotten = true, .flaky_ns = 1},
		{.forgotten = true, .readiness = READINESS_AWAITED}};

	(void)state;
	for (size_t i = 0; i < sizeof sound / sizeof sound[0]; i++)
		assert_true(standing_is_sound(&sound[i]));
	for (size_t i = 0; i < sizeof unsound / sizeof unsound[0]; i++)
		assert_false(standing_is_sound(&unsound[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(how_no_node_can_stand),
		cmocka_unit_test(lost_nodes_are_forgotten_after_more_than_the_limit),
		cmocka_unit_test(flaky_nodes_serve_their_time),
		cmocka_unit_test(who_awaits_a_probe_is_let_go_when_probes_stop_to_count),
		cmocka_unit_test(an_offlined_node_comes_back_as_it_was),
		cmocka_unit_test(groups_follow_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
