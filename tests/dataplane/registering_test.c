// A registration may have been recorded: it makes no node ready, only a heartbeat of the present term does. From packet
// to packet through the real applier.
#include "tests/dataplane/world.h"
#include <string.h>

static uint8_t status_of(struct world *w, uint32_t slot)
{
	state_read_begin();
	const struct node *n = state_node_at(w->core.state, slot);
	assert_non_null(n);
	uint8_t status = n->status;
	state_read_end();
	return status;
}

// Registers, and says nothing more.
static struct wire_header knock(struct world *w, struct peer *p, uint32_t number)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct uuid id = world_uuid(number);

	send_register(w, p, &id, WORLD_WALL_MS);
	world_settle(w);
	return peer_receive(w, p, WIRE_REGISTERED, frame);
}

static struct peer peer_of(struct world *w, uint32_t number, uint32_t wire)
{
	struct uuid id = world_uuid(number);
	return node_peer(w, &id, wire);
}

static void end(struct world *w, struct memory_log *history)
{
	world_settle(w);
	world_balances(w);
	world_is_quiet(w);
	world_destroy(w);
	memory_log_free(history);
}

static void a_new_node_is_ready_when_it_beats(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct peer p = peer_of(w, 1, 0);
	struct wire_header node = knock(w, &p, 1);

	assert_int_equal(status_of(w, node.slot), NODE_INITIALIZING);
	world_beat(w, &p, &node, 1);
	assert_int_equal(status_of(w, node.slot), NODE_READY);
	uint64_t index = state_index(w->core.state);
	world_beat(w, &p, &node, 2);
	assert_int_equal(state_index(w->core.state), index);
	end(w, &history);
}

static void a_recording_brings_no_node_back(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct peer p = peer_of(w, 1, 0);
	struct uuid id = world_uuid(1);
	struct wire_header old = knock(w, &p, 1);

	world_beat(w, &p, &old, 1);
	struct command purge = {.type = COMMAND_NODE_PURGE, .node_named = {.node = id}};
	world_run(w, &purge);
	struct wire_header node = knock(w, &p, 1); // the same bytes
	uint8_t frame[FRAME_BYTES_MAX];
	for (uint64_t sequence = 1; sequence < 3; sequence++) {
		send_heartbeat(w, &p, old.slot, old.generation, sequence);
		world_settle(w);
	}
	peer_receive(w, &p, WIRE_HEARTBEAT_ACK, frame); // which asks the purged node to register
	assert_int_equal(status_of(w, node.slot), NODE_INITIALIZING);
	world_pass(w, LIVENESS_REGISTER_WAIT_MS + WORLD_TTL_MS + 1000);
	assert_int_equal(status_of(w, node.slot), NODE_DOWN);
	knock(w, &p, 1);
	assert_int_equal(status_of(w, node.slot), NODE_DOWN);
	world_destroy(w);
	memory_log_free(&history);
}

// Two queues: the heartbeats come where the node's line is not.
static void a_heartbeat_on_another_queue_counts(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(2, &history, 0);
	struct peer p = peer_of(w, 1, 0);
	struct wire_header node = knock(w, &p, 1);
	uint8_t frame[FRAME_BYTES_MAX];

	p.wire = 1;
	send_heartbeat(w, &p, node.slot, node.generation, 1);
	world_pass(w, 1100); // the owner sweeps within a second
	peer_receive(w, &p, WIRE_HEARTBEAT_ACK, frame);
	assert_int_equal(status_of(w, node.slot), NODE_READY);
	end(w, &history);
}

// The heartbeat has to be of the term that the controller is in by then.
static void a_restart_in_between_changes_nothing(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct peer p = peer_of(w, 1, 0);
	struct wire_header node = knock(w, &p, 1);

	world_destroy(w);
	w = world_create_with(1, &history, 1000);
	p = peer_of(w, 1, 0);
	world_settle(w);
	assert_int_equal(status_of(w, node.slot), NODE_INITIALIZING);
	world_beat(w, &p, &node, 1);
	assert_int_equal(status_of(w, node.slot), NODE_READY);
	world_destroy(w);
	w = world_create_with(1, &history, 2000);
	assert_int_equal(status_of(w, node.slot), NODE_READY);
	end(w, &history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_node_is_ready_when_it_beats),
		cmocka_unit_test(a_recording_brings_no_node_back),
		cmocka_unit_test(a_heartbeat_on_another_queue_counts),
		cmocka_unit_test(a_restart_in_between_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
