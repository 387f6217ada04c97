// How simulated nodes come to be held for not ready, flaky or lost: probes, faults that last, and whose fault a failure
// is.
#include "tests/tools/fleet/small_fleet.h"
#include "tools/fleet/faults.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static struct fault fault;

static void strike(enum fault_kind kind, const char *text)
{
	assert_true(fault_parse(kind, text, &fault));
	assert_true(faults_strike(&fault, 1, &fleet));
	assert_true(fault.struck);
}

static void probes_are_answered_also_when_nothing_is_run(void **unused)
{
	TURN_UNTIL(fleet.ready == NODES);
	assert_null(fleet.running);
	atomic_store(&server->rules.directives, WIRE_DIRECTIVE_PROBE);
	TURN_UNTIL(server->counters.ready > 0);
	TURN_UNTIL(fleet.running->counters.ready > 0);
	// Their numbers go on above those of a former run of the fleet.
	uint64_t wall_ms = time_wall_ns(&time_source_real) / 1000000;
	for (uint32_t i = 0; i < NODES; i++)
		assert_in_range(fleet.running->nodes[i].sequence, wall_ms - 60000, wall_ms + 1000);
	assert_int_equal(server->counters.unready, 0);
	assert_int_equal(server->counters.allocs, 0);
	assert_int_equal(server->counters.bad_tag, 0);
	assert_int_equal(server->counters.updates_before_beat, 0);
}

// Every node of the fleet, so that no other one says yes.
static void who_is_not_ready_says_so_until_it_is(void **unused)
{
	strike(FAULT_UNREADY, "500@0+1.5"); // from the beginning
	assert_int_equal(fault.done, NODES);
	atomic_store(&server->rules.directives, WIRE_DIRECTIVE_PROBE);
	TURN_UNTIL(fleet.ready == NODES);
	TURN_UNTIL(server->counters.unready >= NODES);
	assert_int_equal(server->counters.ready, 0);
	assert_int_equal(server->rules.directives, WIRE_DIRECTIVE_PROBE);
	TURN_UNTIL(faults_strike(&fault, 1, &fleet) && fault.is_over);
	TURN_UNTIL(server->counters.ready > 0);
	assert_true(server->counters.unready < 4 * NODES); // once a second
}

static void an_end_says_that_its_node_is_not_ready(void **unused)
{
	run_allocations(0, 0);
	responder_add_alloc(server, 1, "service", TASK);
	responder_add_alloc(server, 2, "service", TASK);
	TURN_UNTIL(responder_alloc(server, 2).client == WIRE_CLIENT_RUNNING);
	responder_stop_alloc(server, 1);
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
	assert_int_equal(responder_alloc(server, 1).update_flags, 0);
	TURN_UNTIL(fleet.ready == NODES);
	uint64_t before = server->counters.registrations;
	strike(FAULT_UNREADY, "500@0+1");
	responder_stop_alloc(server, 2);
	TURN_UNTIL(responder_alloc(server, 2).client == WIRE_CLIENT_COMPLETE);
	assert_int_equal(responder_alloc(server, 2).update_flags, WIRE_UPDATE_UNREADY);
	turn_ms(300);
	assert_int_equal(server->counters.registrations, before);
	// It is announced again as soon as it is ready, and nobody else is.
	TURN_UNTIL(faults_strike(&fault, 1, &fleet) && fault.is_over);
	TURN_UNTIL(server->counters.registrations == before + 1);
	turn_ms(500);
	assert_int_equal(server->counters.registrations, before + 1);
	assert_int_equal(fleet.ready, NODES);
}

static void what_runs_on_a_broken_node_fails_by_its_fault(void **unused)
{
	run_allocations(0, 0);
	responder_add_alloc(server, 1, "service", TASK);
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	TURN_UNTIL(fleet.ready == NODES);
	strike(FAULT_BREAK, "500@0");
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_FAILED);
	assert_int_equal(responder_alloc(server, 1).update_flags, WIRE_UPDATE_FLAKY);
	assert_int_equal(fleet.running->up, 0);
	// What is given to it then does not even start.
	responder_add_alloc(server, 2, "batch", TASK);
	TURN_UNTIL(responder_alloc(server, 2).client == WIRE_CLIENT_FAILED);
	assert_int_equal(responder_alloc(server, 2).update_flags, WIRE_UPDATE_FLAKY);
	assert_int_equal(fleet.running->counters.flaky, 2);
	assert_int_equal(fleet.running->counters.started, 1);
}

