// Many nodes register at once, more than there is room for: who is known lives as long as its registrations come.
#include "state/base/time_units.h"
#include "tests/dataplane/world.h"
#include <stdlib.h>

#define STORM_NODES 9000u
#define STEP_MS 100u
#define AGAIN_STEPS 20u // every node tries again after two seconds

static struct world *storm_create(struct memory_log *log)
{
	memory_log_init(log);
	return world_create_with(1, log, 0);
}

static void storm_destroy(struct world *w, struct memory_log *log)
{
	world_destroy(w);
	memory_log_free(log);
}

static const struct hot_counters *counters_of(const struct world *w)
{
	return &w->team->items[0].counters;
}

// A part of the storm's nodes; its answers are lost.
static void send_part(struct world *w, struct peer *peers, uint32_t first, uint32_t step)
{
	for (uint32_t i = first; i < STORM_NODES; i += step) {
		struct uuid id = world_uuid(i);
		send_register(w, &peers[i], &id, WORLD_WALL_MS + i);
	}
}

static void work(struct world *w, uint32_t step)
{
	for (uint32_t i = 0; i < STORM_NODES / BURST_MAX / AGAIN_STEPS + 3; i++)
		world_turn(w, 0);
	// The applier is busy most of the time.
	if (step % 4 == 0)
		applier_step(w->core.applier);
	world_turn(w, STEP_MS);
}

static void nobody_goes_down_in_a_storm(void **state)
{
	struct memory_log log;
	struct world *w = storm_create(&log);
	struct peer *peers = calloc(STORM_NODES, sizeof *peers);
	assert_non_null(peers);
	for (uint32_t i = 0; i < STORM_NODES; i++) {
		struct uuid id = world_uuid(i);
		peers[i] = node_peer(w, &id, 0);
	}
	memory_wire_limit_sends(w->wires[0], 0);
	send_part(w, peers, 0, 1); // all at once
	for (uint32_t i = 0; i < STORM_NODES / BURST_MAX + 3; i++)
		world_turn(w, 0);
	assert_true(world_refused(w, 0, HOT_REFUSED_REQUESTS_FULL) >= STORM_NODES / 2);
	for (uint32_t step = 0; step < 5 * WORLD_TTL_MS / STEP_MS; step++) {
		send_part(w, peers, step % AGAIN_STEPS, AGAIN_STEPS);
		work(w, step);
	}
	struct state_counts counts;
	state_counts(w->core.state, &counts);
	assert_int_equal(counts.nodes[NODE_DOWN], 0);
	assert_int_equal(counters_of(w)->expired, 0);
	assert_true(counts.nodes[NODE_READY] + counts.nodes[NODE_INITIALIZING] == STORM_NODES);
	// Who does not even register any more is silent.
	world_pass(w, LIVENESS_REGISTER_WAIT_MS + WORLD_TTL_MS + 2000);
	assert_true(counters_of(w)->expired > STORM_NODES / 2);
	world_balances(w);
	free(peers);
	storm_destroy(w, &log);
}

// Each newcomer that was refused is to come later than the one before it.
static void check_appointments(struct world *w, const struct peer *refused, uint32_t count)
{
	uint32_t first_ms = 0, last_ms = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint8_t frame[FRAME_BYTES_MAX];
		struct wire_refused why;
		struct wire_header h = peer_receive(w, &refused[i], WIRE_REFUSED, frame);
		assert_true(wire_refused_decode(frame, &h, &why));
		assert_int_equal(why.reason, WIRE_REFUSED_OVERLOADED);
		assert_true(why.retry_after_ms >= last_ms);
		last_ms = why.retry_after_ms;
		first_ms = i == 0 ? last_ms : first_ms;
	}
	uint64_t each_ns = APPOINTMENT_EACH_NS_FIRST;
	assert_in_range(last_ms - first_ms, (count - 1) * each_ns / NS_PER_MS - 1,
		(count - 1) * each_ns / NS_PER_MS + 1);
}

