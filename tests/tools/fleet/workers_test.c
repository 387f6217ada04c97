// Simulated workers: machines run as their images say, and go when their list has them no more.
#include "tests/tools/fleet/small_fleet.h"
#include "tools/fleet/faults.h"
#include "tools/fleet/work/running_vms.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

// The machines belong to whoever registers first, so all are workers.
static int workers_up(void **unused)
{
	const struct running_settings running = {.workers = NODES};
	int rc = fleet_up(unused);
	if (rc == 0)
		fleet.running = running_create(&fleet, &running);
	return rc;
}

static struct running_counters *counters(void)
{
	return &fleet.running->counters;
}

// Who has the machines.
static uint32_t home(void)
{
	uint32_t node = 0;
	while (node < NODES && fleet.running->nodes[node].first == RUNNING_NONE)
		node++;
	assert_true(node < NODES);
	return node;
}

// Whoever registers raises the index of all; after that only time, or a machine, makes them ask.
static void settle(void)
{
	TURN_UNTIL(fleet.ready == NODES);
	turn_ms(600);
}

static void machines_run_and_end_as_their_images_say(void **unused)
{
	responder_add_machine(server, 1, "mock:debian");
	responder_add_machine(server, 2, "mock:debian?run_for=200ms");
	responder_add_machine(server, 3, "mock:debian?run_for=200ms&exit_code=1");
	responder_add_machine(server, 4, "mock:debian?start_error=none");
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	TURN_UNTIL(responder_alloc(server, 2).client == WIRE_CLIENT_COMPLETE);
	TURN_UNTIL(responder_alloc(server, 3).client == WIRE_CLIENT_FAILED);
	TURN_UNTIL(responder_alloc(server, 4).client == WIRE_CLIENT_FAILED);
	assert_string_equal(responder_alloc(server, 3).description, "Failed tasks");
	assert_int_equal(running_machines_up(fleet.running), 1);
	// What has ended is listed still, and is not begun again.
	responder_add_machine(server, 5, "mock:debian?run_for=100ms");
	TURN_UNTIL(responder_alloc(server, 5).client == WIRE_CLIENT_COMPLETE);
	assert_int_equal(counters()->started, 4);
	assert_int_equal(running_machines_up(fleet.running), 1);
	// One behaviour for each image, and one for those that are not read yet.
	assert_int_equal(fleet.running->behaviours.count, 5 + 1);
	const struct behaviours *all = &fleet.running->behaviours;
	assert_false(all->items[fleet.running->unread_machine]->is_known);
	assert_int_equal(server->counters.updates_before_beat, 0);
	assert_int_equal(server->counters.bad_tag, 0);
}

static void machines_run_beside_allocations(void **unused)
{
	responder_add_alloc(server, 1, "service", TASK);
	responder_add_machine(server, 2, "mock:debian");
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	TURN_UNTIL(responder_alloc(server, 2).client == WIRE_CLIENT_RUNNING);
	settle();
	uint32_t node = home();
	uint64_t next_ns = fleet.running->workers[node].list.next_ns;
	running_registered(fleet.running, node); // both lists are taken anew, at once
	uint32_t began_ms = fleet_now_ms(&fleet);
	TURN_UNTIL(fleet.running->workers[node].list.next_ns > next_ns);
	assert_in_range(fleet_now_ms(&fleet) - began_ms, 0, 900);
	assert_false(fleet.running->nodes[node].flags & RUNNING_LISTS_ALL);
	assert_int_equal(fleet.running->up, 2);
	assert_int_equal(running_machines_up(fleet.running), 1);
	assert_int_equal(counters()->forgotten, 0);
}

static void machines_are_stopped_and_dropped(void **unused)
{
	for (uint8_t i = 1; i <= 5; i++) // more than one page holds
		responder_add_machine(server, i, "mock:debian");
	responder_power_machine(server, 5, WIRE_VM_SUSPENDED); // before it began
	for (uint8_t i = 1; i <= 4; i++)
		TURN_UNTIL(responder_alloc(server, i).client == WIRE_CLIENT_RUNNING);
	TURN_UNTIL(responder_alloc(server, 5).client == WIRE_CLIENT_COMPLETE);
	assert_int_equal(counters()->started, 4);
	responder_power_machine(server, 2, WIRE_VM_STOPPED);
	TURN_UNTIL(responder_alloc(server, 2).client == WIRE_CLIENT_COMPLETE);
	assert_int_equal(fleet.running->up, 3);
	responder_drop_alloc(server, 1);
	responder_drop_alloc(server, 2);
	responder_add_machine(server, 6, "mock:debian");
	TURN_UNTIL(responder_alloc(server, 6).client == WIRE_CLIENT_RUNNING);
	assert_int_equal(counters()->forgotten, 2);
	assert_int_equal(fleet.running->up, 3);
}

