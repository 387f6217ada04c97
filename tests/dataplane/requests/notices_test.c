// Nodes are told at once of news of their allocations: over the real applier's state, on a clock that stands still.
#include "dataplane/requests/notices.h"
#include "state/base/failpoint/failpoint.h"
#include "tests/dataplane/world.h"
#include "tests/support/log_capture.h"
#include <string.h>

#define MANY 200u

static uint64_t notices(const struct world *w)
{
	return atomic_load(&w->team->items[0].counters.notices);
}

static void add_job(struct world *w)
{
	struct command c = {
		.type = COMMAND_JOB_REGISTER, .job_register = {.job = direct_job("web", 10, 10)}};
	world_run(w, &c);
}

// One instance, and the time until it is durable does not pass.
static void place(struct world *w, uint64_t request)
{
	struct peer client = client_peer(w, "ci", 0);
	send_place(w, &client, "ci", request, 1, "web", "g");
	world_settle(w);
}

// A worker tells nodes once a millisecond.
static void let_ms_pass(struct world *w, uint32_t ms)
{
	for (uint32_t i = 0; i <= ms; i++)
		world_turn(w, i < ms);
}

static void drain(struct world *w)
{
	uint8_t data[PACKET_BYTES_MAX];
	while (memory_wire_get(w->wires[0], data, sizeof data) > 0)
		;
}

static uint64_t alloc_index(const struct world *w, const struct wire_header *node)
{
	return node_table_line(state_node_table(w->core.state), node->slot)->alloc_index;
}

static struct world *world_of(struct memory_log *history, struct peer *p, struct wire_header *node)
{
	*history = (struct memory_log){.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, history, 0);
	*p = world_join(w, 1, 0, WORLD_WALL_MS, node);
	world_beat(w, p, node, 1);
	add_job(w);
	world_turn(w, 1);
	return w;
}

static void leave(struct world *w, struct memory_log *history)
{
	world_balances(w);
	world_destroy(w);
	memory_log_free(history);
}

static void a_node_is_told_of_a_placement_at_once(void **unused)
{
	struct memory_log history;
	struct wire_header node;
	struct peer p;
	struct world *w = world_of(&history, &p, &node);

	place(w, 1);
	let_ms_pass(w, 1);
	struct wire_notify notify = peer_notified(w, &p);
	assert_int_equal(notify.alloc_index, alloc_index(w, &node));
	assert_true(notify.alloc_index > 0);
	assert_int_equal(notify.term, state_node_table(w->core.state)->term);
	assert_int_equal(notices(w), 1);
	// Once: who misses it hears it with the next heartbeat.
	world_pass(w, 1000);
	assert_int_equal(notices(w), 1);
	assert_int_equal(world_beat(w, &p, &node, 2).alloc_index, notify.alloc_index);
	leave(w, &history);
}

// Without memory for addresses it hears with its next heartbeat.
static void a_node_whose_address_has_no_room_is_told_later(void **unused)
{
	static struct log_capture captured;
	char message[256];
	struct memory_log history;
	struct wire_header node;
	struct peer p;
	struct world *w = world_of(&history, &p, &node);

	log_capture_begin(&captured);
	assert_int_equal(failpoints_arm("memory.map=enomem", message, sizeof message), 0);
	notices_open(w->team);
	assert_int_equal(failpoints_arm("", NULL, 0), 0);
	log_capture_end(&captured);
	assert_int_equal(log_capture_count(&captured, "level=warn", "event=notices-off"), 1);
	place(w, 1);
	let_ms_pass(w, 1);
	assert_int_equal(notices(w), 0);
	drain(w);
	assert_int_equal(world_beat(w, &p, &node, 2).alloc_index, alloc_index(w, &node));
	assert_true(alloc_index(w, &node) > 0);
	leave(w, &history);
}

static void what_comes_in_between_is_told_in_one(void **unused)
{
	struct memory_log history;
	struct wire_header node;
	struct peer p;
	struct world *w = world_of(&history, &p, &node);

	for (uint32_t ms = 0, number = 1; ms < 200; ms++) {
		if (ms % 2 == 0)
			place(w, number++);
		world_turn(w, 1);
	}
	world_pass(w, 100);
	assert_in_range(notices(w), 8, 200 / NOTICE_INTERVAL_MS + 1);
	uint64_t newest = 0;
	for (uint64_t told = 0; told < notices(w); told++) {
		uint64_t index = peer_notified(w, &p).alloc_index;
		assert_true(index > newest);
		newest = index;
	}
	assert_int_equal(newest, alloc_index(w, &node));
	leave(w, &history);
}

// The newest heartbeat or report says where the node is; a replayed heartbeat does not.
static void a_node_is_told_where_it_is(void **unused)
{
	struct memory_log history;
	struct wire_header node;
	struct peer p;
	struct world *w = world_of(&history, &p, &node);
	struct peer moved = p, spoofed = p;
	moved.route = route_from(7, true, true);
	spoofed.route = route_from(9, false, false);

	world_beat(w, &moved, &node, 2);
	send_heartbeat(w, &spoofed, node.slot, node.generation, 2);
	world_settle(w);
	place(w, 1);
	let_ms_pass(w, 30);
	peer_notified(w, &moved);
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_readiness ready = {.ready = true};
	struct wire_header h = node_header(&p, &node, 5);
	peer_send(w, &p, frame, wire_readiness_encode(frame, sizeof frame, h, &ready));
	world_settle(w);
	place(w, 2);
	let_ms_pass(w, 1);
	peer_notified(w, &p);
	leave(w, &history);
}

