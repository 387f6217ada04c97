// Drains: which allocations must leave and when, and when a node is done. The tests act as schedulers and nodes.
#include "placement/watch/drains/drain_status.h"
#include "tests/placement/watch/drains/draining.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static bool is_draining(struct scene *s, uint32_t number)
{
	state_read_begin();
	bool is = scene_node(s, number)->drain != NULL;
	state_read_end();
	return is;
}

static void expect_complete(struct scene *s, uint32_t number, enum node_message message)
{
	state_read_begin();
	const struct node *node = scene_node(s, number);
	assert_null(node->drain);
	assert_int_equal(node->eligibility, NODE_INELIGIBLE);
	assert_int_equal(node_last_drain(node)->status, LAST_DRAIN_COMPLETE);
	assert_int_equal(node_events(node)[node->event_count - 1].message, message);
	state_read_end();
}

static uint32_t flagged(struct scene *s, uint32_t first, uint32_t last)
{
	uint32_t count = 0;
	for (uint32_t id = first; id <= last; id++)
		count += scene_is_flagged(s, id);
	return count;
}

static void expect_phase(
	struct scene *s, uint32_t number, enum drain_phase phase, const char *reason)
{
	struct drain_status status;

	state_read_begin();
	drain_status_read(s->controller.state, scene_node(s, number), &status);
	assert_string_equal(drain_phase_names[status.phase], drain_phase_names[phase]);
	if (reason)
		assert_string_equal(
			ARRAY_AT(&status.reasons, struct drain_reason, 0)->text, reason);
	else
		assert_int_equal(status.reasons.count, 0);
	drain_status_release(&status);
	state_read_end();
}

static void moves_one_by_one(void **state)
{
	struct scene s;

	scene_init(&s);
	scene_nodes(&s, 2);
	scene_job(&s, "web", JOB_SERVICE, 3, 1);
	for (uint32_t id = 1; id <= 3; id++)
		scene_place(&s, "web", id, 1);
	scene_drain(&s, 1, 0);
	assert_int_equal(scene_stats(&s).nodes_draining, 1);
	scene_advance(&s, 5000);
	assert_int_equal(flagged(&s, 1, 3), 0); // no node has reported them healthy yet
	expect_phase(&s, 1, DRAIN_PHASE_MIGRATING,
		"3 of 3 instances of web.g0 are not healthy yet (max_parallel 1)");
	for (uint32_t id = 1; id <= 3; id++)
		scene_healthy(&s, 1, id);
	expect_phase(&s, 1, DRAIN_PHASE_MIGRATING, "1 instance of web.g0 may leave now");
	for (uint32_t id = 1; id <= 3; id++) {
		scene_advance(&s, 1000);
		assert_int_equal(flagged(&s, 1, 3), id);
		assert_int_equal(count_evaluations(&s.controller, "web", TRIGGER_NODE_DRAIN), id);
		scene_advance(&s, 5000);
		scene_migrate(&s, "web", id, 10 + id, 2);
		scene_advance(&s, 5000);
		assert_int_equal(flagged(&s, 1, 3), id); // its replacement is not healthy yet
		if (id < 3)
			expect_phase(&s, 1, DRAIN_PHASE_MIGRATING,
				"1 of 3 instances of web.g0 is not healthy yet (max_parallel 1)");
		scene_healthy(&s, 2, 10 + id);
	}
	// All are replaced and healthy, but the old ones have not ended.
	scene_advance(&s, 60000);
	expect_phase(&s, 1, DRAIN_PHASE_MIGRATING,
		"3 instances of web.g0 were told to leave and have not ended yet");
	scene_ended(&s, 1, 1);
	scene_ended(&s, 1, 2);
	assert_true(is_draining(&s, 1));
	scene_ended(&s, 1, 3);
	expect_complete(&s, 1, NODE_DRAIN_COMPLETE);
	expect_phase(&s, 1, DRAIN_PHASE_NONE, NULL);
	assert_int_equal(scene_stats(&s).drains_completed, 1);
	assert_int_equal(scene_stats(&s).allocations_flagged, 3);
	assert_int_equal(scene_stats(&s).nodes_draining, 0);
	scene_free(&s);
}

static void moves_as_many_as_the_job_can_spare(void **state)
{
	struct scene s;

	scene_init(&s);
	scene_nodes(&s, 3);
	scene_job(&s, "web", JOB_SERVICE, 6, 3);
	for (uint32_t id = 1; id <= 6; id++) {
		scene_place(&s, "web", id, id <= 4 ? 1 : 2);
		scene_healthy(&s, id <= 4 ? 1 : 2, id);
	}
	// Both nodes drain, but the three that may be missing count for the job, not for a node.
	scene_drain(&s, 1, 0);
	scene_drain(&s, 2, 0);
	scene_advance(&s, 1000);
	assert_int_equal(flagged(&s, 1, 6), 3);
	assert_int_equal(count_evaluations(&s.controller, "web", TRIGGER_NODE_DRAIN), 1);
	scene_advance(&s, 10000);
	scene_healthy(&s, 2, 6); // any report about the job
	scene_advance(&s, 10000);
	assert_int_equal(flagged(&s, 1, 6), 3); // nothing has replaced them yet
	expect_phase(&s, 2, DRAIN_PHASE_MIGRATING,
		"3 of 6 instances of web.g0 are leaving or not healthy yet (max_parallel 3)");
	scene_free(&s);
}

