// What one key may ask: an attacker with the key of one client, or of one node, takes its own share and nobody else's.
#include "dataplane/hot/source.h"
#include "dataplane/requests/rates.h"
#include "dataplane/wire/wire_alloc.h"
#include "state/base/time_units.h"
#include "tests/dataplane/world.h"
#include "tests/support/core/slowness.h"
#include <string.h>

#define NODES 20u
#define NODE_RATE 50u
#define NODE_BURST 100u
#define CLIENT_RATE 1000u
#define CLIENT_BURST 200u

#define STEP_MS 10u
#define STEPS (1000u / BUILD_SLOWNESS)
#define FLOOD_PER_STEP 500u
// The applier's turns are far apart, as on a slow disk: an unbounded flood fills every request in between.
#define STEPS_PER_TURN 10u
#define CALM_SEQUENCE (1ull << 40)

static void limit(struct world *w)
{
	w->team->node_rule = bucket_rule(NODE_RATE, NODE_BURST);
	w->team->client_rule = bucket_rule(CLIENT_RATE, CLIENT_BURST);
	for (uint32_t i = 0; i < w->team->count; i++) {
		w->team->items[i].hot.node_rule = w->team->node_rule;
		w->team->items[i].hot.early_ms = WORLD_TTL_MS / 6;
	}
}

static struct world *limited_create(uint32_t workers, struct memory_log *log)
{
	memory_log_init(log);
	struct world *w = world_create_with(workers, log, 0);
	struct command c = {
		.type = COMMAND_JOB_REGISTER, .job_register = {.job = direct_job("web", 1, 1)}};
	world_run(w, &c);
	limit(w);
	return w;
}

static void limited_destroy(struct world *w, struct memory_log *log)
{
	world_settle(w);
	for (uint32_t i = 0; i < WORKER_REQUESTS_MAX / BURST_MAX; i++)
		world_turn(w, 0); // all that the applier finished is answered
	world_balances(w);
	world_is_quiet(w);
	world_destroy(w);
	memory_log_free(log);
}

static uint64_t beats_accepted(const struct world *w)
{
	return w->team->items[0].counters.heartbeats;
}

struct attack {
	struct world *w;
	struct peer nodes[NODES], calm, flood;
	struct wire_header registered[NODES];
	uint64_t beats, flooded, asked, placed, refused_calm;
	uint64_t waited_steps; // of the calm client, all in all
	uint64_t refused_flood, answered_flood;
};

static void attack_begin(struct attack *a, struct world *w)
{
	*a = (struct attack){.w = w};
	for (uint32_t i = 0; i < NODES; i++)
		a->nodes[i] = world_join(w, i + 1, 0, WORLD_WALL_MS, &a->registered[i]);
	a->calm = client_peer(w, "calm", 0);
	a->flood = client_peer(w, "flood", 0);
}

// Answers of the flood are no longer than what they answer, and tell when to come again.
static void take_flood(struct attack *a, const uint8_t *frame, const struct wire_header *h)
{
	struct wire_refused refused;
	assert_int_equal(h->type, WIRE_REFUSED);
	assert_true(wire_refused_decode(frame, h, &refused));
	assert_true(h->length <= a->flood.request_bytes);
	a->answered_flood++;
	if (refused.reason != WIRE_REFUSED_OVERLOADED)
		return;
	assert_true(refused.retry_after_ms >= 1);
	a->refused_flood++;
}

static void take_calm(struct attack *a, const struct wire_header *h, uint32_t step)
{
	if (h->type == WIRE_REFUSED)
		a->refused_calm++;
	else if (h->type == WIRE_PLACED)
		a->placed++;
	a->waited_steps += step - (uint32_t)(h->sequence - CALM_SEQUENCE);
}

