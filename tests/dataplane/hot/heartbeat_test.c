// Heartbeats one at a time: what is accepted, what is refused, what is answered, what it leaves in the line.
#include "dataplane/wire/wire.h"
#include "tests/dataplane/hot/fleet.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SLOT 4u

struct beat {
	struct wire_header header;
	struct wire_heartbeat body;
	uint8_t key_id;
	bool reserved_set;
};

static struct beat beat_of(uint32_t slot, uint64_t sequence)
{
	return (struct beat){.header = fleet_header(slot, sequence),
		.body = {.term = FLEET_TERM, .alloc_index = 5, .load_permille = 10},
		.key_id = 1};
}

// Signs and sends; the answer, if any, is checked and decoded.
struct answer {
	bool is;
	struct wire_header header;
	uint8_t frame[FRAME_BYTES_MAX];
};

static struct answer send_frame(
	struct fleet *f, const uint8_t *frame, uint32_t bytes, const struct wire_key *key)
{
	struct answer answer = {0};
	struct route route = route_from(9, false, false);
	uint8_t data[PACKET_BYTES_MAX];
	uint32_t size = udp_build(&route, frame, bytes, data);
	uint64_t replies = f->counters.replies;
	struct packet p = fleet_receive(f, data, size);
	assert_true(fleet_balances(f));
	assert_int_equal(f->counters.replies, replies + (p.verdict == PACKET_REPLY));
	if (p.verdict != PACKET_REPLY)
		return answer;
	uint32_t answer_bytes;
	const uint8_t *reply = reply_check(&route, &p, size, &answer_bytes);
	assert_true(wire_verify(key, reply, answer_bytes));
	assert_int_equal(wire_header_decode(reply, answer_bytes, &answer.header), WIRE_OK);
	memcpy(answer.frame, reply, answer_bytes);
	answer.is = true;
	return answer;
}

static struct answer send_beat(struct fleet *f, struct beat b)
{
	uint8_t frame[FRAME_BYTES_MAX];
	b.header.key_id = b.key_id;
	uint32_t bytes = wire_heartbeat_encode(frame, sizeof frame, b.header, &b.body);
	frame[44] = b.reserved_set;
	struct wire_key key = fleet_key(f, b.header.slot, b.key_id == 2 ? 2 : 1);
	wire_sign(&key, frame, bytes);
	return send_frame(f, frame, bytes, &key);
}

static void check_ack(
	const struct fleet *f, const struct answer *a, const struct beat *b, uint32_t directives)
{
	struct wire_heartbeat_ack ack;
	assert_true(a->is);
	assert_int_equal(a->header.type, WIRE_HEARTBEAT_ACK);
	assert_int_equal(a->header.slot, b->header.slot);
	assert_int_equal(a->header.generation, b->header.generation);
	assert_int_equal(a->header.sequence, b->header.sequence);
	assert_int_equal(a->header.key_id, b->key_id);
	assert_true(wire_heartbeat_ack_decode(a->frame, &a->header, &ack));
	assert_int_equal(ack.term, FLEET_TERM);
	assert_int_equal(ack.alloc_index, 100 + b->header.slot);
	assert_int_equal(ack.ttl_ms, FLEET_TTL_MS);
	assert_int_equal(ack.directives, directives);
}

static void check_refused(const struct answer *a, enum wire_refusal reason)
{
	struct wire_refused refused;
	assert_true(a->is);
	assert_int_equal(a->header.type, WIRE_REFUSED);
	assert_true(wire_refused_decode(a->frame, &a->header, &refused));
	assert_int_equal(refused.reason, reason);
	assert_int_equal(refused.request_type, WIRE_HEARTBEAT);
}

static uint32_t heard(const struct fleet *f, uint32_t slot)
{
	return f->table->last_heard_ms[slot];
}

