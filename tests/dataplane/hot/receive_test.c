// Frames other than heartbeats: whose key they are verified with, and what is handed on.
#include "dataplane/wire/wire.h"
#include "tests/dataplane/hot/fleet.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SLOT 4u

struct sent {
	struct packet packet;
	struct route route;
	uint32_t size;
	uint8_t data[PACKET_BYTES_MAX];
};

static void send_frame(struct fleet *f, struct sent *s, const uint8_t *frame, uint32_t bytes)
{
	s->route = route_from(9, true, true);
	s->size = udp_build(&s->route, frame, bytes, s->data);
	s->packet = fleet_receive(f, s->data, s->size);
	assert_true(fleet_balances(f));
}

static uint32_t register_build(struct fleet *f, const struct uuid *node, uint8_t *frame)
{
	struct wire_header header = {.type = WIRE_REGISTER,
		.key_id = 2,
		.slot = WIRE_NO_SLOT,
		.sequence = 1700000000000ull};
	struct wire_register reg = {.node = *node,
		.parts = 1,
		.cpu_mhz = 8000,
		.memory_mb = 16384,
		.name = TEXT("n1"),
		.datacenter = TEXT("dc1")};
	uint32_t bytes = wire_register_encode(frame, FRAME_BYTES_MAX, header, &reg);
	struct wire_key key;
	assert_true(node_key_derive(&f->masters, 2, node, &key));
	wire_sign(&key, frame, bytes);
	return bytes;
}

static uint32_t place_build(struct fleet *f, const char *client, uint8_t *frame)
{
	struct wire_header header = {
		.type = WIRE_PLACE, .key_id = 1, .slot = WIRE_NO_SLOT, .sequence = 12};
	struct wire_place place = {.client = text_of(client),
		.issued_ms = 1,
		.request = 2,
		.count = 1,
		.job = TEXT("web"),
		.group = TEXT("cache")};
	uint32_t bytes = wire_place_encode(frame, FRAME_BYTES_MAX, header, &place);
	struct wire_key key;
	assert_true(client_key_derive(&f->masters, 1, text_of(client), &key));
	wire_sign(&key, frame, bytes);
	return bytes;
}

static uint32_t goodbye_build(const struct fleet *f, struct wire_header header, uint8_t *frame)
{
	header.type = WIRE_GOODBYE;
	uint32_t bytes = wire_goodbye_encode(frame, FRAME_BYTES_MAX, header);
	struct wire_key key = fleet_key(f, header.slot, 1);
	wire_sign(&key, frame, bytes);
	return bytes;
}

static void check_handed_on(const struct fleet *f, const struct sent *s, uint8_t type)
{
	assert_int_equal(s->packet.verdict, PACKET_DROP);
	assert_int_equal(f->counters.requests, 1);
	assert_int_equal(f->report_count, 1);
	assert_int_equal(f->reports[0].kind, REPORT_REQUEST);
	assert_int_equal(f->reports[0].header.type, type);
	assert_int_equal(f->reports[0].offset, route_offset(&s->route));
	assert_int_equal(f->counters.replies, 0);
}

static void registration_is_verified_by_its_uuid(void **state)
{
	struct fleet *f = fleet_create();
	struct uuid node = {{1, 2, 3}};
	uint8_t frame[FRAME_BYTES_MAX];
	struct sent s;
	send_frame(f, &s, frame, register_build(f, &node, frame));
	check_handed_on(f, &s, WIRE_REGISTER);
	// Another node's name under this one's key.
	uint32_t bytes = register_build(f, &node, frame);
	frame[WIRE_HEADER_BYTES] ^= 1;
	send_frame(f, &s, frame, bytes);
	assert_int_equal(fleet_refused(f, HOT_REFUSED_BAD_TAG), 1);
	assert_int_equal(f->report_count, 1);
	fleet_destroy(f);
}

static void client_frames_are_verified_by_the_clients_name(void **state)
{
	struct fleet *f = fleet_create();
	uint8_t frame[FRAME_BYTES_MAX];
	struct sent s;
	send_frame(f, &s, frame, place_build(f, "scaler", frame));
	check_handed_on(f, &s, WIRE_PLACE);
	uint32_t bytes = place_build(f, "scaler", frame);
	frame[WIRE_HEADER_BYTES + 1] ^= 1;
	send_frame(f, &s, frame, bytes);
	assert_int_equal(fleet_refused(f, HOT_REFUSED_BAD_TAG), 1);
	fleet_destroy(f);
}