static void take_answers(struct attack *a, uint32_t step)
{
	uint8_t data[PACKET_BYTES_MAX];
	uint32_t size;
	while ((size = memory_wire_get(a->w->wires[0], data, sizeof data)) > 0) {
		struct wire_header h;
		uint32_t offset = ETHER_BYTES + IPV4_BYTES + UDP_BYTES;
		if (packet_is_ipv6(data))
			continue; // answers to nodes
		assert_int_equal(wire_header_decode(data + offset, size - offset, &h), WIRE_OK);
		if (h.type == WIRE_HEARTBEAT_ACK || h.type == WIRE_NOTIFY)
			continue;
		if (h.sequence >= CALM_SEQUENCE)
			take_calm(a, &h, step);
		else
			take_flood(a, data + offset, &h);
	}
}

static void send_calm(struct attack *a, uint32_t step)
{
	send_place(a->w, &a->calm, "calm", CALM_SEQUENCE + step, 1, "web", "g");
	a->asked++;
}

static void beat(struct attack *a, uint32_t step)
{
	uint32_t interval = WORLD_TTL_MS / 3 / STEP_MS;
	for (uint32_t i = 0; i < NODES; i++) {
		if ((step + i * 7) % interval != 0)
			continue;
		send_heartbeat(a->w, &a->nodes[i], a->registered[i].slot,
			a->registered[i].generation, 1000 + step);
		a->beats++;
	}
}

static void attack_run(struct attack *a, uint32_t flood_per_step)
{
	for (uint32_t step = 0; step < STEPS; step++) {
		beat(a, step);
		for (uint32_t i = 0; i < flood_per_step; i++)
			send_place(a->w, &a->flood, "flood", ++a->flooded, 1, "nowhere", "g");
		if (step % STEPS_PER_TURN == STEPS_PER_TURN - 1)
			send_calm(a, step);
		for (uint32_t i = 0; i < flood_per_step / BURST_MAX + 2; i++)
			world_turn(a->w, 0);
		if (step % STEPS_PER_TURN == 0) {
			applier_step(a->w->core.applier);
			for (uint32_t i = 0; i < WORKER_REQUESTS_MAX / BURST_MAX + 1; i++)
				world_turn(a->w, 0);
		}
		take_answers(a, step);
		world_turn(a->w, STEP_MS);
	}
}

// Whether one floods or nobody does, the calm client and the fleet see the same.
static void a_flood_takes_its_own_share(void **unused)
{
	struct attack quiet, flooded;
	struct memory_log log;
	struct world *w = limited_create(1, &log);
	attack_begin(&quiet, w);
	attack_run(&quiet, 0);
	limited_destroy(w, &log);

	w = limited_create(1, &log);
	attack_begin(&flooded, w);
	uint64_t beats_before = beats_accepted(w);
	attack_run(&flooded, FLOOD_PER_STEP);
	assert_int_equal(flooded.refused_calm, 0);
	assert_int_equal(flooded.placed, quiet.placed);
	assert_true(quiet.placed >= quiet.asked - 1);
	assert_int_equal(flooded.waited_steps, quiet.waited_steps);
	assert_int_equal(beats_accepted(w) - beats_before, flooded.beats);
	assert_int_equal(w->team->items[0].counters.expired, 0);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_REQUESTS_FULL), 0);
	// Every request of the flood is answered, or counted, and no more than its share came through.
	uint64_t through = flooded.flooded - world_refused(w, 0, HOT_REFUSED_REQUEST_RATE);
	assert_in_range(through, CLIENT_RATE * STEPS * STEP_MS / 1000,
		CLIENT_BURST + CLIENT_RATE * STEPS * STEP_MS / 1000);
	assert_int_equal(flooded.refused_flood, world_refused(w, 0, HOT_REFUSED_REQUEST_RATE));
	struct noisy_sender noisiest[NOISY_SENDERS];
	assert_int_equal(noisy_gather(&w->team->items[0].noisy, noisiest, 0, NOISY_SENDERS), 1);
	assert_string_equal(noisiest[0].name, "flood");
	assert_int_equal(noisiest[0].kind, NOISY_CLIENT);
	assert_int_equal(noisiest[0].refused, flooded.refused_flood);
	limited_destroy(w, &log);
}

