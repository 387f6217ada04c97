// Requests and their answers over arrays. The applier's part is played by hand, so that every
// outcome can be had.
#include "tests/dataplane/world.h"
#include <string.h>

static void registration(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	uint8_t frame[FRAME_BYTES_MAX];
	struct uuid id = world_uuid(5);
	struct peer p = node_peer(w, &id, 0);
	world_slot(w, 5, 0);
	send_register(w, &p, &id, 1234);
	world_turn(w, 1);
	struct command *c = world_command(w, COMMAND_NODE_REGISTER);
	struct node_registration *r = c->node_register;
	assert_true(uuid_equal(&r->node, &id));
	assert_int_equal(r->sequence, 1234);
	assert_int_equal(r->parts, 1);
	assert_int_equal(r->worker, 0);
	assert_int_equal(r->total.cpu_mhz, 8000);
	assert_int_equal(r->reserved.cpu_mhz, 100);
	assert_true(text_equal(r->name, TEXT("node-a")));
	assert_int_equal(r->pair_count, 1);
	assert_true(text_equal(r->pairs[0].value, TEXT("linux")));
	peer_hears_nothing(w, &p); // not before it is durable
	r->slot = 5;
	r->generation = 9;
	r->owner = 0;
	struct doorbell *bell = &w->team->items[0].doorbell;
	doorbell_lie_down(bell);
	world_finish(c, OUTCOME_DONE);
	assert_false(atomic_load(&bell->rests)); // it was rung for
	world_turn(w, 1);
	struct wire_header h = peer_receive(w, &p, WIRE_REGISTERED, frame);
	struct wire_heartbeat_ack ack;
	assert_true(wire_heartbeat_ack_decode(frame, &h, &ack));
	assert_int_equal(h.slot, 5);
	assert_int_equal(h.generation, 9);
	assert_int_equal(h.sequence, 1234);
	assert_int_equal(ack.term, WORLD_TERM);
	assert_int_equal(ack.ttl_ms, WORLD_TTL_MS);
	send_heartbeat(w, &p, 5, 9, 1);
	world_turn(w, 1);
	peer_receive(w, &p, WIRE_HEARTBEAT_ACK, frame);
	c = world_command(w, COMMAND_NODE_RETURNED); // the first one is news
	assert_int_equal(c->node.slot, 5);
	assert_int_equal(c->node.generation, 9);
	world_finish(c, OUTCOME_DONE);
	send_heartbeat(w, &p, 5, 9, 2);
	world_turn(w, 1);
	world_no_command(w);
	world_balances(w);
	world_is_quiet(w);
	world_destroy(w);
}

// The answer goes out where the request came in, after the owner has installed the line.
static void registration_of_anothers_slot(void **state)
{
	(void)state;
	struct world *w = world_create(2);
	uint8_t frame[FRAME_BYTES_MAX];
	struct uuid id = world_uuid(5);
	struct peer p = node_peer(w, &id, 1);
	world_slot(w, 5, 0);
	send_register(w, &p, &id, 1234);
	state_reader_online();
	packet_worker_step(&w->team->items[1]);
	struct command *c = world_command(w, COMMAND_NODE_REGISTER);
	assert_int_equal(c->node_register->worker, 1);
	c->node_register->slot = 5;
	c->node_register->generation = 2;
	c->node_register->owner = 0;
	doorbell_lie_down(&w->team->items[0].doorbell);
	doorbell_lie_down(&w->team->items[1].doorbell);
	world_finish(c, OUTCOME_DONE);
	assert_false(atomic_load(&w->team->items[0].doorbell.rests));
	assert_true(atomic_load(&w->team->items[1].doorbell.rests));
	const struct node_line *line = node_table_line(state_node_table(w->core.state), 5);
	packet_worker_step(&w->team->items[1]);
	peer_hears_nothing(w, &p);
	assert_int_equal(line->generation, 0);
	packet_worker_step(&w->team->items[0]);
	assert_false(atomic_load(&w->team->items[1].doorbell.rests));
	assert_int_equal(line->generation, 2);
	peer_hears_nothing(w, &p);
	uint8_t other[PACKET_BYTES_MAX];
	assert_int_equal(memory_wire_get(w->wires[0], other, sizeof other), 0);
	packet_worker_step(&w->team->items[1]);
	state_reader_offline();
	peer_receive(w, &p, WIRE_REGISTERED, frame);
	world_is_quiet(w);
	world_destroy(w);
}

