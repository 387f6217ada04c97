// Turns of a worker over arrays, on a manual clock: who is silent, who returns, what is full. The
// applier's part is played by hand, so that every order of events can be had.
#include "tests/dataplane/world.h"
#include <string.h>
#include <unistd.h>

static void silence_and_return(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	uint8_t frame[FRAME_BYTES_MAX];
	struct peer p = world_node(w, 3, 4, 0, 0);
	world_pass(w, WORLD_TTL_MS - 500);
	world_no_command(w);
	send_heartbeat(w, &p, 3, 4, 1);
	world_pass(w, WORLD_TTL_MS - 500); // longer than that since it registered
	world_no_command(w);
	peer_receive(w, &p, WIRE_HEARTBEAT_ACK, frame);
	world_pass(w, 1000); // one TTL and at most a second in all
	struct command *c = world_command(w, COMMAND_NODE_EXPIRED);
	assert_int_equal(c->node.slot, 3);
	assert_int_equal(c->node.generation, 4);
	world_finish(c, OUTCOME_DONE);
	world_pass(w, 3 * WORLD_TTL_MS);
	world_no_command(w); // said once
	send_heartbeat(w, &p, 3, 4, 2);
	world_turn(w, 1);
	peer_receive(w, &p, WIRE_HEARTBEAT_ACK, frame);
	c = world_command(w, COMMAND_NODE_RETURNED);
	assert_int_equal(c->node.slot, 3);
	world_finish(c, OUTCOME_DONE);
	world_pass(w, WORLD_TTL_MS + 1000);
	world_finish(world_command(w, COMMAND_NODE_EXPIRED), OUTCOME_DONE);
	world_is_quiet(w);
	world_balances(w);
	world_destroy(w);
}

// Our own absence is nobody's silence.
static void stall_extends_deadlines(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	world_node(w, 3, 1, 0, 0);
	world_pass(w, WORLD_TTL_MS - 1000);
	manual_time_advance_ms(&w->clock, 60000);
	world_pass(w, 500);
	world_no_command(w);
	assert_int_equal(w->team->items[0].counters.stalls, 1);
	world_pass(w, 1500);
	world_finish(world_command(w, COMMAND_NODE_EXPIRED), OUTCOME_DONE);
	world_destroy(w);
}

// Packets that the port lost may have been heartbeats.
static void losses_extend_deadlines(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	world_node(w, 3, 1, 0, 0);
	for (uint32_t i = 0; i < 30; i++) {
		atomic_fetch_add(&w->signs.missed, 1);
		world_pass(w, 1000);
	}
	// A fifth of each second is not counted.
	world_finish(world_command(w, COMMAND_NODE_EXPIRED), OUTCOME_DONE);
	assert_true(w->team->items[0].counters.stalled_ms >= 30 * 150);
	world_destroy(w);
}

// What is in the queue is handled before anybody is judged, however long it takes to drain.
static void queued_packets_come_before_judgement(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	struct peer p = world_node(w, 3, 1, 0, 0);
	struct peer stranger = client_peer(w, "ci", 0);
	world_pass(w, WORLD_TTL_MS - 100);
	stranger.key.k[0] ^= 1;
	for (uint32_t i = 0; i < 10 * BURST_MAX; i++)
		send_place(w, &stranger, "ci", i, 1, "web", "front");
	send_heartbeat(w, &p, 3, 1, 1);
	for (uint32_t i = 0; i < 11; i++)
		world_turn(w, 50);
	world_no_command(w);
	assert_int_equal(w->team->items[0].counters.heartbeats, 1);
	world_destroy(w);
}

static void full_ring_defers_reports(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	world_node(w, 3, 1, 0, 0);
	struct peer p = client_peer(w, "ci", 0);
	for (uint32_t i = 0; i < WORKER_REQUESTS_MAX + 10; i++)
		send_place(w, &p, "ci", i, 1, "web", "front");
	world_pass(w, WORLD_TTL_MS + 2000);
	const struct hot_counters *counters = &w->team->items[0].counters;
	assert_int_equal(counters->expired, 0);
	assert_true(counters->reports_deferred > 0);
	// The first request was the registration.
	for (uint64_t i = 1; i < counters->requests; i++)
		world_finish(world_command(w, COMMAND_PLACE), OUTCOME_UNKNOWN_JOB);
	world_pass(w, 1000);
	assert_int_equal(counters->expired, 1);
	world_finish(world_command(w, COMMAND_NODE_EXPIRED), OUTCOME_DONE);
	world_is_quiet(w);
	world_destroy(w);
}