// Without a limit the same flood is everybody's: else the test above would show nothing.
static void without_a_limit_it_takes_everybodys(void **unused)
{
	struct attack a;
	struct memory_log log;
	struct world *w = limited_create(1, &log);
	w->team->client_rule = bucket_rule(0, 0);
	attack_begin(&a, w);
	attack_run(&a, FLOOD_PER_STEP);
	assert_true(a.refused_calm > 0);
	assert_true(world_refused(w, 0, HOT_REFUSED_REQUESTS_FULL) > 0);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_REQUEST_RATE), 0);
	limited_destroy(w, &log);
}

// What a placement asks for counts, not the frame.
static void instances_are_what_a_placement_costs(void **unused)
{
	struct memory_log log;
	struct world *w = limited_create(1, &log);
	struct wire_header registered;
	world_join(w, 1, 0, WORLD_WALL_MS, &registered);
	struct peer p = client_peer(w, "bulk", 0);
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_refused refused;
	for (uint32_t i = 0; i < CLIENT_BURST / 32; i++)
		send_place(w, &p, "bulk", i, 32, "nowhere", "g");
	world_settle(w);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_REQUEST_RATE), 0);
	for (uint32_t i = 0; i < CLIENT_BURST / 32; i++)
		peer_receive(w, &p, WIRE_REFUSED, frame);
	send_place(w, &p, "bulk", 100, 32, "nowhere", "g");
	world_settle(w);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_REQUEST_RATE), 1);
	struct wire_header h = peer_receive(w, &p, WIRE_REFUSED, frame);
	assert_true(wire_refused_decode(frame, &h, &refused));
	assert_int_equal(refused.reason, WIRE_REFUSED_OVERLOADED);
	assert_int_equal(refused.request_type, WIRE_PLACE);
	assert_in_range(refused.retry_after_ms, 1, 32 * 1000 / CLIENT_RATE + 1);
	// After so long it is heard.
	manual_time_advance_ms(&w->clock, refused.retry_after_ms);
	send_place(w, &p, "bulk", 100, 32, "web", "g");
	world_settle(w);
	peer_receive(w, &p, WIRE_PLACED, frame);
	limited_destroy(w, &log);
}

static void ask_allocs(
	struct world *w, struct peer *p, const struct wire_header *registered, uint64_t sequence)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_allocs ask = {.count = 1};
	peer_send(w, p, frame,
		wire_allocs_encode(
			frame, sizeof frame, node_header(p, registered, sequence), &ask));
}

// Questions, reports and registrations of one node; the others, and its own heartbeats in time, go on.
static void a_node_takes_its_own_share(void **unused)
{
	struct memory_log log;
	struct world *w = limited_create(2, &log);
	struct wire_header noisy, other;
	struct peer p = world_join(w, 1, 0, WORLD_WALL_MS, &noisy);
	struct peer q = world_join(w, 2, 0, WORLD_WALL_MS, &other);
	uint8_t frame[FRAME_BYTES_MAX];
	uint64_t heard = 0;
	for (uint32_t step = 0; step < 100; step++) {
		for (uint32_t i = 0; i < 20; i++) {
			p.wire = i % 2; // its flows reach both workers: the share is the same
			ask_allocs(w, &p, &noisy, step * 20 + i + 1);
		}
		ask_allocs(w, &q, &other, step + 1);
		if (step % 33 == 0) {
			p.wire = 0;
			send_heartbeat(w, &p, noisy.slot, noisy.generation, step + 1);
			heard++;
		}
		world_turn(w, 0);
		world_turn(w, 100);
	}
	uint64_t refused = world_refused(w, 0, HOT_REFUSED_REQUEST_RATE) +
			   world_refused(w, 1, HOT_REFUSED_REQUEST_RATE);
	assert_in_range(2000 - refused, 10 * NODE_RATE, NODE_BURST + 10 * NODE_RATE);
	assert_int_equal(beats_accepted(w), heard);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_BEAT_RATE), 0);
	struct noisy_sender s[NOISY_SENDERS];
	uint32_t count = noisy_gather(&w->team->items[0].noisy, s, 0, NOISY_SENDERS);
	count = noisy_gather(&w->team->items[1].noisy, s, count, NOISY_SENDERS);
	char name[UUID_TEXT_BYTES];
	struct uuid id = world_uuid(1);
	assert_int_equal(count, 1);
	assert_int_equal(s[0].kind, NOISY_NODE);
	assert_string_equal(s[0].name, uuid_format(&id, name));
	assert_int_equal(s[0].refused, refused);
	while (memory_wire_get(w->wires[0], frame, sizeof frame) > 0)
		;
	// A registration has a bucket of its own, which whoever heard one may empty.
	send_register(w, &p, &id, WORLD_WALL_MS + 1);
	world_settle(w);
	peer_receive(w, &p, WIRE_REGISTERED, frame);
	limited_destroy(w, &log);
}