static void whose_fault_it_is_may_be_said_by_the_job(void **unused)
{
	run_allocations(0, 0);
	responder_add_alloc(server, 1, "batch",
		TASK ",\"Config\":{\"start_error\":\"no disk\",\"infrastructure\":true}");
	responder_flag_alloc(server, 1, 100, 0);
	responder_add_alloc(
		server, 2, "batch", TASK ",\"Config\":{\"start_error\":\"no such image\"}");
	responder_flag_alloc(server, 2, 101, 0);
	for (uint8_t i = 1; i <= 2; i++)
		TURN_UNTIL(responder_alloc(server, i).client == WIRE_CLIENT_FAILED);
	assert_int_equal(responder_alloc(server, 1).update_flags, WIRE_UPDATE_FLAKY);
	assert_int_equal(responder_alloc(server, 2).update_flags, 0);
}

static uint32_t silent_marks(bool marked[static NODES])
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < NODES; i++)
		count += marked[i] = fleet.nodes[i].phase == FLEET_SILENT;
	return count;
}

static void flapping_nodes_are_silent_again_and_again(void **unused)
{
	bool first[NODES], second[NODES];
	TURN_UNTIL(fleet.ready == NODES);
	strike(FAULT_FLAP, "20@0+1x2");
	uint32_t began_ms = fleet_now_ms(&fleet);
	fault.at_ms = began_ms; // its rounds count from there
	assert_int_equal(silent_marks(first), 20);
	assert_int_equal(fleet.away, 20);
	TURN_UNTIL((faults_strike(&fault, 1, &fleet), fleet.ready == NODES));
	assert_true(fleet_now_ms(&fleet) - began_ms >= 1000 && !fault.is_over);
	TURN_UNTIL((faults_strike(&fault, 1, &fleet), fleet.away == 20));
	assert_true(fleet_now_ms(&fleet) - began_ms >= 2000);
	assert_int_equal(silent_marks(second), 20);
	assert_memory_equal(first, second, sizeof first);
	TURN_UNTIL((faults_strike(&fault, 1, &fleet), fleet.ready == NODES));
	assert_true(fleet_now_ms(&fleet) - began_ms >= 3000);
	assert_true(fault.is_over);
	assert_int_equal(fault.done, 20);
	turn_ms(1500);
	faults_strike(&fault, 1, &fleet);
	assert_int_equal(fleet.ready, NODES);
}

static uint32_t flagged(uint8_t flag)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < NODES; i++)
		count += (fleet.nodes[i].flags & flag) != 0;
	return count;
}

// A node has one lasting fault at a time, so that each ends with its own.
static void lasting_faults_do_not_meet(void **unused)
{
	struct fault faults[3];
	assert_true(fault_parse(FAULT_UNREADY, "400@0+0.3", &faults[0]));
	assert_true(fault_parse(FAULT_BREAK, "400@0", &faults[1]));
	assert_true(fault_parse(FAULT_BREAK, "400@0.6", &faults[2]));
	assert_false(faults_strike(faults, 3, &fleet));
	assert_int_equal(faults[0].done, 400);
	assert_int_equal(faults[1].done, NODES - 400);
	assert_int_equal(flagged(FLEET_UNREADY), 400);
	assert_int_equal(flagged(FLEET_BROKEN), NODES - 400);
	TURN_UNTIL((faults_strike(faults, 3, &fleet), faults[0].is_over));
	assert_int_equal(flagged(FLEET_UNREADY), 0);
	assert_int_equal(flagged(FLEET_BROKEN), NODES - 400);
	// Who is rid of one may have another.
	TURN_UNTIL(faults_strike(faults, 3, &fleet));
	assert_int_equal(faults[2].done, 400);
	assert_int_equal(flagged(FLEET_BROKEN), NODES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(probes_are_answered_also_when_nothing_is_run),
		WITH_SERVER(who_is_not_ready_says_so_until_it_is),
		WITH_SERVER(an_end_says_that_its_node_is_not_ready),
		WITH_SERVER(what_runs_on_a_broken_node_fails_by_its_fault),
		WITH_SERVER(whose_fault_it_is_may_be_said_by_the_job),
		WITH_SERVER(flapping_nodes_are_silent_again_and_again),
		WITH_SERVER(lasting_faults_do_not_meet),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
