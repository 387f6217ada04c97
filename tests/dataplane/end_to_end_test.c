// From packet to packet through the real applier and back, on a manual clock: what a node and a
// client live through, restarts included.
#include "tests/dataplane/world.h"
#include <string.h>
#include <urcu-qsbr.h>

static void add_job(struct world *w, const char *id, uint32_t cpu_mhz)
{
	struct command c = {.type = COMMAND_JOB_REGISTER,
		.job_register = {.job = direct_job(id, cpu_mhz, 100)}};
	world_run(w, &c);
}

static struct peer new_node(struct world *w, uint32_t number, uint32_t wire, struct wire_header *h)
{
	return world_join(w, number, wire, WORLD_WALL_MS, h);
}

static uint8_t status_of(struct world *w, uint32_t slot)
{
	state_read_begin();
	const struct node *n = state_node_at(w->core.state, slot);
	assert_non_null(n);
	uint8_t status = n->status;
	state_read_end();
	return status;
}

static void violated(const char *text, void *context)
{
	print_error("%s\n", text);
}

static void end(struct world *w)
{
	world_settle(w);
	world_balances(w);
	world_is_quiet(w);
	assert_int_equal(state_verify(w->core.state, violated, NULL), 0);
	world_destroy(w);
}

static void life_of_a_node(void **state)
{
	(void)state;
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header node;
	uint8_t frame[FRAME_BYTES_MAX];
	struct peer p = new_node(w, 1, 0, &node);
	assert_int_equal(status_of(w, node.slot), NODE_READY);
	struct wire_heartbeat_ack ack = world_beat(w, &p, &node, 1);
	assert_int_equal(ack.ttl_ms, WORLD_TTL_MS);
	assert_int_equal(ack.term, state_node_table(w->core.state)->term);
	assert_int_equal(ack.directives, 0);
	world_pass(w, WORLD_TTL_MS - 100);
	assert_int_equal(status_of(w, node.slot), NODE_READY);
	world_pass(w, 1100);
	assert_int_equal(status_of(w, node.slot), NODE_DOWN);
	world_beat(w, &p, &node, 2);
	assert_int_equal(status_of(w, node.slot), NODE_READY);
	send_goodbye(w, &p, node.slot, node.generation, 3);
	world_settle(w);
	peer_receive(w, &p, WIRE_GOODBYE_ACK, frame);
	assert_int_equal(status_of(w, node.slot), NODE_DOWN);
	world_beat(w, &p, &node, 4);
	assert_int_equal(status_of(w, node.slot), NODE_READY);
	end(w);
	memory_log_free(&history);
}

static void say_ready(
	struct world *w, struct peer *p, const struct wire_header *node, uint64_t sequence, bool is)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_readiness readiness = {is, is ? 0 : 1000};

	uint32_t bytes = wire_readiness_encode(
		frame, sizeof frame, node_header(p, node, sequence), &readiness);
	peer_send(w, p, frame, bytes);
	world_settle(w);
	peer_receive(w, p, WIRE_READINESS_TAKEN, frame);
}

// Every answer asks for the probe until it has said yes, also after a restart of the controller; from then on none.
static void readiness_is_asked_for_until_it_is_there(void **state)
{
	(void)state;
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_probed(1, &history, 0, true);
	struct wire_header node;
	struct peer p = new_node(w, 1, 0, &node);
	assert_int_equal(world_beat(w, &p, &node, 1).directives, WIRE_DIRECTIVE_PROBE);
	assert_int_equal(world_beat(w, &p, &node, 2).directives, WIRE_DIRECTIVE_PROBE);
	say_ready(w, &p, &node, 3, false);
	assert_int_equal(world_beat(w, &p, &node, 4).directives, WIRE_DIRECTIVE_PROBE);
	world_destroy(w);
	w = world_create_probed(1, &history, 1000, true);
	p = world_join(w, 1, 0, WORLD_WALL_MS + 1, &node);
	assert_int_equal(world_beat(w, &p, &node, 1).directives, WIRE_DIRECTIVE_PROBE);
	say_ready(w, &p, &node, 2, true);
	assert_int_equal(world_beat(w, &p, &node, 3).directives, 0);
	say_ready(w, &p, &node, 4, false);
	assert_int_equal(world_beat(w, &p, &node, 5).directives, 0);
	end(w);
	memory_log_free(&history);
}