static void accepted_heartbeat_updates_its_line_and_nothing_else(void **state)
{
	struct fleet *f = fleet_create();
	struct node_line before[FLEET_NODES];
	memcpy(before, f->table->lines, sizeof before);
	struct beat b = beat_of(SLOT, 77);
	f->worker.now_ms = 5000;
	struct answer a = send_beat(f, b);
	check_ack(f, &a, &b, 0);
	assert_int_equal(f->counters.heartbeats, 1);
	assert_int_equal(heard(f, SLOT), 5000);
	struct node_line *line = &f->table->lines[SLOT];
	assert_int_equal(line->sequence, 77);
	assert_int_equal(line->window, 1);
	assert_int_equal(line->key_id, 1);
	struct wire_key key = fleet_key(f, SLOT, 1);
	assert_memory_equal(line->key, key.k, sizeof key.k);
	for (uint32_t slot = 0; slot < FLEET_NODES; slot++) {
		if (slot == SLOT)
			continue;
		assert_memory_equal(&f->table->lines[slot], &before[slot], sizeof before[0]);
		assert_int_equal(heard(f, slot), 1000);
	}
	assert_int_equal(f->report_count, 0);
	fleet_destroy(f);
}

static void key_is_derived_once(void **state)
{
	struct fleet *f = fleet_create();
	for (uint64_t sequence = 1; sequence < 5; sequence++)
		assert_true(send_beat(f, beat_of(SLOT, sequence)).is);
	assert_int_equal(f->keys_derived, 1);
	fleet_destroy(f);
}

static void answer_carries_the_lines_directives(void **state)
{
	struct fleet *f = fleet_create();
	struct beat b = beat_of(6, 1); // a draining one, see fleet.c
	struct answer a = send_beat(f, b);
	check_ack(f, &a, &b, WIRE_DIRECTIVE_DRAIN);
	fleet_destroy(f);
}

static void another_master_key_replaces_the_cached_one(void **state)
{
	struct fleet *f = fleet_create();
	struct beat b = beat_of(SLOT, 1);
	assert_true(send_beat(f, b).is);
	b.header.sequence = 2;
	b.key_id = 2;
	struct answer a = send_beat(f, b);
	check_ack(f, &a, &b, 0);
	assert_int_equal(f->table->lines[SLOT].key_id, 2);
	struct wire_key key = fleet_key(f, SLOT, 2);
	assert_memory_equal(f->table->lines[SLOT].key, key.k, sizeof key.k);
	fleet_destroy(f);
}

// Two frames of one node in one burst, under an old and a new key: each is answered under its own.
static void both_keys_in_one_burst_are_answered_under_their_own(void **state)
{
	struct fleet *f = fleet_create();
	struct route route = route_from(9, false, false);
	uint8_t data[3][PACKET_BYTES_MAX];
	struct packet burst[3];
	assert_true(send_beat(f, beat_of(SLOT, 1)).is); // key 1 is cached
	for (uint32_t i = 0; i < 3; i++) {
		uint8_t frame[FRAME_BYTES_MAX];
		struct beat b = beat_of(SLOT, 2 + i);
		b.header.key_id = i == 1 ? 2 : 1;
		struct wire_key key = fleet_key(f, SLOT, b.header.key_id);
		uint32_t bytes = wire_heartbeat_encode(frame, sizeof frame, b.header, &b.body);
		wire_sign(&key, frame, bytes);
		burst[i] = (struct packet){.data = data[i],
			.size = udp_build(&route, frame, bytes, data[i]),
			.capacity = PACKET_BYTES_MAX,
			.segments = 1};
	}
	hot_receive(&f->worker, burst, 3);
	assert_int_equal(f->counters.heartbeats, 4);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t bytes;
		const uint8_t *reply = reply_check(&route, &burst[i], burst[i].size, &bytes);
		struct wire_key key = fleet_key(f, SLOT, i == 1 ? 2 : 1);
		assert_true(wire_verify(&key, reply, bytes));
	}
	fleet_destroy(f);
}

static void unknown_keys_and_slots_are_refused_silently(void **state)
{
	struct fleet *f = fleet_create();
	struct beat b = beat_of(SLOT, 1);
	b.key_id = 3;
	assert_false(send_beat(f, b).is);
	assert_int_equal(fleet_refused(f, HOT_REFUSED_UNKNOWN_KEY), 1);
	static const uint32_t slots[] = {
		FLEET_NODES, FLEET_NODES + 1, FLEET_SLOTS, UINT32_MAX - 1, WIRE_NO_SLOT};
	for (uint32_t i = 0; i < 5; i++) {
		assert_false(send_beat(f, beat_of(slots[i], 1)).is);
		assert_int_equal(fleet_refused(f, HOT_REFUSED_UNKNOWN_SLOT), i + 1);
	}
	assert_int_equal(f->keys_derived, 1); // for the key that there is not
	fleet_destroy(f);
}