static void newcomers_leave_room_for_those_who_are_known(void **state)
{
	struct memory_log log;
	struct world *w = storm_create(&log);
	struct wire_header registered;
	struct peer known = world_join(w, 1, 0, WORLD_WALL_MS, &registered);
	struct peer *newcomers = calloc(2 * WORKER_REQUESTS_MAX, sizeof *newcomers);
	assert_non_null(newcomers);
	for (uint32_t i = 0; i < 2 * WORKER_REQUESTS_MAX; i++) {
		struct uuid id = world_uuid(10 + i);
		newcomers[i] = node_peer(w, &id, 0);
		send_register(w, &newcomers[i], &id, WORLD_WALL_MS);
	}
	for (uint32_t i = 0; i < 2 * WORKER_REQUESTS_MAX / BURST_MAX + 1; i++)
		world_turn(w, 0);
	uint64_t requests = counters_of(w)->requests;
	uint64_t refused = world_refused(w, 0, HOT_REFUSED_REQUESTS_FULL);
	assert_int_equal(requests, 1 + WORKER_NEWCOMERS_MAX);
	check_appointments(w, &newcomers[WORKER_NEWCOMERS_MAX],
		2 * WORKER_REQUESTS_MAX - WORKER_NEWCOMERS_MAX);
	free(newcomers);
	struct uuid id = world_uuid(1);
	send_register(w, &known, &id, WORLD_WALL_MS + 1);
	world_turn(w, 0);
	assert_int_equal(counters_of(w)->requests, requests + 1);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_REQUESTS_FULL), refused);
	world_settle(w);
	storm_destroy(w, &log);
}

// Somebody who has heard a registration sends it on and on, and cannot keep the dead alive with it.
static void a_captured_registration_is_no_lasting_life(void **state)
{
	struct memory_log log;
	struct world *w = storm_create(&log);
	struct wire_header registered;
	struct peer p = world_join(w, 1, 0, WORLD_WALL_MS, &registered);
	struct uuid id = world_uuid(1);
	world_beat(w, &p, &registered, 1);
	for (uint32_t ms = 0; ms < WORLD_TTL_MS + 1000; ms += 500) {
		send_register(w, &p, &id, WORLD_WALL_MS);
		world_pass(w, 500);
	}
	assert_int_equal(counters_of(w)->expired, 1); // it had its answer
	world_destroy(w);
	memory_log_free(&log);
	w = storm_create(&log);
	p = world_join(w, 1, 0, WORLD_WALL_MS, &registered);
	memory_wire_limit_sends(w->wires[0], 0);
	for (uint32_t ms = 0; ms < LIVENESS_REGISTERS_MS_MAX; ms += 500) {
		send_register(w, &p, &id, WORLD_WALL_MS);
		world_pass(w, 500);
	}
	assert_int_equal(counters_of(w)->expired, 0);
	for (uint32_t ms = 0; ms < LIVENESS_REGISTER_WAIT_MS + WORLD_TTL_MS + 1000; ms += 500) {
		send_register(w, &p, &id, WORLD_WALL_MS);
		world_pass(w, 500);
	}
	assert_int_equal(counters_of(w)->expired, 1);
	storm_destroy(w, &log);
}

// Whose answer was lost waits longer than the time to live before it registers again.
static void who_waits_to_register_again_is_not_silent(void **state)
{
	struct memory_log log;
	struct world *w = storm_create(&log);
	struct uuid id = world_uuid(1);
	struct peer p = node_peer(w, &id, 0);
	struct state_counts counts;

	assert_true(LIVENESS_REGISTER_WAIT_MS > 2 * WORLD_TTL_MS);
	memory_wire_limit_sends(w->wires[0], 0);
	for (uint32_t time = 0; time < 3; time++) {
		send_register(w, &p, &id, WORLD_WALL_MS);
		world_settle(w);
		world_pass(w, LIVENESS_REGISTER_WAIT_MS);
	}
	assert_int_equal(counters_of(w)->expired, 0);
	state_counts(w->core.state, &counts);
	assert_int_equal(counts.nodes[NODE_INITIALIZING], 1);
	world_pass(w, WORLD_TTL_MS + 1000);
	assert_int_equal(counters_of(w)->expired, 1);
	storm_destroy(w, &log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_goes_down_in_a_storm),
		cmocka_unit_test(newcomers_leave_room_for_those_who_are_known),
		cmocka_unit_test(who_waits_to_register_again_is_not_silent),
		cmocka_unit_test(a_captured_registration_is_no_lasting_life),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