// Described anew the node gets a generation of its own; what still speaks with the old one is told.
static void registered_again(void **state)
{
	(void)state;
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header old, node, h;
	struct wire_refused refused;
	uint8_t frame[FRAME_BYTES_MAX];
	struct peer p = new_node(w, 1, 0, &old);
	world_beat(w, &p, &old, 50);
	node = world_register(w, &p, 1, WORLD_WALL_MS + 5);
	assert_int_equal(node.slot, old.slot);
	assert_int_not_equal(node.generation, old.generation);
	send_heartbeat(w, &p, old.slot, old.generation, 51);
	world_settle(w);
	h = peer_receive(w, &p, WIRE_REFUSED, frame);
	assert_true(wire_refused_decode(frame, &h, &refused));
	assert_int_equal(refused.reason, WIRE_REFUSED_STALE_GENERATION);
	world_beat(w, &p, &node, 1); // sequences start again
	struct uuid id = world_uuid(1);
	send_register(w, &p, &id, WORLD_WALL_MS);
	world_settle(w);
	h = peer_receive(w, &p, WIRE_REFUSED, frame);
	assert_true(wire_refused_decode(frame, &h, &refused));
	assert_int_equal(refused.reason, WIRE_REFUSED_STALE_REGISTRATION);
	assert_int_equal(refused.value, WORLD_WALL_MS + 5);
	// The newest one again is a retransmission.
	h = world_register(w, &p, 1, WORLD_WALL_MS + 5);
	assert_int_equal(h.generation, node.generation);
	send_heartbeat(w, &p, node.slot, node.generation, 1);
	world_settle(w);
	peer_hears_nothing(w, &p);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_REPLAY), 1);
	end(w);
	memory_log_free(&history);
}

// Nothing could follow it: the node is told where to go on.
static void a_registration_from_the_end_of_time(void **state)
{
	(void)state;
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_refused refused;
	struct uuid id = world_uuid(1);
	struct peer p = node_peer(w, &id, 0);
	for (uint32_t round = 0; round < 2; round++) {
		send_register(w, &p, &id, round ? UINT64_MAX : 1ull << 62);
		world_settle(w);
		struct wire_header h = peer_receive(w, &p, WIRE_REFUSED, frame);
		assert_true(wire_refused_decode(frame, &h, &refused));
		assert_int_equal(refused.reason, WIRE_REFUSED_STALE_REGISTRATION);
		assert_in_range(refused.value, WORLD_WALL_MS, WORLD_WALL_MS + 10);
		world_register(w, &p, 1, refused.value + 1);
		world_pass(w, 10);
	}
	end(w);
	memory_log_free(&history);
}

static void a_draining_node_is_told(void **state)
{
	(void)state;
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header node;
	struct peer p = new_node(w, 1, 0, &node);
	struct command_node_drain drain = {.node = world_uuid(1), .deadline_ns = NS_PER_S};
	struct command c = {.type = COMMAND_NODE_DRAIN, .node_drain = &drain};
	assert_int_equal(world_beat(w, &p, &node, 1).directives, 0);
	world_run(w, &c);
	assert_int_equal(world_beat(w, &p, &node, 2).directives, WIRE_DIRECTIVE_DRAIN);
	end(w);
	w = world_create_with(1, &history, 1000);
	assert_int_equal(world_beat(w, &p, &node, 3).directives, WIRE_DIRECTIVE_DRAIN);
	drain = (struct command_node_drain){.node = world_uuid(1), .end = DRAIN_CANCELED};
	c = (struct command){.type = COMMAND_NODE_DRAIN, .node_drain = &drain};
	world_run(w, &c);
	assert_int_equal(world_beat(w, &p, &node, 4).directives, 0);
	end(w);
	memory_log_free(&history);
}