static void a_job_that_is_stopped_waits_for_its_nodes(void **state)
{
	struct scene s;
	struct command command = {.type = COMMAND_JOB_DEREGISTER,
		.job_deregister = {.namespace_name = TEXT("default"), .id = TEXT("web")}};

	scene_init(&s);
	scene_nodes(&s, 1);
	scene_job(&s, "web", JOB_SERVICE, 1, 1);
	scene_place(&s, "web", 1, 1);
	scene_healthy(&s, 1, 1);
	assert_int_equal(scene_run(&s, &command), OUTCOME_DONE);
	scene_drain(&s, 1, 0);
	scene_advance(&s, 3000);
	assert_int_equal(flagged(&s, 1, 1), 0);
	expect_phase(&s, 1, DRAIN_PHASE_MIGRATING,
		"1 instance of web.g0 is no part of the job any more and not stopped yet");
	scene_stop(&s, "web", 1);
	assert_true(is_draining(&s, 1));
	scene_ended(&s, 1, 1);
	expect_complete(&s, 1, NODE_DRAIN_COMPLETE);
	scene_free(&s);
}

static void a_job_that_changes_is_looked_at_again(void **state)
{
	struct scene s;

	scene_init(&s);
	scene_nodes(&s, 1);
	scene_job(&s, "web", JOB_SERVICE, 2, 1);
	scene_place(&s, "web", 1, 1);
	scene_healthy(&s, 1, 1);
	scene_drain(&s, 1, 0);
	scene_advance(&s, 5000);
	assert_int_equal(flagged(&s, 1, 1), 0);
	scene_job(&s, "web", JOB_SERVICE, 1, 1);
	scene_advance(&s, 1000);
	assert_int_equal(flagged(&s, 1, 1), 1);
	scene_free(&s);
}

static void nothing_moves_with_max_parallel_0(void **state)
{
	struct scene s;

	scene_init(&s);
	scene_nodes(&s, 1);
	scene_job(&s, "web", JOB_SERVICE, 1, 0);
	scene_place(&s, "web", 1, 1);
	scene_healthy(&s, 1, 1);
	scene_drain(&s, 1, 60);
	scene_advance(&s, 59000);
	assert_int_equal(flagged(&s, 1, 1), 0);
	expect_phase(&s, 1, DRAIN_PHASE_MIGRATING,
		"web.g0 has a migrate block with max_parallel 0: its instances stay until the "
		"deadline");
	scene_advance(&s, 1000);
	assert_int_equal(flagged(&s, 1, 1), 1);
	scene_free(&s);
}

static void batch_ends_and_system_is_last(void **state)
{
	struct scene s;

	scene_init(&s);
	scene_nodes(&s, 1);
	scene_job(&s, "batch", JOB_BATCH, 1, 0);
	scene_job(&s, "sysbatch", JOB_SYSBATCH, 1, 0);
	scene_job(&s, "system", JOB_SYSTEM, 1, 0);
	scene_place(&s, "batch", 1, 1);
	scene_place(&s, "sysbatch", 2, 1);
	scene_place(&s, "system", 3, 1);
	scene_drain(&s, 1, 0);
	scene_advance(&s, 10000);
	assert_int_equal(flagged(&s, 1, 3), 0);
	expect_phase(&s, 1, DRAIN_PHASE_FINISHING, "1 instance of batch.g0 is left to finish");
	scene_ended(&s, 1, 1);
	assert_int_equal(flagged(&s, 1, 3), 0);
	scene_report(&s, 1, 2, ALLOC_FAILED, false);
	assert_int_equal(flagged(&s, 1, 3), 1);
	assert_true(scene_is_flagged(&s, 3));
	assert_int_equal(count_evaluations(&s.controller, "system", TRIGGER_NODE_DRAIN), 1);
	expect_phase(&s, 1, DRAIN_PHASE_SYSTEM,
		"1 instance of system.g0 was told to leave and has not ended yet");
	scene_stop(&s, "system", 3);
	scene_advance(&s, 10000);
	assert_true(is_draining(&s, 1));
	scene_ended(&s, 1, 3);
	expect_complete(&s, 1, NODE_DRAIN_COMPLETE);
	scene_free(&s);
}