// A registration that somebody sends on and on takes none of what its node needs.
static void registrations_have_a_share_of_their_own(void **unused)
{
	struct memory_log log;
	struct world *w = limited_create(1, &log);
	struct wire_header registered;
	struct peer p = world_join(w, 1, 0, WORLD_WALL_MS, &registered);
	struct uuid id = world_uuid(1);
	uint8_t frame[FRAME_BYTES_MAX];
	for (uint32_t i = 0; i < 3 * NODE_BURST; i++)
		send_register(w, &p, &id, WORLD_WALL_MS);
	world_settle(w);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_REQUEST_RATE), 2 * NODE_BURST + 1);
	while (memory_wire_get(w->wires[0], frame, sizeof frame) > 0)
		;
	ask_allocs(w, &p, &registered, 1);
	world_settle(w);
	peer_receive(w, &p, WIRE_ALLOCS_REPLY, frame);
	limited_destroy(w, &log);
}

// Heartbeats too soon take from the node's bucket; those in time are heard although it is empty.
static void heartbeats_in_time_cost_nothing(void **unused)
{
	struct memory_log log;
	struct world *w = limited_create(1, &log);
	struct wire_header registered;
	struct peer p = world_join(w, 1, 0, WORLD_WALL_MS, &registered);
	uint8_t frame[FRAME_BYTES_MAX];
	uint64_t sequence = 0;
	for (uint32_t i = 0; i < 5 * NODE_BURST; i++)
		send_heartbeat(w, &p, registered.slot, registered.generation, ++sequence);
	world_settle(w);
	assert_int_equal(beats_accepted(w), NODE_BURST);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_BEAT_RATE), 4 * NODE_BURST);
	for (uint32_t i = 0; i < NODE_BURST; i++)
		peer_receive(w, &p, WIRE_HEARTBEAT_ACK, frame);
	peer_hears_nothing(w, &p); // what is too much has no answer
	for (uint32_t i = 0; i < 100; i++) {
		for (uint32_t j = 0; j < 2 * NODE_RATE * WORLD_TTL_MS / 3000; j++)
			ask_allocs(w, &p, &registered, 1);
		world_pass(w, WORLD_TTL_MS / 3);
		send_heartbeat(w, &p, registered.slot, registered.generation, ++sequence);
		world_settle(w);
		while (memory_wire_get(w->wires[0], frame, sizeof frame) > 0)
			;
		assert_int_equal(beats_accepted(w), NODE_BURST + i + 1);
	}
	assert_int_equal(w->team->items[0].counters.expired, 0);
	// A frame that somebody sends again takes nothing from the bucket: it is refused before.
	struct node_line *line = node_table_line(w->team->items[0].hot.table, registered.slot);
	uint64_t full_at_ns = line->bucket;
	for (uint32_t i = 0; i < 10; i++)
		send_heartbeat(w, &p, registered.slot, registered.generation, sequence);
	world_settle(w);
	assert_int_equal(line->bucket, full_at_ns);
	limited_destroy(w, &log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flood_takes_its_own_share),
		cmocka_unit_test(without_a_limit_it_takes_everybodys),
		cmocka_unit_test(instances_are_what_a_placement_costs),
		cmocka_unit_test(a_node_takes_its_own_share),
		cmocka_unit_test(registrations_have_a_share_of_their_own),
		cmocka_unit_test(heartbeats_in_time_cost_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