// A REGISTER that is asked again, by the node or by somebody who recorded it, must not let old
// heartbeats count again.
static void repeated_registration_keeps_the_window(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	uint8_t frame[FRAME_BYTES_MAX];
	struct peer p = world_node(w, 7, 1, 0, 0);
	struct uuid id = world_uuid(7);
	send_heartbeat(w, &p, 7, 1, 10);
	world_turn(w, 1);
	peer_receive(w, &p, WIRE_HEARTBEAT_ACK, frame);
	world_pass(w, WORLD_TTL_MS / 2);
	uint32_t heard_ms = atomic_load(&state_node_table(w->core.state)->last_heard_ms[7]);
	send_register(w, &p, &id, WORLD_WALL_MS);
	world_turn(w, 1);
	struct command *c = world_command(w, COMMAND_NODE_REGISTER);
	c->node_register->slot = 7;
	c->node_register->generation = 1;
	c->node_register->owner = 0;
	world_finish(c, OUTCOME_DONE);
	world_turn(w, 1);
	peer_receive(w, &p, WIRE_REGISTERED, frame);
	assert_int_equal(atomic_load(&state_node_table(w->core.state)->last_heard_ms[7]), heard_ms);
	send_heartbeat(w, &p, 7, 1, 10);
	world_turn(w, 1);
	peer_hears_nothing(w, &p);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_REPLAY), 1);
	world_balances(w);
	world_destroy(w);
}

static void part_of_a_registration_has_no_answer(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	struct uuid id = world_uuid(1);
	struct peer p = node_peer(w, &id, 0);
	send_register(w, &p, &id, 1);
	world_turn(w, 1);
	world_finish(world_command(w, COMMAND_NODE_REGISTER), OUTCOME_PART_STORED);
	world_turn(w, 1);
	peer_hears_nothing(w, &p);
	world_is_quiet(w);
	world_destroy(w);
}

static void placement(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	uint8_t frame[FRAME_BYTES_MAX];
	struct peer p = client_peer(w, "ci", 0);
	send_place(w, &p, "ci", 77, 3, "web", "front");
	world_turn(w, 1);
	struct command *c = world_command(w, COMMAND_PLACE);
	struct command_place *place = c->place;
	assert_true(text_equal(place->client, TEXT("ci")));
	assert_true(text_equal(place->namespace_name, TEXT("default")));
	assert_true(text_equal(place->job, TEXT("web")));
	assert_true(text_equal(place->group, TEXT("front")));
	assert_int_equal(place->request, 77);
	assert_int_equal(place->count, 3);
	assert_int_equal(place->issued_ms, WORLD_WALL_MS);
	place->placed = 2; // the fleet ran out
	place->requested = 3;
	place->nodes_feasible = 11;
	for (uint32_t i = 0; i < 2; i++)
		place->items[i] = (struct placed_item){.allocation = world_uuid(100 + i),
			.node = world_uuid(200 + i),
			.score = 0.5 + i};
	c->index = 4242;
	world_finish(c, OUTCOME_DONE);
	world_turn(w, 1);
	struct wire_header h = peer_receive(w, &p, WIRE_PLACED, frame);
	struct wire_placed placed;
	assert_true(wire_placed_decode(frame, &h, &placed));
	assert_int_equal(h.sequence, 77);
	assert_int_equal(placed.index, 4242);
	assert_int_equal(placed.count, 2);
	assert_int_equal(placed.requested, 3);
	assert_int_equal(placed.nodes_feasible, 11);
	struct uuid allocation = world_uuid(101), node = world_uuid(201);
	assert_true(uuid_equal(&placed.items[1].allocation, &allocation));
	assert_true(uuid_equal(&placed.items[1].node, &node));
	assert_true(placed.items[1].score == 1.5);
	world_balances(w);
	world_is_quiet(w);
	world_destroy(w);
}

