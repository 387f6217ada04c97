// A fleet that was told of two controllers: it speaks to the one that leads.
#include "tests/tools/fleet/small_fleet.h"
#include "tools/fleet/placing.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct responder *other;
static char list[80];

static int two_up(void **unused)
{
	int rc = fleet_up(unused);
	other = responder_start();
	atomic_store(&other->rules.ttl_ms, 300);
	snprintf(list, sizeof list, "%s,%s", server->address, other->address);
	return rc < 0 ? rc
		      : servers_open(&fleet.servers, list, fleet_message, sizeof fleet_message);
}

static int two_down(void **unused)
{
	responder_stop(other);
	return fleet_down(unused);
}

static void it_registers_with_the_one_that_leads(void **unused)
{
	atomic_store(&server->rules.leader_port, other->port);
	atomic_store(&server->rules.follows, true);
	TURN_UNTIL(fleet.ready == NODES);
	assert_int_equal(server->node_count, 0);
	assert_int_equal(other->node_count, NODES);
	assert_int_equal(fleet.counters.turns, 1);
}

static void it_passes_over_one_that_is_dead(void **unused)
{
	responder_die(server);
	TURN_UNTIL(fleet.ready == NODES);
	assert_int_equal(other->node_count, NODES);
}

// Six heartbeats in a row without an answer ask whether the node is known at all: here they last longer than the
// silence that turns the fleet.
static void nobody_registers_after_a_takeover(void **unused)
{
	atomic_store(&server->rules.ttl_ms, 1500);
	TURN_UNTIL(fleet.ready == NODES);
	responder_die(server);
	responder_take_over(other, server);
	TURN_UNTIL(fleet.counters.resyncs >= NODES && fleet.ready == NODES);
	assert_int_equal(other->counters.registrations, 0);
	assert_int_equal(fleet.counters.turns, 1);
}

static void it_follows_a_leader_that_steps_down(void **unused)
{
	TURN_UNTIL(fleet.ready == NODES);
	responder_take_over(other, server);
	atomic_store(&server->rules.leader_port, other->port);
	atomic_store(&server->rules.follows, true);
	uint64_t acked = fleet.counters.acked;
	TURN_UNTIL(fleet.counters.acked >= acked + 3 * NODES && fleet.ready == NODES);
	assert_int_equal(other->counters.registrations, 0);
	assert_int_equal(fleet.counters.turns, 1);
}

static void without_a_leader_it_waits(void **unused)
{
	TURN_UNTIL(fleet.ready == NODES);
	responder_take_over(other, server);
	atomic_store(&server->rules.follows, true);
	atomic_store(&other->rules.follows, true);
	turn_ms(1000);
	assert_in_range(fleet.counters.turns, 2, 11);
	atomic_store(&other->rules.follows, false);
	uint64_t acked = fleet.counters.acked;
	TURN_UNTIL(fleet.counters.acked >= acked + 3 * NODES && fleet.ready == NODES);
	assert_int_equal(other->counters.registrations, 0);
}

static bool next_ask(void *context, struct placing_ask *ask)
{
	uint32_t *left = context;
	if (*left == 0)
		return false;
	--*left;
	*ask = (struct placing_ask){.job = TEXT("web"), .group = TEXT("g"), .count = 1};
	return true;
}

static void on_placed(void *context, uint32_t number, const struct wire_placed *placed)
{
}

static void on_refused(void *context, uint32_t number, const struct wire_refused *refused)
{
	fail_msg("%s", wire_refusal_name(refused->reason));
}

static void placements_go_to_the_leader(void **unused)
{
	static struct placing placing;
	uint32_t left = 200;
	const struct placing_settings how = {
		.client = "fleet", .key_id = 1, .window = 16, .repeat_share = 0.5, .seed = 3};
	const struct placing_source source = {
		.context = &left, .next = next_ask, .placed = on_placed, .refused = on_refused};
	TURN_UNTIL(fleet.ready == NODES);
	responder_take_over(other, server);
	atomic_store(&server->rules.leader_port, other->port);
	atomic_store(&server->rules.follows, true);
	placing_start(&placing, &how, &source, &fleet);
	TURN_UNTIL(placing_step(&placing));
	assert_int_equal(placing.counters.placed, 200);
	assert_int_equal(placing.counters.repeated_differs, 0);
	assert_int_equal(server->counters.placed, 0);
	assert_int_equal(fleet.counters.turns, 1);
	placing_stop(&placing);
}

#define WITH_TWO(t) cmocka_unit_test_setup_teardown(t, two_up, two_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TWO(it_registers_with_the_one_that_leads),
		WITH_TWO(it_passes_over_one_that_is_dead),
		WITH_TWO(nobody_registers_after_a_takeover),
		WITH_TWO(it_follows_a_leader_that_steps_down),
		WITH_TWO(without_a_leader_it_waits),
		WITH_TWO(placements_go_to_the_leader),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