static struct wire_placed placed(struct world *w, struct peer *p, uint64_t request, uint8_t count)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_placed answer;
	send_place(w, p, "ci", request, count, "web", "g");
	world_settle(w);
	struct wire_header h = peer_receive(w, p, WIRE_PLACED, frame);
	assert_true(wire_placed_decode(frame, &h, &answer));
	return answer;
}

static struct wire_status_reply status(struct world *w, struct peer *p, uint64_t since)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_status ask = {.client = TEXT("ci"),
		.mode = WIRE_STATUS_CHANGES,
		.count = PLACE_COUNT_MAX,
		.since = since};
	struct wire_header header = {
		.type = WIRE_STATUS, .key_id = p->key_id, .slot = WIRE_NO_SLOT, .sequence = 1};
	peer_send(w, p, frame, wire_status_encode(frame, sizeof frame, header, &ask));
	world_settle(w);
	header = peer_receive(w, p, WIRE_STATUS_REPLY, frame);
	struct wire_status_reply reply;
	assert_true(wire_status_reply_decode(frame, &header, &reply));
	return reply;
}

static uint8_t released(struct world *w, struct peer *p, const struct uuid *id)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_ids ids = {.client = TEXT("ci"), .count = 1, .ids = {*id}};
	struct wire_header header = {
		.type = WIRE_RELEASE, .key_id = p->key_id, .slot = WIRE_NO_SLOT, .sequence = 1};
	peer_send(w, p, frame, wire_release_encode(frame, sizeof frame, header, &ids));
	world_settle(w);
	header = peer_receive(w, p, WIRE_RELEASED, frame);
	struct wire_released reply;
	assert_true(wire_released_decode(frame, &header, &reply));
	return reply.results[0];
}

// Each node has 7900 MHz for allocations: of 2000 each it takes three.
static void placements_and_what_becomes_of_them(void **state)
{
	(void)state;
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header nodes[2];
	struct peer peers[2] = {new_node(w, 1, 0, &nodes[0]), new_node(w, 2, 0, &nodes[1])};
	struct peer ci = client_peer(w, "ci", 0);
	add_job(w, "web", 2000);
	struct wire_placed first = placed(w, &ci, 1, 4);
	assert_int_equal(first.count, 4);
	struct wire_placed second = placed(w, &ci, 2, 4); // two more fit
	assert_int_equal(second.count, 2);
	assert_int_equal(second.requested, 4);
	uint8_t frame[FRAME_BYTES_MAX];
	send_place(w, &ci, "ci", 3, 1, "web", "g");
	world_settle(w);
	struct wire_header h = peer_receive(w, &ci, WIRE_REFUSED, frame);
	struct wire_refused refused;
	assert_true(wire_refused_decode(frame, &h, &refused));
	assert_int_equal(refused.reason, WIRE_REFUSED_NO_NODE);
	assert_int_equal(refused.nodes_seen, 2);
	assert_int_equal(refused.exhausted_cpu, 2);
	assert_int_equal(released(w, &ci, &first.items[0].allocation), WIRE_RELEASE_DONE);
	assert_int_equal(released(w, &ci, &first.items[0].allocation), WIRE_RELEASE_ALREADY);
	assert_int_equal(placed(w, &ci, 3, 1).count, 1);
	// The node's newest allocation index is told with its next heartbeat.
	assert_true(world_beat(w, &peers[0], &nodes[0], 1).alloc_index >= first.index);
	uint64_t index = status(w, &ci, 0).index;
	for (uint64_t i = 0; i < 3; i++) { // the second node falls silent
		world_pass(w, WORLD_TTL_MS / 2);
		world_beat(w, &peers[0], &nodes[0], 2 + i);
	}
	assert_int_equal(status_of(w, nodes[0].slot), NODE_READY);
	assert_int_equal(status_of(w, nodes[1].slot), NODE_DOWN);
	struct wire_status_reply changes = status(w, &ci, index);
	assert_int_equal(changes.count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(changes.items[i].client, ALLOC_LOST);
		assert_int_equal(changes.items[i].node_slot, nodes[1].slot);
	}
	end(w);
	memory_log_free(&history);
}

