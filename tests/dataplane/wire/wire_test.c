// Every codec against the vectors of a second implementation, and against damage.
#include "dataplane/wire/auth.h"
#include "dataplane/wire/wire.h"
#include "tests/dataplane/wire/message_again.h"
#include "tests/dataplane/wire/message_fields.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static json_t *vectors;

struct frame {
	const char *name;
	uint8_t bytes[FRAME_BYTES_MAX];
	uint32_t length;
	struct wire_header header;
	struct wire_key key;
};

static uint32_t from_hex(const char *hex, uint8_t *bytes, uint32_t size)
{
	uint32_t length = (uint32_t)strlen(hex) / 2;
	assert_true(length <= size);
	for (uint32_t i = 0; i < length; i++) {
		unsigned value;
		assert_int_equal(sscanf(hex + 2 * i, "%2x", &value), 1);
		bytes[i] = (uint8_t)value;
	}
	return length;
}

static const char *string_at(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));
	assert_non_null(value);
	return value;
}

static uint64_t integer_at(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	assert_true(json_is_integer(value));
	return (uint64_t)json_integer_value(value);
}

static void read_frame(const json_t *vector, struct frame *f)
{
	uint8_t key_id;
	f->name = string_at(vector, "name");
	f->length = from_hex(string_at(vector, "hex"), f->bytes, sizeof f->bytes);
	assert_true(wire_key_parse(string_at(vector, "key"), &key_id, &f->key));
	assert_int_equal(wire_header_decode(f->bytes, f->length, &f->header), WIRE_OK);
	assert_int_equal(key_id, f->header.key_id);
}

// Sets the length field of a frame that a test has made longer or shorter.
static void set_length(struct frame *f, uint32_t length)
{
	f->length = length;
	f->header.length = (uint16_t)length;
	f->bytes[4] = (uint8_t)length;
	f->bytes[5] = (uint8_t)(length >> 8);
}

static bool fixed_size(uint8_t type)
{
	return (type <= WIRE_GOODBYE_ACK && type != WIRE_REGISTER) || type == WIRE_READINESS ||
	       type == WIRE_READINESS_TAKEN || type == WIRE_NOTIFY;
}

#define FOR_EACH_FRAME(f)                                           \
	json_t *vector_;                                            \
	size_t at_;                                                 \
	json_array_foreach(json_object_get(vectors, "frames"), at_, \
		vector_) if (read_frame(vector_, &(f)), true)

static void vectors_cover_every_type(void **unused)
{
	uint32_t seen = 0;
	struct frame f;
	FOR_EACH_FRAME(f)
	{
		seen |= 1u << f.header.type;
		assert_string_equal(wire_type_name(f.header.type), string_at(vector_, "type"));
	}
	for (uint8_t type = 0; type < 31; type++)
		assert_int_equal(seen >> type & 1, wire_type_name(type)[0] != '?');
}

static void frames_decode_to_the_vectors_fields(void **unused)
{
	struct frame f;
	FOR_EACH_FRAME(f)
	{
		const json_t *h = json_object_get(vector_, "header");
		assert_int_equal(f.header.key_id, integer_at(h, "key_id"));
		assert_int_equal(f.header.flags, integer_at(h, "flags"));
		assert_int_equal(f.header.slot, integer_at(h, "slot"));
		assert_int_equal(f.header.generation, integer_at(h, "generation"));
		assert_int_equal(f.header.sequence, integer_at(h, "sequence"));
		json_t *fields = message_fields(f.bytes, &f.header);
		if (!json_equal(fields, json_object_get(vector_, "fields")))
			fail_msg("%s: %s", f.name, json_dumps(fields, 0));
		json_decref(fields);
	}
}