static void system_is_ignored(void **state)
{
	struct scene s;

	scene_init(&s);
	scene_nodes(&s, 1);
	scene_job(&s, "batch", JOB_BATCH, 1, 0);
	scene_job(&s, "system", JOB_SYSTEM, 1, 0);
	scene_place(&s, "batch", 1, 1);
	scene_place(&s, "system", 2, 1);
	assert_int_equal(
		scene_drain_with(&s, 1, (struct command_node_drain){.ignore_system_jobs = true}),
		OUTCOME_DONE);
	scene_advance(&s, 1000);
	assert_true(is_draining(&s, 1));
	scene_ended(&s, 1, 1);
	expect_complete(&s, 1, NODE_DRAIN_COMPLETE);
	assert_false(scene_is_flagged(&s, 2));
	scene_free(&s);
}

static void an_empty_node_is_done_at_once(void **state)
{
	struct scene s;

	scene_init(&s);
	scene_nodes(&s, 1);
	scene_drain(&s, 1, 3600);
	expect_complete(&s, 1, NODE_DRAIN_COMPLETE);
	scene_free(&s);
}

// Places a job of each kind on node `number`, with ids from `first` on.
static void fill(struct scene *s, uint32_t number, uint32_t first)
{
	static const enum job_type types[] = {JOB_SERVICE, JOB_BATCH, JOB_SYSTEM};
	char id[32];

	for (uint32_t i = 0; i < 3; i++) {
		snprintf(id, sizeof id, "job-%u", first + i);
		scene_job(s, id, types[i], 1, 0);
		scene_place(s, id, first + i, number);
	}
}

static void everything_leaves_at_the_deadline(void **state)
{
	struct scene s;

	scene_init(&s);
	scene_nodes(&s, 1);
	fill(&s, 1, 1);
	scene_drain(&s, 1, 60);
	scene_advance(&s, 59900);
	assert_int_equal(flagged(&s, 1, 3), 0);
	scene_advance(&s, 100);
	assert_int_equal(flagged(&s, 1, 3), 3);
	expect_complete(&s, 1, NODE_DRAIN_DEADLINE);
	assert_int_equal(scene_stats(&s).drains_forced, 1);
	assert_int_equal(scene_stats(&s).drains_completed, 0);
	scene_free(&s);
}

static void at_once(void **state)
{
	struct scene s;

	scene_init(&s);
	scene_nodes(&s, 1);
	fill(&s, 1, 1);
	assert_int_equal(
		scene_drain_with(&s, 1,
			(struct command_node_drain){.deadline_ns = -1, .ignore_system_jobs = true}),
		OUTCOME_DONE);
	assert_int_equal(flagged(&s, 1, 2), 2);
	assert_false(scene_is_flagged(&s, 3));
	expect_complete(&s, 1, NODE_DRAIN_DEADLINE);
	scene_free(&s);
}

static void deadlines_coalesce(void **state)
{
	struct scene s;

	scene_init(&s);
	scene_nodes(&s, 3);
	for (uint32_t i = 0; i < 3; i++)
		fill(&s, 1 + i, 1 + 3 * i);
	scene_drain(&s, 1, 60);
	scene_drain(&s, 2, 65);
	scene_drain(&s, 3, 66);
	scene_advance(&s, 60000);
	assert_false(is_draining(&s, 1));
	assert_false(is_draining(&s, 2));
	assert_true(is_draining(&s, 3));
	scene_advance(&s, 6000);
	assert_false(is_draining(&s, 3));
	scene_free(&s);
}

static void a_later_deadline_counts(void **state)
{
	struct scene s;

	scene_init(&s);
	scene_nodes(&s, 1);
	fill(&s, 1, 1);
	scene_drain(&s, 1, 60);
	scene_advance(&s, 50000);
	scene_drain(&s, 1, 60);
	scene_advance(&s, 59000);
	assert_true(is_draining(&s, 1));
	scene_advance(&s, 1000);
	assert_false(is_draining(&s, 1));
	scene_free(&s);
}

static void direct_allocations_are_released(void **state)
{
	static const struct resources ask = {100, 100, 10};
	struct command_place placed;
	struct scene s;

	scene_init(&s);
	scene_nodes(&s, 1);
	assert_int_equal(controller_job(&s.controller, build_job("direct", &ask, 1)), OUTCOME_DONE);
	assert_int_equal(
		controller_place(&s.controller, "client", "direct", 1, 2, &placed), OUTCOME_DONE);
	scene_drain(&s, 1, 10);
	scene_advance(&s, 9000);
	expect_phase(&s, 1, DRAIN_PHASE_FINISHING, "2 instances of direct.g0 are left to finish");
	scene_advance(&s, 1000);
	expect_complete(&s, 1, NODE_DRAIN_DEADLINE);
	state_read_begin();
	for (uint32_t i = 0; i < 2; i++)
		assert_true(allocation_is_terminal(
			state_allocation(s.controller.state, &placed.items[i].allocation)));
	state_read_end();
	scene_free(&s);
}