// The name of a request stands for what was asked first, before and after a restart.
static void asked_again_for_less(void **state)
{
	(void)state;
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header node, h;
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_refused refused;
	new_node(w, 1, 0, &node);
	struct peer ci = client_peer(w, "ci", 0);
	add_job(w, "web", 2500);
	struct wire_placed once = placed(w, &ci, 8, 1), in_part = placed(w, &ci, 9, 9);
	assert_int_equal(once.requested, 1);
	assert_int_equal(in_part.count, 2); // that is all of the node
	assert_int_equal(in_part.requested, 9);
	uint64_t wall_ns = w->clock.wall_ns;
	for (uint32_t round = 0; round < 2; round++) {
		w->clock.wall_ns = wall_ns;
		struct wire_placed again = placed(w, &ci, 9, 3);
		assert_int_equal(again.count, 2);
		assert_int_equal(again.requested, 9);
		assert_memory_equal(again.items, in_part.items, 2 * sizeof in_part.items[0]);
		assert_int_equal(placed(w, &ci, 8, 3).requested, 1);
		// There is no room for the answer in a frame for one.
		send_place(w, &ci, "ci", 9, 1, "web", "g");
		world_settle(w);
		h = peer_receive(w, &ci, WIRE_REFUSED, frame);
		assert_true(wire_refused_decode(frame, &h, &refused));
		assert_int_equal(refused.reason, WIRE_REFUSED_BAD_REQUEST);
		end(w);
		w = world_create_with(1, &history, 1000);
	}
	end(w);
	memory_log_free(&history);
}

static void asked_twice_answered_alike(void **state)
{
	(void)state;
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header node;
	new_node(w, 1, 0, &node);
	struct peer ci = client_peer(w, "ci", 0);
	add_job(w, "web", 1000);
	struct wire_placed once = placed(w, &ci, 9, 2), twice = placed(w, &ci, 9, 2);
	assert_int_equal(twice.count, 2);
	assert_memory_equal(twice.items, once.items, 2 * sizeof once.items[0]);
	assert_int_equal(twice.index, once.index);
	uint64_t wall_ns = w->clock.wall_ns;
	end(w);
	w = world_create_with(1, &history, 60000);
	struct manual_time now = w->clock;
	w->clock.wall_ns = wall_ns; // the request is named by when it was issued
	send_place(w, &ci, "ci", 9, 2, "web", "g");
	w->clock = now;
	world_settle(w);
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_header h = peer_receive(w, &ci, WIRE_PLACED, frame);
	assert_true(wire_placed_decode(frame, &h, &twice));
	assert_memory_equal(twice.items, once.items, 2 * sizeof once.items[0]);
	end(w);
	memory_log_free(&history);
}

// After a restart nobody is down for want of having been heard, keys are derived anew, and
// heartbeats of the old term are no sign of life.
static void restart(void **state)
{
	(void)state;
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(2, &history, 0);
	struct wire_header alive, silent, down;
	struct peer p = new_node(w, 1, 0, &alive), q = new_node(w, 3, 1, &silent);
	new_node(w, 2, 1, &down);
	for (uint64_t i = 1; i <= 3; i++) {
		world_pass(w, WORLD_TTL_MS / 2);
		world_beat(w, &p, &alive, i);
		world_beat(w, &q, &silent, i);
	}
	assert_int_equal(status_of(w, down.slot), NODE_DOWN);
	uint64_t old_term = state_node_table(w->core.state)->term;
	end(w);

	w = world_create_with(1, &history, 3600000); // an hour later, with one worker fewer
	assert_true(state_node_table(w->core.state)->term > old_term);
	p.wire = q.wire = 0;
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_header header = {.type = WIRE_HEARTBEAT,
		.key_id = p.key_id,
		.slot = alive.slot,
		.generation = alive.generation,
		.sequence = 3};
	struct wire_heartbeat stale = {.term = old_term};
	world_pass(w, WORLD_TTL_MS + WORLD_GRACE_MS - 2000);
	peer_send(w, &p, frame, wire_heartbeat_encode(frame, sizeof frame, header, &stale));
	world_settle(w);
	header = peer_receive(w, &p, WIRE_HEARTBEAT_ACK, frame);
	struct wire_heartbeat_ack ack;
	assert_true(wire_heartbeat_ack_decode(frame, &header, &ack));
	assert_true(ack.directives & WIRE_DIRECTIVE_RESYNC);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_STALE_TERM), 1);
	assert_int_equal(status_of(w, alive.slot), NODE_READY);
	assert_int_equal(status_of(w, silent.slot), NODE_READY);
	assert_int_equal(status_of(w, down.slot), NODE_DOWN);
	world_beat(w, &p, &alive, 4);
	world_pass(w, 3000);
	assert_int_equal(status_of(w, alive.slot), NODE_READY);
	assert_int_equal(status_of(w, silent.slot), NODE_DOWN);
	world_beat(w, &q, &silent, 4);
	assert_int_equal(status_of(w, silent.slot), NODE_READY);
	end(w);
	memory_log_free(&history);
}