// The applier has taken them all, and answered none.
static void without_a_free_record_reports_wait_and_requests_are_refused(void **state)
{
	(void)state;
	static struct report *reports[WORKER_REPORTS_MAX];
	static struct request *requests[WORKER_REQUESTS_MAX + 1];
	struct world *w = world_create(1);
	struct packet_worker *worker = &w->team->items[0];
	struct peer p = client_peer(w, "ci", 0);
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t held = 0;
	world_node(w, 3, 1, 0, 0);
	for (uint32_t i = 0; i < WORKER_REPORTS_MAX; i++)
		assert_non_null(reports[i] = report_take(&worker->reports));
	while ((requests[held] = request_take(&worker->requests)) != NULL)
		held++;
	send_place(w, &p, "ci", 1, 1, "web", "front");
	world_pass(w, WORLD_TTL_MS + 2000);
	peer_receive(w, &p, WIRE_REFUSED, frame);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_REQUESTS_FULL), 1);
	assert_int_equal(worker->counters.expired, 0);
	assert_true(worker->counters.reports_deferred > 0);
	while (held > 0)
		request_give(&worker->requests, requests[--held]);
	for (uint32_t i = 0; i < WORKER_REPORTS_MAX; i++)
		report_give(&worker->reports, reports[i]);
	world_pass(w, 1000);
	assert_int_equal(worker->counters.expired, 1);
	world_finish(world_command(w, COMMAND_NODE_EXPIRED), OUTCOME_DONE);
	world_is_quiet(w);
	world_destroy(w);
}

static void goodbye(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	uint8_t frame[FRAME_BYTES_MAX];
	struct peer p = world_node(w, 3, 2, 0, 0);
	send_goodbye(w, &p, 3, 2, 1);
	world_turn(w, 1);
	struct command *c = world_command(w, COMMAND_NODE_GOODBYE);
	assert_int_equal(c->node.slot, 3);
	assert_int_equal(c->node.generation, 2);
	peer_hears_nothing(w, &p);
	world_finish(c, OUTCOME_DONE);
	world_turn(w, 1);
	peer_receive(w, &p, WIRE_GOODBYE_ACK, frame);
	world_pass(w, 2 * WORLD_TTL_MS);
	world_no_command(w); // gone, not silent
	send_heartbeat(w, &p, 3, 2, 2);
	world_turn(w, 1);
	world_finish(world_command(w, COMMAND_NODE_RETURNED), OUTCOME_DONE);
	// The same goodbye again is a replay, not another one.
	peer_receive(w, &p, WIRE_HEARTBEAT_ACK, frame);
	send_goodbye(w, &p, 3, 2, 1);
	world_turn(w, 1);
	world_no_command(w);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_REPLAY), 1);
	world_balances(w);
	world_is_quiet(w);
	world_destroy(w);
}

// The flow moved: the goodbye waits for the owner's turn and leaves through the owner's ring.
static void goodbye_through_another_worker(void **state)
{
	(void)state;
	struct world *w = world_create(2);
	uint8_t frame[FRAME_BYTES_MAX];
	struct peer p = world_node(w, 3, 2, 0, 0);
	p.wire = 1;
	send_goodbye(w, &p, 3, 2, 1);
	state_reader_online();
	packet_worker_step(&w->team->items[1]);
	world_no_command(w);
	assert_false(node_table_line(state_node_table(w->core.state), 3)->flags & NODE_LINE_DOWN);
	packet_worker_step(&w->team->items[0]);
	state_reader_offline();
	struct command *c = world_command(w, COMMAND_NODE_GOODBYE);
	assert_true(node_table_line(state_node_table(w->core.state), 3)->flags & NODE_LINE_DOWN);
	world_finish(c, OUTCOME_DONE);
	world_turn(w, 1);
	peer_receive(w, &p, WIRE_GOODBYE_ACK, frame);
	world_is_quiet(w);
	world_destroy(w);
}

// A node whose packets reach another worker stays alive, and its return is told by its owner.
static void flow_that_moves(void **state)
{
	(void)state;
	struct world *w = world_create(2);
	uint8_t frame[FRAME_BYTES_MAX];
	struct peer p = world_node(w, 3, 2, 0, 0);
	for (uint64_t i = 1; i <= 20; i++) {
		p.wire = i % 2;
		send_heartbeat(w, &p, 3, 2, i);
		world_pass(w, WORLD_TTL_MS / 2);
		peer_receive(w, &p, WIRE_HEARTBEAT_ACK, frame);
		world_no_command(w);
	}
	world_pass(w, WORLD_TTL_MS + 1000);
	world_finish(world_command(w, COMMAND_NODE_EXPIRED), OUTCOME_DONE);
	p.wire = 1;
	send_heartbeat(w, &p, 3, 2, 21);
	world_pass(w, 1000);
	world_finish(world_command(w, COMMAND_NODE_RETURNED), OUTCOME_DONE);
	world_no_command(w);
	world_pass(w, WORLD_TTL_MS);
	world_finish(world_command(w, COMMAND_NODE_EXPIRED), OUTCOME_DONE);
	world_balances(w);
	world_is_quiet(w);
	world_destroy(w);
}