static void fields_encode_to_the_vectors_bytes(void **unused)
{
	struct frame f;
	FOR_EACH_FRAME(f)
	{
		uint8_t out[FRAME_BYTES_MAX];
		assert_true(wire_verify(&f.key, f.bytes, f.length));
		assert_int_equal(message_again(f.bytes, &f.header, out, sizeof out), f.length);
		for (uint32_t i = 1; i <= WIRE_TAG_BYTES; i++)
			assert_int_equal(out[f.length - i], 0);
		wire_sign(&f.key, out, f.length);
		assert_memory_equal(out, f.bytes, f.length);
	}
}

static void encoders_refuse_a_buffer_that_is_too_small(void **unused)
{
	struct frame f;
	FOR_EACH_FRAME(f)
	{
		for (uint32_t size = 0; size < f.length; size++) {
			uint8_t out[FRAME_BYTES_MAX];
			memset(out, 0xa5, sizeof out);
			uint32_t length = message_again(f.bytes, &f.header, out, size);
			if (f.header.type == WIRE_REFUSED && size >= WIRE_REFUSED_BYTES_MIN)
				assert_in_range(length, WIRE_REFUSED_BYTES_MIN, size);
			else
				assert_int_equal(length, 0);
			assert_int_equal(out[size], 0xa5);
		}
	}
}

// Shorter by any number of bytes: refused, or nothing but padding was cut off. A refusal may also lose
// its last numbers.
static void cut_frames_are_refused(void **unused)
{
	struct frame f;
	FOR_EACH_FRAME(f)
	{
		uint32_t full = f.length, accepted = 0;
		for (uint32_t length = WIRE_FRAME_BYTES_MIN; length < full; length++) {
			set_length(&f, length);
			json_t *fields = message_fields(f.bytes, &f.header);
			if (!fields)
				continue;
			accepted++;
			if (f.header.type == WIRE_REFUSED) {
				assert_int_equal(length % 4, 0);
				assert_true(length >= WIRE_REFUSED_BYTES_MIN);
			} else if (!json_equal(fields, json_object_get(vector_, "fields"))) {
				fail_msg("%s cut to %u bytes reads differently", f.name, length);
			}
			json_decref(fields);
		}
		if (fixed_size(f.header.type) || f.header.type == WIRE_PLACED)
			assert_int_equal(accepted, 0);
	}
}

static void header_refuses_a_cut_payload(void **unused)
{
	struct frame f;
	FOR_EACH_FRAME(f)
	{
		struct wire_header h;
		for (uint32_t size = 0; size < f.length; size++)
			assert_int_equal(wire_header_decode(f.bytes, size, &h),
				size < WIRE_FRAME_BYTES_MIN ? WIRE_SHORT : WIRE_BAD_LENGTH);
	}
}

static void only_zeros_may_trail(void **unused)
{
	struct frame f;
	FOR_EACH_FRAME(f)
	{
		uint32_t body_end = f.length - WIRE_TAG_BYTES;
		memset(f.bytes + body_end, 0, 20);
		set_length(&f, f.length + 4);
		json_t *fields = message_fields(f.bytes, &f.header);
		if (fixed_size(f.header.type))
			assert_null(fields);
		else if (!json_equal(fields, json_object_get(vector_, "fields")))
			fail_msg("%s: trailing zeros change it", f.name);
		json_decref(fields);
		// A refusal without filters takes four bytes more as its next number.
		if (f.header.type == WIRE_REFUSED && f.length <= 92)
			continue;
		for (uint32_t i = 0; i < 4; i++) {
			f.bytes[body_end + i] = 1;
			assert_null(message_fields(f.bytes, &f.header));
			f.bytes[body_end + i] = 0;
		}
	}
}