// One counter for all that comes from those whose keys count no more, and not a word back.
static void who_is_revoked_is_not_heard(void **state)
{
	struct fleet *f = fleet_create();
	struct uuid node = {{1, 2, 3}};
	uint8_t frame[FRAME_BYTES_MAX];
	struct sent s;
	f->all_are_revoked = true;
	send_frame(f, &s, frame, register_build(f, &node, frame));
	send_frame(f, &s, frame, place_build(f, "scaler", frame));
	send_frame(f, &s, frame, goodbye_build(f, fleet_header(SLOT, 20), frame));
	assert_int_equal(fleet_refused(f, HOT_REFUSED_REVOKED), 3);
	assert_int_equal(f->counters.replies, 0);
	assert_int_equal(f->report_count, 0);
	fleet_destroy(f);
}

static void goodbye_is_verified_and_never_twice(void **state)
{
	struct fleet *f = fleet_create();
	uint8_t frame[FRAME_BYTES_MAX];
	struct sent s;
	send_frame(f, &s, frame, goodbye_build(f, fleet_header(SLOT, 20), frame));
	check_handed_on(f, &s, WIRE_GOODBYE);
	assert_int_equal(f->reports[0].slot, SLOT);
	assert_int_equal(f->table->lines[SLOT].sequence, 20);
	// Recorded and sent again.
	send_frame(f, &s, frame, WIRE_HEARTBEAT_BYTES);
	assert_int_equal(fleet_refused(f, HOT_REFUSED_REPLAY), 1);
	assert_int_equal(f->report_count, 1);
	fleet_destroy(f);
}

static void a_heartbeat_overtaken_by_goodbye_brings_nobody_back(void **unused)
{
	struct fleet *f = fleet_create();
	uint8_t frame[FRAME_BYTES_MAX];
	struct sent s;
	send_frame(f, &s, frame, goodbye_build(f, fleet_header(SLOT, 20), frame));
	send_frame(f, &s, frame, fleet_heartbeat(f, SLOT, 19, frame));
	assert_int_equal(fleet_refused(f, HOT_REFUSED_REPLAY), 1);
	assert_int_equal(f->counters.heartbeats, 0);
	// A goodbye that was overtaken itself closes what is below it, and no more.
	send_frame(f, &s, frame, fleet_heartbeat(f, SLOT, 30, frame));
	send_frame(f, &s, frame, goodbye_build(f, fleet_header(SLOT, 27), frame));
	send_frame(f, &s, frame, fleet_heartbeat(f, SLOT, 25, frame));
	assert_int_equal(fleet_refused(f, HOT_REFUSED_REPLAY), 2);
	send_frame(f, &s, frame, fleet_heartbeat(f, SLOT, 28, frame));
	assert_int_equal(f->counters.heartbeats, 2);
	fleet_destroy(f);
}

static void goodbye_of_another_generation_is_refused_aloud(void **state)
{
	struct fleet *f = fleet_create();
	uint8_t frame[FRAME_BYTES_MAX];
	struct sent s;
	struct wire_header header = fleet_header(SLOT, 20);
	header.generation++;
	send_frame(f, &s, frame, goodbye_build(f, header, frame));
	assert_int_equal(fleet_refused(f, HOT_REFUSED_STALE_GENERATION), 1);
	uint32_t bytes;
	const uint8_t *reply = reply_check(&s.route, &s.packet, s.size, &bytes);
	struct wire_key key = fleet_key(f, SLOT, 1);
	assert_true(wire_verify(&key, reply, bytes));
	struct wire_refused refused;
	assert_int_equal(wire_header_decode(reply, bytes, &header), WIRE_OK);
	assert_int_equal(header.type, WIRE_REFUSED);
	assert_true(wire_refused_decode(reply, &header, &refused));
	assert_int_equal(refused.request_type, WIRE_GOODBYE);
	assert_int_equal(f->report_count, 0);
	fleet_destroy(f);
}

static void senders_that_cannot_be_named_are_refused_silently(void **state)
{
	struct fleet *f = fleet_create();
	uint8_t frame[FRAME_BYTES_MAX];
	struct sent s;
	// No room for a UUID; a name that runs out of the frame.
	struct wire_header header = {
		.type = WIRE_REGISTER, .length = WIRE_REGISTER_BYTES_MIN - 1, .key_id = 1};
	memset(frame, 0, sizeof frame);
	wire_header_encode(frame, &header);
	send_frame(f, &s, frame, header.length);
	assert_int_equal(fleet_refused(f, HOT_REFUSED_FRAME_LENGTH), 1);
	header.type = WIRE_STATUS;
	wire_header_encode(frame, &header);
	frame[WIRE_HEADER_BYTES] = 250;
	send_frame(f, &s, frame, header.length);
	assert_int_equal(fleet_refused(f, HOT_REFUSED_FRAME_LENGTH), 2);
	// Master keys that there are not.
	struct uuid node = {{1}};
	uint32_t bytes = register_build(f, &node, frame);
	frame[6] = 9;
	send_frame(f, &s, frame, bytes);
	bytes = place_build(f, "scaler", frame);
	frame[6] = 9;
	send_frame(f, &s, frame, bytes);
	assert_int_equal(fleet_refused(f, HOT_REFUSED_UNKNOWN_KEY), 2);
	// Nodes that there are not.
	header = fleet_header(FLEET_NODES, 1);
	send_frame(f, &s, frame, goodbye_build(f, header, frame));
	assert_int_equal(fleet_refused(f, HOT_REFUSED_UNKNOWN_SLOT), 1);
	assert_int_equal(f->counters.replies, 0);
	assert_int_equal(f->report_count, 0);
	fleet_destroy(f);
}