// The largest answers fit the requests that ask for them.
static void release_and_status_of_most(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	uint8_t frame[FRAME_BYTES_MAX];
	struct peer p = client_peer(w, "ci", 0);
	struct wire_header header = {.key_id = p.key_id, .slot = WIRE_NO_SLOT, .sequence = 5};
	struct wire_ids ids = {.client = TEXT("ci"), .count = PLACE_COUNT_MAX};
	struct wire_status ask = {.client = TEXT("ci"), .count = PLACE_COUNT_MAX};
	for (uint32_t i = 0; i < PLACE_COUNT_MAX; i++)
		ids.ids[i] = ask.ids[i] = world_uuid(i);
	header.type = WIRE_RELEASE;
	peer_send(w, &p, frame, wire_release_encode(frame, sizeof frame, header, &ids));
	world_turn(w, 1);
	struct command *c = world_command(w, COMMAND_RELEASE);
	assert_false(c->release->any_client);
	assert_memory_equal(c->release->ids, ids.ids, sizeof ids.ids);
	c->release->results[31] = RELEASE_UNKNOWN;
	world_finish(c, OUTCOME_DONE);
	world_turn(w, 1);
	struct wire_header h = peer_receive(w, &p, WIRE_RELEASED, frame);
	struct wire_released released;
	assert_true(wire_released_decode(frame, &h, &released));
	assert_int_equal(released.results[31], WIRE_RELEASE_UNKNOWN);
	assert_int_equal(released.results[30], WIRE_RELEASE_DONE);
	header.type = WIRE_STATUS;
	peer_send(w, &p, frame, wire_status_encode(frame, sizeof frame, header, &ask));
	world_turn(w, 1);
	c = world_command(w, COMMAND_STATUS);
	assert_memory_equal(c->status->ids, ask.ids, sizeof ask.ids);
	c->status->found = PLACE_COUNT_MAX;
	c->status->index = 99;
	c->status->items[31] = (struct status_item){.allocation = world_uuid(31),
		.modify_index = 98,
		.node_slot = 6,
		.desired = ALLOC_STOP,
		.client_status = ALLOC_LOST,
		.known = true};
	world_finish(c, OUTCOME_DONE);
	world_turn(w, 1);
	h = peer_receive(w, &p, WIRE_STATUS_REPLY, frame);
	struct wire_status_reply reply;
	assert_true(wire_status_reply_decode(frame, &h, &reply));
	assert_int_equal(reply.index, 99);
	assert_int_equal(reply.count, PLACE_COUNT_MAX);
	assert_int_equal(reply.items[31].client, ALLOC_LOST);
	assert_int_equal(reply.items[31].node_slot, 6);
	assert_int_equal(reply.items[31].known, 1);
	world_is_quiet(w);
	world_destroy(w);
}

static const struct {
	enum command_outcome outcome;
	uint8_t reason;
	bool again; // a time to wait is told
} told[] = {
	{OUTCOME_STALE_GENERATION, WIRE_REFUSED_STALE_GENERATION, false},
	{OUTCOME_STALE_REGISTRATION, WIRE_REFUSED_STALE_REGISTRATION, false},
	{OUTCOME_BAD_DESCRIPTION, WIRE_REFUSED_BAD_DESCRIPTION, false},
	{OUTCOME_UNKNOWN_NODE, WIRE_REFUSED_STALE_GENERATION, false},
	{OUTCOME_UNKNOWN_JOB, WIRE_REFUSED_UNKNOWN_JOB, false},
	{OUTCOME_UNKNOWN_GROUP, WIRE_REFUSED_UNKNOWN_GROUP, false},
	{OUTCOME_NOT_DIRECT, WIRE_REFUSED_NOT_DIRECT, false},
	{OUTCOME_JOB_STOPPED, WIRE_REFUSED_JOB_STOPPED, false},
	{OUTCOME_NO_NODE, WIRE_REFUSED_NO_NODE, false},
	{OUTCOME_TOO_OLD, WIRE_REFUSED_TOO_OLD, false},
	{OUTCOME_CONFLICT, WIRE_REFUSED_CONFLICT, false},
	{OUTCOME_UNKNOWN_ALLOCATION, WIRE_REFUSED_UNKNOWN_ALLOCATION, false},
	{OUTCOME_NODE_NOT_ALLOWED, WIRE_REFUSED_NOT_ALLOWED, true},
	{OUTCOME_DRAINING, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_REJECTED, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_UNKNOWN_DEPLOYMENT, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_UNKNOWN_VERSION, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_TERMINAL, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_NOT_NOW, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_UNKNOWN_VM, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_UNKNOWN_WORKER, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_UNKNOWN_POOL, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_UNKNOWN_POLICY, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_UNKNOWN_ROLE, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_UNKNOWN_TOKEN, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_UNKNOWN_VARIABLE, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_TABLE_FULL, WIRE_REFUSED_TABLE_FULL, true},
	{OUTCOME_STORE_FULL, WIRE_REFUSED_STORE_FULL, true},
	{OUTCOME_STOPPING, WIRE_REFUSED_STOPPING, true},
	{OUTCOME_UNKNOWN_NAMESPACE, WIRE_REFUSED_UNKNOWN_JOB, false},
	{OUTCOME_UNKNOWN_QUOTA, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_CLIENT_NOT_ALLOWED, WIRE_REFUSED_CLIENT_NOT_ALLOWED, false},
	{OUTCOME_REVOKED, WIRE_REFUSED_NOT_ADMITTED, true},
	{OUTCOME_NOT_ADMITTED, WIRE_REFUSED_NOT_ADMITTED, true},
	{OUTCOME_UNKNOWN_SENDER, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_UNKNOWN_RULE, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_QUOTA_EXHAUSTED, WIRE_REFUSED_QUOTA, false},
	{OUTCOME_QUARANTINED, WIRE_REFUSED_QUARANTINED, true},
	{OUTCOME_UNKNOWN_QUARANTINE, WIRE_REFUSED_BAD_REQUEST, false},
	{OUTCOME_LOG_AWAY, WIRE_REFUSED_OVERLOADED, true},
};