// Each byte of the header and its refusal.
static void header_is_checked(void **unused)
{
	struct frame f;
	read_frame(json_array_get(json_object_get(vectors, "frames"), 0), &f);
	struct wire_header h;
	static const struct {
		uint32_t at;
		uint8_t value;
		enum wire_error error;
	} damages[] = {
		{0, 0x43, WIRE_BAD_MAGIC}, {1, 0, WIRE_BAD_MAGIC}, {2, 0, WIRE_BAD_VERSION},
		{2, 2, WIRE_BAD_VERSION}, {3, 0, WIRE_BAD_TYPE}, {3, 1, WIRE_BAD_TYPE},
		{3, 14, WIRE_BAD_TYPE}, {3, 30, WIRE_BAD_TYPE}, {3, 32, WIRE_BAD_TYPE},
		{3, 255, WIRE_BAD_TYPE}, {4, 63, WIRE_BAD_LENGTH}, {5, 1, WIRE_BAD_LENGTH},
		{7, 0xff, WIRE_OK}, // flags: none is defined, none is refused
	};
	for (uint32_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
		uint8_t before = f.bytes[damages[i].at];
		f.bytes[damages[i].at] = damages[i].value;
		assert_int_equal(wire_header_decode(f.bytes, f.length, &h), damages[i].error);
		f.bytes[damages[i].at] = before;
	}
}

static void header_refuses_more_than_a_frame(void **unused)
{
	uint8_t bytes[FRAME_BYTES_MAX + 1] = {0};
	struct wire_header h = {.type = WIRE_PLACE, .length = FRAME_BYTES_MAX};
	wire_header_encode(bytes, &h);
	assert_int_equal(wire_header_decode(bytes, FRAME_BYTES_MAX, &h), WIRE_OK);
	h.length = FRAME_BYTES_MAX + 1;
	wire_header_encode(bytes, &h);
	assert_int_equal(wire_header_decode(bytes, FRAME_BYTES_MAX + 1, &h), WIRE_BAD_LENGTH);
}

// A body byte of a named vector set to a value that is out of its range.
static const struct {
	const char *name;
	uint32_t at;
	uint8_t value;
} body_damages[] = {
	{"heartbeat", 44, 1},                 // reserved
	{"goodbye", 30, 1},                   // body
	{"registration", 40, 1},              // part of parts
	{"registration", 41, 0},              // parts
	{"registration", 41, 9},              // parts
	{"registration", 42, 1},              // reserved
	{"smallest registration", 74, 5},     // device groups
	{"smallest registration", 76, 2},     // pairs: more than there are
	{"registration, part 1 of 2", 45, 2}, // pairs: 512 and more
	{"registration, part 1 of 2", 46, 8}, // kind
	{"placement of one", 24, 0},          // client name
	{"placement of one", 24, 65},         // client name
	{"placement of one", 51, 0},          // count
	{"placement of one", 51, 33},         // count
	{"placement of one", 51, 3},          // count: the answer would be longer
	{"placed", 32, 0},                    // count
	{"placed", 32, 33},                   // count
	{"placed", 33, 0},                    // requested less than placed
	{"placed", 34, 1},                    // reserved
	{"release", 35, 0},                   // count
	{"release", 35, 2},                   // count: more than there are
	{"release of 32", 35, 33},            // count
	{"released", 32, 0},                  // count
	{"released", 32, 33},                 // count
	{"released", 33, 3},                  // result
	{"status by id", 35, 2},              // mode
	{"status by id", 36, 0},              // count
	{"status by id", 36, 33},             // count
	{"status reply", 32, 33},             // count
	{"status reply", 33, 2},              // more
	{"status reply", 34, 1},              // reserved
	{"status reply", 62, 2},              // known
	{"status reply", 63, 1},              // reserved
	{"refused: no node", 26, 65},         // filters
	{"refused: no node", 26, 3},          // filters: more than there are
	{"report of an allocation", 24, 0},   // count
	{"report of an allocation", 24, 17},  // count
	{"report of an allocation", 24, 2},   // count: more than there are
	{"report of an allocation", 25, 1},   // reserved
	{"report of an allocation", 27, 1},   // reserved
	{"report of an allocation", 44, 4},   // client: a node does not say lost
	{"report of an allocation", 45, 3},   // healthy
	{"report of an allocation", 46, 4},   // flags
	{"report of an allocation", 47, 49},  // tasks
	{"report of an allocation", 70, 3},   // state
	{"report of an allocation", 71, 4},   // flags of the task
	{"report of a remote task", 106, 3},  // bytes of the handle: more than are allowed
	{"ready", 24, 2},                     // ready
	{"ready", 25, 1},                     // reserved
	{"not ready", 32, 1},                 // body
	{"readiness taken", 32, 1},           // body
	{"report taken", 32, 0},              // count
	{"report taken", 32, 17},             // count
	{"report taken", 33, 2},              // known
	{"question for changed allocations", 32, 0}, {"question for changed allocations", 32, 33},
	{"question for changed allocations", 32, 2},            // the answer would be longer
	{"allocations", 32, 33},                                // count
	{"allocations", 33, 2},                                 // more
	{"allocations", 34, 1},                                 // reserved
	{"question for a small piece", 44, 0},                  // bytes
	{"question for a small piece", 44, 255},                // the answer would be longer
	{"question for a small piece", 46, 1},                  // reserved
	{"piece of a specification", 36, 255},                  // begins behind the end
	{"piece of a specification", 40, 255},                  // more than there are
	{"piece of a specification", 42, 1},                    // reserved
	{"question for the next page", 34, 0},                  // count
	{"question for the next page", 34, 33},                 // count
	{"question for the next page", 34, 2},                  // the answer would be longer
	{"virtual machines", 34, 33},                           // count
	{"virtual machines", 34, 3},                            // count: more than there are
	{"virtual machines", 35, 2},                            // more
	{"virtual machines", 60, 3},                            // power
	{"virtual machines", 67, 1},                            // reserved
	{"refused: not the leader, which is not known", 26, 1}, // port: no address follows
	{"refused: not the leader, which is not known", 32, 1}, // address without a port
};