static void full_wire_is_counted(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	struct peer p = world_node(w, 3, 2, 0, 0);
	const struct hot_counters *counters = &w->team->items[0].counters;
	memory_wire_limit_sends(w->wires[0], 0);
	send_heartbeat(w, &p, 3, 2, 1);
	world_turn(w, 1);
	assert_int_equal(counters->reply_drops, 1);
	struct peer c = client_peer(w, "ci", 0);
	send_place(w, &c, "ci", 1, 1, "web", "front");
	world_turn(w, 1);
	world_finish(world_command(w, COMMAND_PLACE), OUTCOME_UNKNOWN_JOB);
	world_turn(w, 1);
	assert_int_equal(counters->reply_drops, 2);
	assert_int_equal(counters->heartbeats, 1);
	world_is_quiet(w);
	world_balances(w);
	world_destroy(w);
}

static void chained_buffers_are_refused(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	uint8_t packet[128] = {0};
	assert_true(
		memory_wire_put_as(w->wires[0], packet, sizeof packet, 2, PACKET_CHECKSUM_UNKNOWN));
	world_turn(w, 1);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_SEGMENTED), 1);
	world_balances(w);
	world_destroy(w);
}

// Slots that the worker looks at in a turn after so much time.
static uint32_t swept_after(struct world *w, uint32_t time_ms)
{
	const uint32_t *cursor = &w->team->items[0].sweep_cursor;
	uint32_t before = *cursor, used = atomic_load(&state_node_table(w->core.state)->slots_used);

	manual_time_advance_ms(&w->clock, time_ms);
	world_turn(w, 0);
	return (*cursor + used - before) % used;
}

// The column is looked at ten times a second while the worker naps, too, but never much of it in one turn; and what
// packets have put off is not made up for.
static void naps_do_not_slow_the_sweep(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	struct rest *rest = &w->team->items[0].rest;
	for (uint32_t slot = 0; slot < 20000; slot += NODE_BLOCK_SLOTS)
		world_slot(w, slot, 0);
	world_slot(w, 19999, 0);
	world_turn(w, 0);
	assert_int_equal(swept_after(w, 1), 200 + NODE_BLOCK_SLOTS);
	assert_int_equal(swept_after(w, 3), 200 + NODE_BLOCK_SLOTS);
	(void)rest_nap(rest);
	assert_int_equal(swept_after(w, 1), 200 + NODE_BLOCK_SLOTS);
	assert_int_equal(swept_after(w, 3), 600 + NODE_BLOCK_SLOTS);
	assert_int_equal(swept_after(w, 50), 800 + NODE_BLOCK_SLOTS);
	rest_ends(rest);
	assert_int_equal(swept_after(w, 3), 200 + NODE_BLOCK_SLOTS);
	world_destroy(w);
}

#define NAPS 40u

// A port without packets, and what its worker did: the wire of the world, looked at from outside.
static struct {
	struct packet_worker *worker;
	struct packet_io wire;
	int bell[2]; // a pipe
	uint32_t turns, turn_of_bell, roused;
} napping;

static void note_turn(void *context, struct packet_burst *burst)
{
	napping.wire.receive(context, burst);
	napping.turns++;
	napping.roused += napping.worker->was_roused;
	if (napping.turns == REST_TURNS_AWAKE + NAPS)
		atomic_store(&napping.worker->team->stopping, true);
}

static int look_at_bell(void *context)
{
	(void)context;
	assert_true(napping.turn_of_bell == 0 || napping.turns > napping.turn_of_bell + 1);
	napping.turn_of_bell = napping.turns;
	return napping.bell[0];
}

// Packets end a nap. A port that says that there are some where there are none does not keep its worker awake: each
// second nap does not ask it.
static void packets_rouse_but_not_in_vain_for_ever(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	assert_int_equal(pipe(napping.bell), 0);
	assert_int_equal(write(napping.bell[1], "", 1), 1);
	napping.worker = &w->team->items[0];
	napping.wire = napping.worker->io;
	napping.worker->io.receive = note_turn;
	napping.worker->io.bell = look_at_bell;
	packet_worker_run(napping.worker);
	assert_in_range(napping.roused, NAPS / 2 - 1, NAPS / 2 + 1);
	close(napping.bell[0]);
	close(napping.bell[1]);
	world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silence_and_return),
		cmocka_unit_test(stall_extends_deadlines),
		cmocka_unit_test(losses_extend_deadlines),
		cmocka_unit_test(queued_packets_come_before_judgement),
		cmocka_unit_test(full_ring_defers_reports),
		cmocka_unit_test(without_a_free_record_reports_wait_and_requests_are_refused),
		cmocka_unit_test(goodbye),
		cmocka_unit_test(goodbye_through_another_worker),
		cmocka_unit_test(flow_that_moves),
		cmocka_unit_test(full_wire_is_counted),
		cmocka_unit_test(chained_buffers_are_refused),
		cmocka_unit_test(naps_do_not_slow_the_sweep),
		cmocka_unit_test(packets_rouse_but_not_in_vain_for_ever),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