// Every outcome but done and part-stored is told to who asked.
static void every_refusal(void **state)
{
	(void)state;
	assert_int_equal(sizeof told / sizeof told[0], COMMAND_OUTCOMES - 2);
	struct world *w = world_create(1);
	uint8_t frame[FRAME_BYTES_MAX];
	struct uuid id = world_uuid(1);
	struct peer p = node_peer(w, &id, 0);
	for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
		send_register(w, &p, &id, 50 + i);
		world_turn(w, 1);
		struct command *c = world_command(w, COMMAND_NODE_REGISTER);
		c->node_register->newest_sequence = 777;
		world_finish(c, told[i].outcome);
		world_turn(w, 1);
		struct wire_header h = peer_receive(w, &p, WIRE_REFUSED, frame);
		struct wire_refused refused;
		assert_true(wire_refused_decode(frame, &h, &refused));
		assert_int_equal(h.sequence, 50 + i);
		assert_int_equal(refused.request_type, WIRE_REGISTER);
		assert_int_equal(refused.reason, told[i].reason);
		assert_int_equal(refused.retry_after_ms > 0, told[i].again);
		assert_int_equal(
			refused.value, told[i].outcome == OUTCOME_STALE_REGISTRATION ? 777 : 0);
	}
	world_is_quiet(w);
	world_destroy(w);
}

static void refusal_in_numbers(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	uint8_t frame[FRAME_BYTES_MAX];
	struct peer p = client_peer(w, "ci", 0);
	send_place(w, &p, "ci", 1, 1, "web", "front");
	world_turn(w, 1);
	struct command *c = world_command(w, COMMAND_PLACE);
	c->place->refusal = (struct place_refusal){.nodes_seen = 100,
		.nodes_not_ready = 1,
		.filtered_datacenter = 2,
		.filtered_class = 3,
		.filtered_device = 4,
		.exhausted_cpu = 5,
		.exhausted_memory = 6,
		.exhausted_disk = 7,
		.exhausted_device = 8,
		.constraint_count = 3,
		.filtered_constraint = {9, 10, 11}};
	world_finish(c, OUTCOME_NO_NODE);
	world_turn(w, 1);
	struct wire_header h = peer_receive(w, &p, WIRE_REFUSED, frame);
	struct wire_refused r;
	assert_true(wire_refused_decode(frame, &h, &r));
	assert_int_equal(r.nodes_seen, 100);
	assert_int_equal(r.nodes_not_ready, 1);
	assert_int_equal(r.filtered_datacenter, 2);
	assert_int_equal(r.filtered_class, 3);
	assert_int_equal(r.filtered_device, 4);
	assert_int_equal(r.exhausted_cpu, 5);
	assert_int_equal(r.exhausted_memory, 6);
	assert_int_equal(r.exhausted_disk, 7);
	assert_int_equal(r.exhausted_device, 8);
	assert_int_equal(r.filter_count, 3);
	assert_int_equal(r.filters[2], 11);
	world_destroy(w);
}

// While the daemon stops nobody is left without an answer.
static void stopping(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_refused refused;
	struct peer p = client_peer(w, "ci", 0);
	send_place(w, &p, "ci", 1, 1, "web", "front");
	world_turn(w, 1);
	struct command *c = world_command(w, COMMAND_PLACE); // under way
	atomic_store(&w->team->refuses, true);
	for (uint32_t i = 0; i < 2; i++) {
		if (i == 0)
			send_place(w, &p, "ci", 2, 1, "web", "front");
		else
			world_finish(c, OUTCOME_STOPPING);
		world_turn(w, 1);
		struct wire_header h = peer_receive(w, &p, WIRE_REFUSED, frame);
		assert_int_equal(h.sequence, 2 - i);
		assert_true(wire_refused_decode(frame, &h, &refused));
		assert_int_equal(refused.reason, WIRE_REFUSED_STOPPING);
		assert_int_equal(refused.retry_after_ms, RETRY_STOPPING_MS);
	}
	world_no_command(w);
	world_balances(w);
	world_is_quiet(w);
	world_destroy(w);
}