static void values_over_a_limit_are_refused(void **unused)
{
	struct frame f;
	for (uint32_t i = 0; i < sizeof body_damages / sizeof body_damages[0]; i++) {
		bool found = false;
		FOR_EACH_FRAME(f)
		{
			if (strcmp(f.name, body_damages[i].name) != 0)
				continue;
			found = true;
			f.bytes[body_damages[i].at] = body_damages[i].value;
			if (message_fields(f.bytes, &f.header))
				fail_msg("%s: %u at %u is accepted", f.name, body_damages[i].value,
					body_damages[i].at);
		}
		if (!found)
			fail_msg("no vector \"%s\"", body_damages[i].name);
	}
}

static void encoders_refuse_what_decoders_refuse(void **unused)
{
	uint8_t out[FRAME_BYTES_MAX];
	struct wire_header h = {0};
	static char name[CLIENT_NAME_BYTES_MAX + 1];
	memset(name, 'n', sizeof name);
	struct text longest = {name, CLIENT_NAME_BYTES_MAX}, longer = {name, sizeof name};
	struct wire_place place = {.client = longest, .count = PLACE_COUNT_MAX};
	assert_true(wire_place_encode(out, sizeof out, h, &place) > 0);
	place.client = longer;
	assert_int_equal(wire_place_encode(out, sizeof out, h, &place), 0);
	place.client = TEXT("");
	assert_int_equal(wire_place_encode(out, sizeof out, h, &place), 0);
	place.client = longest;
	place.count = PLACE_COUNT_MAX + 1;
	assert_int_equal(wire_place_encode(out, sizeof out, h, &place), 0);
	place.count = 0;
	assert_int_equal(wire_place_encode(out, sizeof out, h, &place), 0);

	struct wire_ids ids = {.client = longest, .count = PLACE_COUNT_MAX + 1};
	assert_int_equal(wire_release_encode(out, sizeof out, h, &ids), 0);
	struct wire_released released = {.count = PLACE_COUNT_MAX + 1};
	assert_int_equal(wire_released_encode(out, sizeof out, h, &released), 0);
	struct wire_status status = {.client = longest, .mode = 2, .count = 1};
	assert_int_equal(wire_status_encode(out, sizeof out, h, &status), 0);
	struct wire_status_reply reply = {.count = PLACE_COUNT_MAX + 1};
	assert_int_equal(wire_status_reply_encode(out, sizeof out, h, &reply), 0);
	struct wire_refused refused = {.filter_count = JOB_CONSTRAINTS_MAX + 1};
	assert_int_equal(wire_refused_encode(out, sizeof out, h, &refused), 0);

	static struct wire_register reg = {.parts = 9};
	assert_int_equal(wire_register_encode(out, sizeof out, h, &reg), 0);
	reg = (struct wire_register){.parts = 1, .part = 1};
	assert_int_equal(wire_register_encode(out, sizeof out, h, &reg), 0);
	reg = (struct wire_register){.parts = 1, .pair_count = NODE_ATTRIBUTES_MAX + 1};
	assert_int_equal(wire_register_encode(out, sizeof out, h, &reg), 0);
	reg = (struct wire_register){.parts = 1, .device_group_count = 5};
	assert_int_equal(wire_register_encode(out, sizeof out, h, &reg), 0);
}