static void canceled(void **state)
{
	struct scene s;

	scene_init(&s);
	scene_nodes(&s, 1);
	scene_job(&s, "web", JOB_SERVICE, 2, 1);
	scene_place(&s, "web", 1, 1);
	scene_place(&s, "web", 2, 1);
	scene_healthy(&s, 1, 1);
	scene_drain(&s, 1, 60);
	assert_int_equal(
		scene_drain_with(&s, 1,
			(struct command_node_drain){.end = DRAIN_CANCELED, .mark_eligible = true}),
		OUTCOME_DONE);
	scene_healthy(&s, 1, 2);
	scene_advance(&s, 120000);
	assert_int_equal(flagged(&s, 1, 2), 0);
	assert_int_equal(scene_stats(&s).nodes_draining, 0);
	state_read_begin();
	assert_true(node_is_usable(scene_node(&s, 1)));
	state_read_end();
	scene_free(&s);
}

static void goes_on_after_a_restart(void **state)
{
	struct scene s;

	scene_init(&s);
	scene_nodes(&s, 2);
	scene_job(&s, "web", JOB_SERVICE, 2, 1);
	scene_place(&s, "web", 1, 1);
	scene_place(&s, "web", 2, 1);
	scene_healthy(&s, 1, 1);
	scene_healthy(&s, 1, 2);
	scene_drain(&s, 1, 600);
	scene_restart(&s, 100);
	scene_advance(&s, 1000);
	assert_int_equal(flagged(&s, 1, 2), 1);
	scene_restart(&s, 100);
	scene_advance(&s, 5000);
	scene_migrate(&s, "web", 1, 11, 2);
	scene_advance(&s, 5000);
	assert_int_equal(flagged(&s, 1, 2), 1);
	scene_healthy(&s, 2, 11);
	scene_advance(&s, 1000);
	assert_int_equal(flagged(&s, 1, 2), 2);
	// The deadline passes while the controller is down.
	scene_restart(&s, 600000);
	expect_complete(&s, 1, NODE_DRAIN_DEADLINE);
	assert_int_equal(scene_stats(&s).drains_forced, 1);
	scene_free(&s);
}

static void a_hundred_nodes(void **state)
{
	enum { NODES = 100, SPARE = 10 };
	struct scene s;

	scene_init(&s);
	scene_nodes(&s, NODES + 1);
	scene_job(&s, "web", JOB_SERVICE, NODES, SPARE);
	for (uint32_t id = 1; id <= NODES; id++) {
		scene_place(&s, "web", id, id);
		scene_healthy(&s, id, id);
	}
	for (uint32_t id = 1; id <= NODES; id++)
		scene_drain(&s, id, 0);
	uint32_t moved = 0;
	while (moved < NODES) {
		scene_advance(&s, 1000);
		uint32_t leaving = flagged(&s, 1, NODES) - moved;
		assert_in_range(leaving, 1, SPARE);
		for (uint32_t id = 1; id <= NODES; id++) {
			state_read_begin();
			const struct allocation *a = published_allocation(&s.controller, id);
			bool leaves = allocation_is_flagged(a) && a->desired == ALLOC_RUN;
			state_read_end();
			if (!leaves)
				continue;
			scene_migrate(&s, "web", id, 1000 + id, NODES + 1);
			scene_ended(&s, id, id);
			scene_healthy(&s, NODES + 1, 1000 + id);
			moved++;
		}
	}
	assert_int_equal(scene_stats(&s).drains_completed, NODES);
	assert_int_equal(
		count_evaluations(&s.controller, "web", TRIGGER_NODE_DRAIN), NODES / SPARE);
	scene_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_one_by_one),
		cmocka_unit_test(moves_as_many_as_the_job_can_spare),
		cmocka_unit_test(a_job_that_is_stopped_waits_for_its_nodes),
		cmocka_unit_test(a_job_that_changes_is_looked_at_again),
		cmocka_unit_test(nothing_moves_with_max_parallel_0),
		cmocka_unit_test(batch_ends_and_system_is_last),
		cmocka_unit_test(system_is_ignored),
		cmocka_unit_test(an_empty_node_is_done_at_once),
		cmocka_unit_test(everything_leaves_at_the_deadline),
		cmocka_unit_test(at_once),
		cmocka_unit_test(deadlines_coalesce),
		cmocka_unit_test(a_later_deadline_counts),
		cmocka_unit_test(direct_allocations_are_released),
		cmocka_unit_test(canceled),
		cmocka_unit_test(goes_on_after_a_restart),
		cmocka_unit_test(a_hundred_nodes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