// Nobody takes commands: what does not fit is refused, said and counted; what fits is answered
// later.
static void overload(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	uint8_t frame[FRAME_BYTES_MAX];
	const struct hot_counters *counters = &w->team->items[0].counters;
	struct peer p = client_peer(w, "ci", 0);
	const uint32_t sent = WORKER_REQUESTS_MAX + 500;
	for (uint32_t i = 0; i < sent; i++)
		send_place(w, &p, "ci", i, 1, "web", "front");
	for (uint32_t i = 0; i <= sent / BURST_MAX; i++)
		world_turn(w, 1);
	uint32_t taken = (uint32_t)counters->requests;
	assert_true(taken >= WORKER_REQUESTS_MAX - 1 && taken <= WORKER_REQUESTS_MAX);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_REQUESTS_FULL), sent - taken);
	for (uint32_t i = taken; i < sent; i++) {
		struct wire_header h = peer_receive(w, &p, WIRE_REFUSED, frame);
		struct wire_refused refused;
		assert_true(wire_refused_decode(frame, &h, &refused));
		assert_int_equal(h.sequence, i);
		assert_int_equal(refused.reason, WIRE_REFUSED_OVERLOADED);
		assert_true(refused.retry_after_ms > 0);
	}
	peer_hears_nothing(w, &p);
	world_balances(w);
	for (uint32_t i = 0; i < taken; i++)
		world_finish(world_command(w, COMMAND_PLACE), OUTCOME_UNKNOWN_JOB);
	for (uint32_t i = 0; i <= taken / BURST_MAX; i++)
		world_turn(w, 1);
	for (uint32_t i = 0; i < taken; i++)
		assert_int_equal(peer_receive(w, &p, WIRE_REFUSED, frame).sequence, i);
	world_is_quiet(w);
	send_place(w, &p, "ci", 1, 1, "web", "front");
	world_turn(w, 1);
	world_finish(world_command(w, COMMAND_PLACE), OUTCOME_UNKNOWN_JOB);
	world_destroy(w);
}

static void wrong_keys(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	struct uuid id = world_uuid(1);
	struct peer node = node_peer(w, &id, 0), client = client_peer(w, "ci", 0);
	node.key.k[0] ^= 1;
	send_register(w, &node, &id, 1);
	send_place(w, &client, "somebody-else", 1, 1, "web", "front");
	client.key_id = 200;
	send_place(w, &client, "ci", 1, 1, "web", "front");
	world_turn(w, 1);
	world_no_command(w);
	peer_hears_nothing(w, &node);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_BAD_TAG), 2);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_UNKNOWN_KEY), 1);
	world_balances(w);
	world_destroy(w);
}

// Signed, but not what it says it is: PLACE for no instances, REGISTER with bytes behind its end.
static void bad_bodies(void **state)
{
	(void)state;
	struct world *w = world_create(1);
	uint8_t frame[FRAME_BYTES_MAX] = {0};
	struct peer p = client_peer(w, "ci", 0);
	struct wire_place place = {
		.client = TEXT("ci"), .count = 1, .job = TEXT("j"), .group = TEXT("g")};
	struct wire_header header = {
		.type = WIRE_PLACE, .key_id = p.key_id, .slot = WIRE_NO_SLOT, .sequence = 9};
	uint32_t bytes = wire_place_encode(frame, sizeof frame, header, &place);
	frame[WIRE_HEADER_BYTES + 3 + 16] = 0; // count, behind client and two words
	peer_send(w, &p, frame, bytes);
	world_turn(w, 1);
	world_no_command(w);
	struct wire_header h = peer_receive(w, &p, WIRE_REFUSED, frame);
	struct wire_refused refused;
	assert_true(wire_refused_decode(frame, &h, &refused));
	assert_int_equal(refused.reason, WIRE_REFUSED_BAD_REQUEST);
	assert_int_equal(refused.request_type, WIRE_PLACE);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_BAD_BODY), 1);
	world_balances(w);
	world_is_quiet(w);
	world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registration),
		cmocka_unit_test(registration_of_anothers_slot),
		cmocka_unit_test(repeated_registration_keeps_the_window),
		cmocka_unit_test(part_of_a_registration_has_no_answer),
		cmocka_unit_test(placement),
		cmocka_unit_test(release_and_status_of_most),
		cmocka_unit_test(every_refusal),
		cmocka_unit_test(refusal_in_numbers),
		cmocka_unit_test(overload),
		cmocka_unit_test(stopping),
		cmocka_unit_test(wrong_keys),
		cmocka_unit_test(bad_bodies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