// No answer is longer than its request, for every count and the shortest client name.
static void answers_are_never_longer(void **unused)
{
	uint8_t out[FRAME_BYTES_MAX];
	struct wire_header h = {0};
	for (uint8_t count = 1; count <= PLACE_COUNT_MAX; count++) {
		struct wire_place place = {.client = TEXT("c"), .count = count};
		static struct wire_placed placed;
		placed = (struct wire_placed){.count = count, .requested = count};
		assert_true(wire_place_encode(out, sizeof out, h, &place) >=
			    wire_placed_encode(out, sizeof out, h, &placed));
		static struct wire_ids ids;
		ids = (struct wire_ids){.client = TEXT("c"), .count = count};
		struct wire_released released = {.count = count};
		assert_true(wire_release_encode(out, sizeof out, h, &ids) >=
			    wire_released_encode(out, sizeof out, h, &released));
		static struct wire_status_reply reply;
		reply.count = count;
		for (uint8_t mode = 0; mode < 2; mode++) {
			static struct wire_status status;
			status = (struct wire_status){
				.client = TEXT("c"), .mode = mode, .count = count};
			uint32_t asked = wire_status_encode(out, sizeof out, h, &status);
			assert_true(asked >= WIRE_REFUSED_BYTES_MIN);
			assert_true(asked >= wire_status_reply_encode(out, sizeof out, h, &reply));
		}
	}
}

static void refusal_fills_whatever_the_request_leaves(void **unused)
{
	struct wire_refused why = {.request_type = WIRE_PLACE,
		.reason = WIRE_REFUSED_NO_NODE,
		.filter_count = JOB_CONSTRAINTS_MAX,
		.nodes_seen = 1,
		.exhausted_device = 9};
	for (uint32_t i = 0; i < JOB_CONSTRAINTS_MAX; i++)
		why.filters[i] = 100 + i;
	for (uint32_t size = 0; size <= FRAME_BYTES_MAX; size++) {
		uint8_t out[FRAME_BYTES_MAX];
		uint32_t length = wire_refused_encode(out, size, (struct wire_header){0}, &why);
		assert_true(length <= size);
		assert_int_equal(length == 0, size < WIRE_REFUSED_BYTES_MIN);
		if (length == 0)
			continue;
		struct wire_header h;
		struct wire_refused back;
		assert_int_equal(wire_header_decode(out, length, &h), WIRE_OK);
		assert_true(wire_refused_decode(out, &h, &back));
		assert_int_equal(back.reason, WIRE_REFUSED_NO_NODE);
		assert_int_equal(back.exhausted_device, size >= 92 ? 9 : 0);
		uint32_t room = size >= 92 ? (size - 92) / 4 : 0;
		assert_int_equal(back.filter_count, room < 64 ? room : 64);
		for (uint32_t i = 0; i < back.filter_count; i++)
			assert_int_equal(back.filters[i], 100 + i);
	}
}