static void each_bit_of_frame_and_tag_is_authenticated(void **state)
{
	struct fleet *f = fleet_create();
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_key key = fleet_key(f, SLOT, 1);
	uint64_t refused = 0;
	// The header's first six bytes and the key are judged before the tag; the slot names another node.
	for (uint32_t bit = 12 * 8; bit < WIRE_HEARTBEAT_BYTES * 8; bit++) {
		uint32_t bytes = fleet_heartbeat(f, SLOT, 1, frame);
		frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(send_frame(f, frame, bytes, &key).is);
		assert_int_equal(fleet_refused(f, HOT_REFUSED_BAD_TAG), ++refused);
	}
	// Another node's slot and generation under this node's key.
	fleet_heartbeat(f, SLOT, 1, frame);
	frame[8] = SLOT + 1;
	frame[12] = SLOT + 2;
	wire_sign(&key, frame, WIRE_HEARTBEAT_BYTES);
	assert_false(send_frame(f, frame, WIRE_HEARTBEAT_BYTES, &key).is);
	assert_int_equal(fleet_refused(f, HOT_REFUSED_BAD_TAG), refused + 1);
	for (uint32_t slot = 0; slot < FLEET_NODES; slot++) {
		assert_int_equal(f->table->lines[slot].key_id, 0); // nothing forged is kept
		assert_int_equal(f->table->lines[slot].sequence, 0);
		assert_int_equal(heard(f, slot), 1000);
	}
	fleet_destroy(f);
}

static void replays_are_refused_silently(void **state)
{
	struct fleet *f = fleet_create();
	assert_true(send_beat(f, beat_of(SLOT, 100)).is);
	assert_true(send_beat(f, beat_of(SLOT, 99)).is); // late, not replayed
	static const uint64_t seen[] = {100, 99, 36, 1, 0};
	f->worker.now_ms = 9000;
	for (uint32_t i = 0; i < 5; i++) {
		assert_false(send_beat(f, beat_of(SLOT, seen[i])).is);
		assert_int_equal(fleet_refused(f, HOT_REFUSED_REPLAY), i + 1);
	}
	assert_int_equal(heard(f, SLOT), 1000);
	assert_true(send_beat(f, beat_of(SLOT, 37)).is); // the oldest one in the window
	assert_int_equal(heard(f, SLOT), 9000);
	fleet_destroy(f);
}

static void stale_generation_is_told_to_register(void **state)
{
	struct fleet *f = fleet_create();
	struct beat b = beat_of(SLOT, 8);
	b.header.generation = SLOT; // the one before
	f->worker.now_ms = 9000;
	struct answer a = send_beat(f, b);
	check_refused(&a, WIRE_REFUSED_STALE_GENERATION);
	assert_int_equal(fleet_refused(f, HOT_REFUSED_STALE_GENERATION), 1);
	assert_int_equal(heard(f, SLOT), 1000);
	assert_int_equal(f->table->lines[SLOT].sequence, 0);
	// Forged, it is not answered.
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_key key = fleet_key(f, SLOT, 1);
	fleet_heartbeat(f, SLOT, 8, frame);
	frame[12]--;
	assert_false(send_frame(f, frame, WIRE_HEARTBEAT_BYTES, &key).is);
	assert_int_equal(fleet_refused(f, HOT_REFUSED_BAD_TAG), 1);
	fleet_destroy(f);
}

static void another_term_is_told_this_one_and_is_no_sign_of_life(void **state)
{
	struct fleet *f = fleet_create();
	static const uint64_t terms[] = {0, FLEET_TERM - 1, FLEET_TERM + 1};
	f->worker.now_ms = 9000;
	for (uint32_t i = 0; i < 3; i++) {
		struct beat b = beat_of(SLOT, 50);
		b.body.term = terms[i];
		struct answer a = send_beat(f, b);
		check_ack(f, &a, &b, WIRE_DIRECTIVE_RESYNC);
		assert_int_equal(fleet_refused(f, HOT_REFUSED_STALE_TERM), i + 1);
	}
	assert_int_equal(f->counters.heartbeats, 0);
	assert_int_equal(heard(f, SLOT), 1000);
	assert_int_equal(f->table->lines[SLOT].sequence, 0);
	assert_true(send_beat(f, beat_of(SLOT, 50)).is); // its sequence is not used up
	assert_int_equal(f->counters.heartbeats, 1);
	fleet_destroy(f);
}