static void answers_of_the_layer_above_are_counted(void **state)
{
	struct fleet *f = fleet_create();
	uint8_t frame[FRAME_BYTES_MAX];
	struct sent s;
	f->requests_answered = true;
	uint32_t bytes = place_build(f, "scaler", frame), reply_bytes;
	send_frame(f, &s, frame, bytes);
	assert_int_equal(f->counters.replies, 1);
	const uint8_t *reply = reply_check(&s.route, &s.packet, s.size, &reply_bytes);
	assert_int_equal(reply_bytes, bytes);
	assert_memory_equal(reply, frame, bytes);
	f->reports_left = 0; // the layer above is full
	send_frame(f, &s, frame, bytes);
	assert_int_equal(fleet_refused(f, HOT_REFUSED_REQUESTS_FULL), 1);
	fleet_destroy(f);
}

// A reply may be shorter, may be put into another packet, and may have any length that there is.
static void turn_around_makes_packets_of_any_length(void **state)
{
	struct fleet *f = fleet_create();
	uint8_t payload[FRAME_BYTES_MAX], data[PACKET_BYTES_MAX], copy[PACKET_BYTES_MAX];
	for (uint32_t i = 0; i < sizeof payload; i++)
		payload[i] = (uint8_t)(i * 7 + (i >> 5));
	for (uint32_t kind = 0; kind < 4; kind++) {
		struct route route = route_from(kind + 1, kind & 1, kind & 2);
		uint32_t size = udp_build(&route, payload, sizeof payload, data), bytes;
		for (uint32_t length = 1; length <= sizeof payload; length++) {
			memcpy(copy, data, sizeof copy);
			struct packet p = {
				.data = copy, .capacity = sizeof copy, .verdict = PACKET_REPLY};
			hot_turn_around(&f->worker, &p, route_offset(&route), length);
			const uint8_t *reply = reply_check(&route, &p, size, &bytes);
			assert_int_equal(bytes, length);
			assert_memory_equal(reply, payload, length);
		}
	}
	fleet_destroy(f);
}

// A sum that comes out as zero is written as its other form: zero would say that there is none.
static void turn_around_never_writes_a_zero_checksum(void **state)
{
	struct fleet *f = fleet_create();
	struct route route = route_from(1, false, false);
	uint8_t data[PACKET_BYTES_MAX], payload[64] = {0};
	uint32_t zero_forms = 0;
	for (uint32_t word = 0; word <= 0xffff; word++) {
		payload[0] = (uint8_t)(word >> 8);
		payload[1] = (uint8_t)word;
		udp_build(&route, payload, sizeof payload, data);
		struct packet p = {.data = data, .capacity = sizeof data, .verdict = PACKET_REPLY};
		hot_turn_around(&f->worker, &p, route_offset(&route), sizeof payload);
		const uint8_t *udp = data + route_offset(&route) - 8;
		assert_true(udp[6] != 0 || udp[7] != 0);
		zero_forms += udp[6] == 0xff && udp[7] == 0xff;
	}
	assert_int_equal(zero_forms, 1); // one word of them all completes the sum
	fleet_destroy(f);
}

static void an_empty_burst_does_nothing(void **state)
{
	struct fleet *f = fleet_create();
	struct packet none;
	hot_receive(&f->worker, &none, 0);
	assert_int_equal(f->counters.received, 0);
	assert_int_equal(f->counters.replies, 0);
	fleet_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registration_is_verified_by_its_uuid),
		cmocka_unit_test(client_frames_are_verified_by_the_clients_name),
		cmocka_unit_test(who_is_revoked_is_not_heard),
		cmocka_unit_test(goodbye_is_verified_and_never_twice),
		cmocka_unit_test(goodbye_of_another_generation_is_refused_aloud),
		cmocka_unit_test(a_heartbeat_overtaken_by_goodbye_brings_nobody_back),
		cmocka_unit_test(senders_that_cannot_be_named_are_refused_silently),
		cmocka_unit_test(answers_of_the_layer_above_are_counted),
		cmocka_unit_test(turn_around_makes_packets_of_any_length),
		cmocka_unit_test(turn_around_never_writes_a_zero_checksum),
		cmocka_unit_test(an_empty_burst_does_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