// Where the leader is fits whole or is left out.
static void refusal_says_where_the_leader_is_if_there_is_room(void **unused)
{
	const struct wire_refused why = {.request_type = WIRE_RELEASE,
		.reason = WIRE_REFUSED_NOT_LEADER,
		.leader = {.address = {0x20, 1, [15] = 7}, .port = 4648}};
	for (uint32_t size = 0; size <= FRAME_BYTES_MAX; size++) {
		uint8_t out[FRAME_BYTES_MAX];
		struct wire_header h;
		struct wire_refused back;
		uint32_t length = wire_refused_encode(out, size, (struct wire_header){0}, &why);
		assert_int_equal(length, size < 56 ? 0 : size < 64 ? 56 : 64);
		if (length == 0)
			continue;
		assert_int_equal(wire_header_decode(out, length, &h), WIRE_OK);
		assert_true(wire_refused_decode(out, &h, &back));
		assert_int_equal(back.request_type, WIRE_RELEASE);
		assert_int_equal(back.reason, WIRE_REFUSED_NOT_LEADER);
		assert_int_equal(back.leader.port, size < 64 ? 0 : 4648);
		assert_int_equal(back.leader.address[0], size < 64 ? 0 : 0x20);
		assert_int_equal(back.leader.address[15], size < 64 ? 0 : 7);
	}
}

static void client_name_is_found_before_the_tag_is_checked(void **unused)
{
	struct frame f;
	FOR_EACH_FRAME(f)
	{
		const char *name = json_string_value(
			json_object_get(json_object_get(vector_, "fields"), "client"));
		struct text client;
		if (!name)
			continue;
		assert_true(wire_client_decode(f.bytes, &f.header, &client));
		assert_true(text_equal(client, text_of(name)));
		f.bytes[24] = 200;
		assert_false(wire_client_decode(f.bytes, &f.header, &client));
	}
}

static void every_refusal_has_a_name(void **unused)
{
	for (uint8_t reason = 1; reason < WIRE_REFUSED_REASONS; reason++)
		assert_string_not_equal(wire_refusal_name(reason), "?");
	assert_string_equal(wire_refusal_name(0), "?");
	assert_string_equal(wire_refusal_name(WIRE_REFUSED_REASONS), "?");
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: wire_test VECTORS\n");
		return 2;
	}
	json_error_t error;
	vectors = json_load_file(argv[1], 0, &error);
	if (!vectors) {
		fprintf(stderr, "%s:%d: %s\n", argv[1], error.line, error.text);
		return 1;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_cover_every_type),
		cmocka_unit_test(frames_decode_to_the_vectors_fields),
		cmocka_unit_test(fields_encode_to_the_vectors_bytes),
		cmocka_unit_test(encoders_refuse_a_buffer_that_is_too_small),
		cmocka_unit_test(cut_frames_are_refused),
		cmocka_unit_test(header_refuses_a_cut_payload),
		cmocka_unit_test(only_zeros_may_trail),
		cmocka_unit_test(header_is_checked),
		cmocka_unit_test(header_refuses_more_than_a_frame),
		cmocka_unit_test(values_over_a_limit_are_refused),
		cmocka_unit_test(encoders_refuse_what_decoders_refuse),
		cmocka_unit_test(answers_are_never_longer),
		cmocka_unit_test(refusal_fills_whatever_the_request_leaves),
		cmocka_unit_test(refusal_says_where_the_leader_is_if_there_is_room),
		cmocka_unit_test(client_name_is_found_before_the_tag_is_checked),
		cmocka_unit_test(every_refusal_has_a_name),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	json_decref(vectors);
	return rc;
}