// Stale heartbeats alone do not keep a node alive.
static void stale_term_is_no_sign_of_life(void **state)
{
	(void)state;
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header node;
	struct peer p = new_node(w, 1, 0, &node);
	uint64_t old_term = state_node_table(w->core.state)->term;
	end(w);
	w = world_create_with(1, &history, 1000);
	uint8_t frame[FRAME_BYTES_MAX];
	for (uint64_t i = 1; i <= 5; i++) {
		struct wire_header header = {.type = WIRE_HEARTBEAT,
			.key_id = p.key_id,
			.slot = node.slot,
			.generation = node.generation,
			.sequence = i};
		struct wire_heartbeat stale = {.term = old_term};
		peer_send(w, &p, frame, wire_heartbeat_encode(frame, sizeof frame, header, &stale));
		world_pass(w, WORLD_TTL_MS / 2);
		peer_receive(w, &p, WIRE_HEARTBEAT_ACK, frame);
	}
	assert_int_equal(status_of(w, node.slot), NODE_DOWN);
	end(w);
	memory_log_free(&history);
}

// A full disk refuses what may wait and takes what may not.
static void disk_full(void **state)
{
	(void)state;
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header node, h;
	struct peer p = new_node(w, 1, 0, &node), ci = client_peer(w, "ci", 0);
	add_job(w, "web", 1000);
	struct wire_placed one = placed(w, &ci, 1, 1);
	history.room_bytes = 0;
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_refused refused;
	send_place(w, &ci, "ci", 2, 1, "web", "g");
	world_settle(w);
	h = peer_receive(w, &ci, WIRE_REFUSED, frame);
	assert_true(wire_refused_decode(frame, &h, &refused));
	assert_int_equal(refused.reason, WIRE_REFUSED_STORE_FULL);
	assert_true(refused.retry_after_ms > 0);
	assert_int_equal(released(w, &ci, &one.items[0].allocation), WIRE_RELEASE_DONE);
	world_pass(w, WORLD_TTL_MS + 1000);
	assert_int_equal(status_of(w, node.slot), NODE_DOWN);
	world_beat(w, &p, &node, 1);
	assert_int_equal(status_of(w, node.slot), NODE_READY);
	history.room_bytes = INT64_MAX;
	assert_int_equal(placed(w, &ci, 2, 1).count, 1);
	end(w);
	memory_log_free(&history);
}

// Each worker's nodes lie in its own blocks.
static void slots_by_worker(void **state)
{
	(void)state;
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(2, &history, 0);
	for (uint32_t i = 0; i < 20; i++) {
		struct wire_header node;
		new_node(w, 100 + i, i % 2, &node);
		assert_int_equal(
			node_table_owner(state_node_table(w->core.state), node.slot), i % 2);
	}
	end(w);
	memory_log_free(&history);
}

#define CROWD 5000u