// What is asked of a machine has changed: what it does is told again.
static void another_version_is_answered(void **unused)
{
	responder_add_machine(server, 1, "mock:debian");
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	responder_lose_alloc(server, 1);
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	assert_int_equal(counters()->started, 1);
}

// The list is taken again every few seconds also when nothing says that it has changed.
static void lists_are_asked_for_again(void **unused)
{
	responder_add_machine(server, 1, "mock:debian");
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	settle();
	responder_drop_alloc(server, 1);
	uint32_t began_ms = fleet_now_ms(&fleet);
	TURN_UNTIL(fleet.running->up == 0);
	assert_in_range(fleet_now_ms(&fleet) - began_ms, 2000, 5900);
}

static void machines_survive_losses_and_refusals(void **unused)
{
	TURN_UNTIL(fleet.ready == NODES); // whoever registers changes the list
	settings.loss = fleet.settings.loss = 0.1;
	for (uint8_t i = 1; i <= 6; i++)
		responder_add_machine(server, i, "mock:debian");
	TURN_UNTIL(fleet.running->up == 6 && counters()->resent > 0);
	atomic_store(&server->rules.reason, WIRE_REFUSED_UNKNOWN_ALLOCATION);
	atomic_store(&server->rules.refuse, 30);
	responder_add_machine(server, 7, "mock:debian");
	fleet.settings.loss = 0;
	for (uint8_t i = 1; i <= 7; i++)
		TURN_UNTIL(responder_alloc(server, i).client == WIRE_CLIENT_RUNNING);
	assert_int_equal(fleet.running->up, 7);
	assert_int_equal(server->counters.bad_tag, 0);
}

static void refusals_do_not_make_it_ask_faster(void **unused)
{
	TURN_UNTIL(fleet.ready == NODES);
	uint64_t before = counters()->questions;
	atomic_store(&server->rules.reason, WIRE_REFUSED_UNKNOWN_ALLOCATION);
	atomic_store(&server->rules.refuse, UINT32_MAX);
	responder_add_machine(server, 1, "mock:debian");
	for (uint32_t i = 0; i < NODES; i++)
		running_registered(fleet.running, i); // all ask for their lists
	turn_ms(1200);
	assert_true(counters()->questions - before < 10 * NODES);
	atomic_store(&server->rules.refuse, 0);
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
}

static void a_worker_that_crashed_begins_again(void **unused)
{
	struct fault fault;
	responder_add_machine(server, 1, "mock:debian");
	responder_add_machine(server, 2, "mock:debian");
	TURN_UNTIL(fleet.ready == NODES && fleet.running->up == 2);
	assert_true(fault_parse(FAULT_CRASH, "500@0", &fault));
	assert_true(faults_strike(&fault, 1, &fleet));
	assert_int_equal(fleet.running->up, 0);
	TURN_UNTIL(fleet.running->up == 2);
	assert_int_equal(counters()->started, 4);
}

static void machines_of_a_broken_worker_fail(void **unused)
{
	struct fault fault;
	responder_add_machine(server, 1, "mock:debian");
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	assert_true(fault_parse(FAULT_BREAK, "500@0", &fault));
	assert_true(faults_strike(&fault, 1, &fleet));
	TURN_UNTIL(responder_alloc(server, 1).client == WIRE_CLIENT_FAILED);
	assert_int_equal(running_machines_up(fleet.running), 0);
}

#define WITH_WORKERS(t) cmocka_unit_test_setup_teardown(t, workers_up, fleet_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORKERS(machines_run_and_end_as_their_images_say),
		WITH_WORKERS(machines_run_beside_allocations),
		WITH_WORKERS(machines_are_stopped_and_dropped),
		WITH_WORKERS(another_version_is_answered),
		WITH_WORKERS(lists_are_asked_for_again),
		WITH_WORKERS(machines_survive_losses_and_refusals),
		WITH_WORKERS(refusals_do_not_make_it_ask_faster),
		WITH_WORKERS(a_worker_that_crashed_begins_again),
		WITH_WORKERS(machines_of_a_broken_worker_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