// It knows of later work than there was when this term began: of a state that was lost.
static void a_node_that_outlived_the_state_has_to_register(void **state)
{
	struct fleet *f = fleet_create();
	struct beat b = beat_of(SLOT, 50);
	b.body.alloc_index = FLEET_TERM_INDEX + 1;
	b.body.term = FLEET_TERM - 1;
	struct answer a = send_beat(f, b);
	check_refused(&a, WIRE_REFUSED_STALE_GENERATION);
	assert_int_equal(fleet_refused(f, HOT_REFUSED_STALE_GENERATION), 1);
	assert_int_equal(f->counters.heartbeats, 0);
	b.body.alloc_index--;
	a = send_beat(f, b);
	check_ack(f, &a, &b, WIRE_DIRECTIVE_RESYNC);
	b.body.term = FLEET_TERM;
	b.body.alloc_index = FLEET_TERM_INDEX + 1; // of this term
	assert_true(send_beat(f, b).is);
	assert_int_equal(f->counters.heartbeats, 1);
	fleet_destroy(f);
}

static void bad_bodies_are_refused_aloud(void **state)
{
	struct fleet *f = fleet_create();
	struct beat b = beat_of(SLOT, 3);
	b.reserved_set = true;
	struct answer a = send_beat(f, b);
	check_refused(&a, WIRE_REFUSED_BAD_REQUEST);
	assert_int_equal(fleet_refused(f, HOT_REFUSED_BAD_BODY), 1);
	// Of other lengths than the one it has.
	static const uint32_t lengths[] = {WIRE_FRAME_BYTES_MIN, 56, 63, 65, 300, FRAME_BYTES_MAX};
	for (uint32_t i = 0; i < 6; i++) {
		uint8_t frame[FRAME_BYTES_MAX] = {0};
		struct wire_header h = fleet_header(SLOT, 4);
		h.type = WIRE_HEARTBEAT;
		h.length = (uint16_t)lengths[i];
		wire_header_encode(frame, &h);
		struct wire_key key = fleet_key(f, SLOT, 1);
		wire_sign(&key, frame, lengths[i]);
		a = send_frame(f, frame, lengths[i], &key);
		assert_int_equal(fleet_refused(f, HOT_REFUSED_BAD_BODY), i + 2);
		// The shortest frame there is has no room for a reason.
		assert_int_equal(a.is, lengths[i] > WIRE_FRAME_BYTES_MIN);
		if (a.is)
			check_refused(&a, WIRE_REFUSED_BAD_REQUEST);
	}
	assert_int_equal(f->counters.heartbeats, 0);
	fleet_destroy(f);
}

static void a_nodes_return_is_reported_once(void **state)
{
	struct fleet *f = fleet_create();
	f->table->lines[SLOT].flags = NODE_LINE_DOWN;
	liveness_disarm(f->table, SLOT);
	f->reports_left = 0;
	assert_true(send_beat(f, beat_of(SLOT, 1)).is); // accepted, but the ring is full
	assert_int_equal(f->counters.reports_deferred, 1);
	assert_int_equal(f->table->lines[SLOT].flags, NODE_LINE_DOWN);
	assert_int_equal(heard(f, SLOT), f->worker.now_ms - LIVENESS_HEARD_ELSEWHERE_MS);
	f->reports_left = 8;
	f->worker.now_ms = 4000;
	assert_true(send_beat(f, beat_of(SLOT, 2)).is);
	assert_true(send_beat(f, beat_of(SLOT, 3)).is);
	assert_int_equal(f->report_count, 1);
	assert_int_equal(f->reports[0].kind, REPORT_RETURNED);
	assert_int_equal(f->reports[0].slot, SLOT);
	assert_int_equal(f->reports[0].generation, SLOT + 1);
	assert_int_equal(f->counters.returned, 1);
	assert_int_equal(f->counters.heartbeats, 3);
	assert_int_equal(f->table->lines[SLOT].flags, 0);
	assert_int_equal(heard(f, SLOT), 4000);
	fleet_destroy(f);
}