static void nobody_is_told_who_does_not_listen(void **unused)
{
	struct memory_log history;
	struct wire_header node;
	struct peer p;
	struct world *w = world_of(&history, &p, &node);

	place(w, 1);
	let_ms_pass(w, 30);
	assert_int_equal(notices(w), 1);
	send_goodbye(w, &p, node.slot, node.generation, 9);
	world_settle(w);
	uint64_t before = notices(w);
	struct command stop = {.type = COMMAND_JOB_DEREGISTER,
		.job_deregister = {
			.namespace_name = TEXT("default"), .id = TEXT("web"), .purge = false}};
	world_run(w, &stop);
	world_pass(w, 100);
	assert_int_equal(notices(w), before);
	leave(w, &history);
}

// A controller that began anew knows no address; the first heartbeat of the new term says it.
static void a_restart_learns_addresses_from_heartbeats(void **unused)
{
	struct memory_log history;
	struct wire_header node;
	struct peer p;
	struct world *w = world_of(&history, &p, &node);
	world_destroy(w);

	w = world_create_with(1, &history, 1000);
	place(w, 1);
	let_ms_pass(w, 30);
	assert_int_equal(notices(w), 0);
	drain(w);
	assert_true(world_beat(w, &p, &node, 3).alloc_index > 0);
	place(w, 2);
	let_ms_pass(w, 30);
	assert_int_equal(notices(w), 1);
	leave(w, &history);
}

// A fleet that gets work at one moment is told at a bounded rate.
static void a_fleet_is_told_at_a_bounded_rate(void **unused)
{
	struct memory_log history;
	struct wire_header node;
	struct peer p;
	struct world *w = world_of(&history, &p, &node);
	struct node_table *table = state_node_table(w->core.state);

	for (uint32_t i = 2; i <= MANY; i++) {
		struct wire_header other;
		struct peer q = world_join(w, i, 0, WORLD_WALL_MS, &other);
		world_beat(w, &q, &other, 1);
	}
	world_pass(w, 100);
	uint64_t before = notices(w);
	for (uint32_t slot = 0; slot < MANY; slot++)
		node_table_announce(table, slot, 1000000 + slot);
	for (uint32_t ms = 1; notices(w) - before < MANY; ms++) {
		world_turn(w, 1);
		assert_true(notices(w) - before <= (uint64_t)ms * NOTICES_PER_MS);
		assert_true(ms < 10);
	}
	world_pass(w, 100);
	assert_int_equal(notices(w) - before, MANY);
	leave(w, &history);
}

// A notice says it, and so do the answers to heartbeats, until the node is called no more.
static void a_node_is_called(void **unused)
{
	struct memory_log history;
	struct wire_header node;
	struct peer p;
	struct world *w = world_of(&history, &p, &node);
	struct node_table *table = state_node_table(w->core.state);

	struct wire_heartbeat_ack quiet = world_beat(w, &p, &node, 2);
	assert_int_equal(quiet.directives, 0);
	assert_int_equal(quiet.line_port, WORLD_LINE_PORT);
	node_table_call(table, node.slot);
	let_ms_pass(w, 1);
	struct wire_notify notify = peer_notified(w, &p);
	assert_int_equal(notify.call_port, WORLD_LINE_PORT);
	assert_int_equal(notify.alloc_index, alloc_index(w, &node));
	struct wire_heartbeat_ack ack = world_beat(w, &p, &node, 3);
	assert_int_equal(ack.directives, WIRE_DIRECTIVE_CALL);
	assert_int_equal(ack.line_port, WORLD_LINE_PORT);
	// What the applier says of the node leaves the call alone.
	node_table_direct(table, node.slot, NODE_DIRECTIVE_DRAIN);
	assert_int_equal(
		world_beat(w, &p, &node, 4).directives, WIRE_DIRECTIVE_CALL | WIRE_DIRECTIVE_DRAIN);
	node_table_call_no_more(table, node.slot);
	assert_int_equal(world_beat(w, &p, &node, 5).directives, WIRE_DIRECTIVE_DRAIN);
	world_pass(w, 100);
	assert_int_equal(notices(w), 1);
	// News of its allocations is no call.
	place(w, 1);
	let_ms_pass(w, 1);
	assert_int_equal(peer_notified(w, &p).call_port, 0);
	leave(w, &history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_is_told_of_a_placement_at_once),
		cmocka_unit_test(a_node_whose_address_has_no_room_is_told_later),
		cmocka_unit_test(what_comes_in_between_is_told_in_one),
		cmocka_unit_test(a_node_is_told_where_it_is),
		cmocka_unit_test(nobody_is_told_who_does_not_listen),
		cmocka_unit_test(a_restart_learns_addresses_from_heartbeats),
		cmocka_unit_test(a_fleet_is_told_at_a_bounded_rate),
		cmocka_unit_test(a_node_is_called),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