// A crowd: every one registers and beats, two thirds stay, exactly the others go down.
static void crowd(void **state)
{
	(void)state;
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(2, &history, 0);
	static struct peer peers[CROWD];
	static struct wire_header nodes[CROWD];
	uint8_t frame[FRAME_BYTES_MAX];
	for (uint32_t i = 0; i < CROWD; i++) {
		struct uuid id = world_uuid(i);
		peers[i] = node_peer(w, &id, i % 2);
		send_register(w, &peers[i], &id, WORLD_WALL_MS);
	}
	world_settle(w);
	for (uint32_t i = 0; i < CROWD; i++)
		nodes[i] = peer_receive(w, &peers[i], WIRE_REGISTERED, frame);
	for (uint64_t round = 1; round <= 4; round++) {
		for (uint32_t i = 0; i < CROWD; i++)
			if (i % 3 != 0 || round == 1)
				send_heartbeat(
					w, &peers[i], nodes[i].slot, nodes[i].generation, round);
		world_pass(w, WORLD_TTL_MS / 2);
		for (uint32_t i = 0; i < CROWD; i++)
			if (i % 3 != 0 || round == 1)
				peer_receive(w, &peers[i], WIRE_HEARTBEAT_ACK, frame);
	}
	for (uint32_t i = 0; i < CROWD; i++)
		assert_int_equal(status_of(w, nodes[i].slot), i % 3 != 0 ? NODE_READY : NODE_DOWN);
	struct state_counts counts;
	state_counts(w->core.state, &counts);
	assert_int_equal(counts.nodes[NODE_DOWN], (CROWD + 2) / 3);
	assert_int_equal(counts.nodes[NODE_READY], CROWD - (CROWD + 2) / 3);
	end(w);
	memory_log_free(&history);
}

// A purged node that is still there is told to register, and is a new one then; nothing that is meant for the
// old one reaches it.
static void purged_but_alive(void **state)
{
	(void)state;
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header old, node;
	uint8_t frame[FRAME_BYTES_MAX];
	struct peer p = new_node(w, 1, 0, &old);
	struct command purge = {.type = COMMAND_NODE_PURGE, .node_named = {.node = world_uuid(1)}};
	world_run(w, &purge);
	assert_int_equal(world_beat(w, &p, &old, 1).directives, WIRE_DIRECTIVE_REGISTER);
	struct uuid other_id = world_uuid(2);
	struct peer other = node_peer(w, &other_id, 0);
	rcu_barrier();
	node = world_register(w, &other, 2, WORLD_WALL_MS);
	assert_int_equal(node.slot, old.slot);
	assert_int_equal(node.generation, old.generation + 1);
	assert_int_equal(world_beat(w, &other, &node, 1).directives, 0);
	// The slot's key is another's now.
	send_heartbeat(w, &p, old.slot, old.generation, 2);
	world_settle(w);
	peer_hears_nothing(w, &p);
	node = world_register(w, &p, 1, WORLD_WALL_MS);
	assert_int_not_equal(node.slot, old.slot);
	world_beat(w, &p, &node, 1);
	// Silence of the one that is gone downs nobody.
	world_pass(w, WORLD_TTL_MS / 2);
	world_beat(w, &p, &node, 2);
	send_heartbeat(w, &other, old.slot, old.generation + 1, 2);
	world_settle(w);
	peer_receive(w, &other, WIRE_HEARTBEAT_ACK, frame);
	world_pass(w, WORLD_TTL_MS / 2 + 200);
	assert_int_equal(status_of(w, node.slot), NODE_READY);
	assert_int_equal(status_of(w, old.slot), NODE_READY);
	end(w);
	memory_log_free(&history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(purged_but_alive),
		cmocka_unit_test(life_of_a_node),
		cmocka_unit_test(readiness_is_asked_for_until_it_is_there),
		cmocka_unit_test(registered_again),
		cmocka_unit_test(placements_and_what_becomes_of_them),
		cmocka_unit_test(asked_twice_answered_alike),
		cmocka_unit_test(asked_again_for_less),
		cmocka_unit_test(a_registration_from_the_end_of_time),
		cmocka_unit_test(a_draining_node_is_told),
		cmocka_unit_test(restart),
		cmocka_unit_test(stale_term_is_no_sign_of_life),
		cmocka_unit_test(disk_full),
		cmocka_unit_test(slots_by_worker),
		cmocka_unit_test(crowd),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