static void the_first_heartbeat_of_a_new_node_is_reported_but_is_no_return(void **state)
{
	struct fleet *f = fleet_create();
	f->table->lines[SLOT].flags = NODE_LINE_NEW;
	assert_true(send_beat(f, beat_of(SLOT, 1)).is);
	assert_int_equal(f->report_count, 1);
	assert_int_equal(f->counters.returned, 0);
	assert_int_equal(f->table->lines[SLOT].flags, 0);
	fleet_destroy(f);
}

static void a_node_that_beats_has_registered(void **state)
{
	struct fleet *f = fleet_create();
	f->table->lines[SLOT].registers_ms = 700;
	assert_true(send_beat(f, beat_of(SLOT, 1)).is);
	assert_int_equal(f->table->lines[SLOT].registers_ms, 0);
	fleet_destroy(f);
}

// A node whose packets reach another worker than its owner: the column is on the owner's clock, the line's
// flags and key are the owner's to write, and so is the report.
static void foreign_nodes_are_kept_on_their_owners_clock(void **state)
{
	struct fleet *f = fleet_create();
	struct hot_counters owner = {.clock_ms = 123456};
	const struct hot_counters *peers[] = {&f->counters, &owner};
	f->worker.peers = peers;
	f->worker.peer_count = 2;
	f->table->block_owner[0] = 1;
	assert_true(send_beat(f, beat_of(SLOT, 1)).is);
	assert_int_equal(heard(f, SLOT), 123456);
	assert_int_equal(f->counters.foreign, 1);
	assert_int_equal(f->table->lines[SLOT].key_id, 0);
	assert_int_equal(f->table->lines[SLOT].source, 0);
	assert_int_equal(f->table->lines[SLOT].sequence, 1);
	assert_false(send_beat(f, beat_of(SLOT, 1)).is);
	f->table->lines[SLOT].flags = NODE_LINE_DOWN;
	assert_true(send_beat(f, beat_of(SLOT, 2)).is);
	assert_int_equal(heard(f, SLOT), 123456 - LIVENESS_HEARD_ELSEWHERE_MS);
	f->worker.now_ms = 123456 + FLEET_TTL_MS / 2;
	for (uint32_t slot = 0; slot < FLEET_NODES; slot++)
		if (slot != SLOT)
			liveness_arm(f->table, slot, f->worker.now_ms);
	assert_int_equal(f->report_count, 0);
	// The owner sweeps.
	f->worker.number = 1;
	uint32_t cursor = 0;
	liveness_sweep(&f->worker, &cursor, FLEET_SLOTS);
	assert_int_equal(f->report_count, 1);
	assert_int_equal(f->reports[0].kind, REPORT_RETURNED);
	assert_int_equal(f->reports[0].slot, SLOT);
	assert_int_equal(f->table->lines[SLOT].flags, 0);
	assert_int_equal(heard(f, SLOT), f->worker.now_ms);
	fleet_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted_heartbeat_updates_its_line_and_nothing_else),
		cmocka_unit_test(key_is_derived_once),
		cmocka_unit_test(answer_carries_the_lines_directives),
		cmocka_unit_test(another_master_key_replaces_the_cached_one),
		cmocka_unit_test(both_keys_in_one_burst_are_answered_under_their_own),
		cmocka_unit_test(unknown_keys_and_slots_are_refused_silently),
		cmocka_unit_test(each_bit_of_frame_and_tag_is_authenticated),
		cmocka_unit_test(replays_are_refused_silently),
		cmocka_unit_test(stale_generation_is_told_to_register),
		cmocka_unit_test(another_term_is_told_this_one_and_is_no_sign_of_life),
		cmocka_unit_test(a_node_that_outlived_the_state_has_to_register),
		cmocka_unit_test(bad_bodies_are_refused_aloud),
		cmocka_unit_test(a_nodes_return_is_reported_once),
		cmocka_unit_test(the_first_heartbeat_of_a_new_node_is_reported_but_is_no_return),
		cmocka_unit_test(a_node_that_beats_has_registered),
		cmocka_unit_test(foreign_nodes_are_kept_on_their_owners_clock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
