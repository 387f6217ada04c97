// What is sealed is opened by whoever asked for it, with the key of that node, and by nobody else. The vectors were
// sealed by another implementation (vectors.py).
#include "dataplane/wire/auth.h"
#include "dataplane/wire/little_endian.h"
#include "dataplane/wire/seal.h"
#include "state/base/prng.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ROUNDS 300u
#define NONCE_AT 44u

static json_t *vectors;
static struct prng prng;

struct sealed {
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t length;
	struct wire_key key;
	struct uuid allocation;
};

// Whether it opens; plain and reply are what was in it.
static bool open_it(const struct sealed *s, struct wire_alloc_spec_reply *reply, uint8_t *plain)
{
	struct wire_header h;
	return wire_header_decode(s->frame, s->length, &h) == WIRE_OK &&
	       wire_alloc_spec_reply_decode(s->frame, &h, reply) && reply->is_sealed &&
	       wire_alloc_spec_open(s->frame, &s->key, &s->allocation, reply, plain);
}

static bool opens(const struct sealed *s)
{
	struct wire_alloc_spec_reply reply;
	uint8_t plain[WIRE_SPEC_BYTES_MAX];
	return open_it(s, &reply, plain);
}

static struct sealed seal_one(
	const struct wire_header *h, const struct wire_alloc_spec_reply *reply)
{
	struct sealed s = {
		.key = {{prng_u64(&prng), prng_u64(&prng)}}, .allocation = prng_uuid(&prng)};
	s.length = wire_alloc_spec_reply_encode(s.frame, sizeof s.frame, *h, reply);
	assert_true(s.length > 0);
	wire_alloc_spec_seal(s.frame, &s.key, &s.allocation);
	return s;
}

static struct sealed seal_some(uint32_t bytes, const uint8_t *data)
{
	const struct wire_header h = {.key_id = 7,
		.flags = WIRE_FLAG_TERM | WIRE_FLAG_SEALED,
		.slot = 4097,
		.generation = 3,
		.sequence = prng_u64(&prng)};
	const struct wire_alloc_spec_reply reply = {.version = prng_u64(&prng),
		.total = 1u << 20,
		.offset = 4096,
		.bytes = (uint16_t)bytes,
		.is_sealed = true,
		.data = data,
		.term = prng_u64(&prng)};
	return seal_one(&h, &reply);
}

static void read_vector(const json_t *vector, struct sealed *s)
{
	const char *hex = json_string_value(json_object_get(vector, "hex"));
	uint8_t key_id;
	s->length = (uint32_t)strlen(hex) / 2;
	for (uint32_t i = 0; i < s->length; i++) {
		unsigned value;
		assert_int_equal(sscanf(hex + 2 * i, "%2x", &value), 1);
		s->frame[i] = (uint8_t)value;
	}
	assert_true(wire_key_parse(
		json_string_value(json_object_get(vector, "key")), &key_id, &s->key));
	assert_true(uuid_parse(
		json_string_value(json_object_get(vector, "allocation")), &s->allocation));
}

static void vectors_are_opened_and_sealed_alike(void **unused)
{
	size_t at;
	json_t *vector;
	json_array_foreach(json_object_get(vectors, "sealed"), at, vector)
	{
		json_t *fields = json_object_get(vector, "fields");
		const char *data = json_string_value(json_object_get(fields, "data"));
		struct wire_alloc_spec_reply reply;
		uint8_t plain[WIRE_SPEC_BYTES_MAX], again[FRAME_BYTES_MAX];
		struct wire_header h;
		struct sealed s;
		read_vector(vector, &s);
		assert_true(wire_verify(&s.key, s.frame, s.length));
		assert_true(open_it(&s, &reply, plain));
		assert_int_equal(reply.bytes, strlen(data));
		assert_memory_equal(plain, data, reply.bytes);
		assert_int_equal(reply.term, json_integer_value(json_object_get(fields, "term")));
		reply.data = plain;
		assert_int_equal(wire_header_decode(s.frame, s.length, &h), WIRE_OK);
		assert_int_equal(
			wire_alloc_spec_reply_encode(again, sizeof again, h, &reply), s.length);
		wire_alloc_spec_seal(again, &s.key, &s.allocation);
		wire_sign(&s.key, again, s.length);
		assert_memory_equal(again, s.frame, s.length);
	}
	assert_true(at >= 5);
}

static void any_size_comes_out_as_it_went_in(void **unused)
{
	uint8_t data[WIRE_SPEC_BYTES_SEALED], plain[WIRE_SPEC_BYTES_MAX];
	for (uint32_t bytes = 0; bytes <= sizeof data; bytes += 1 + bytes / 16) {
		struct wire_alloc_spec_reply reply;
		for (uint32_t i = 0; i < bytes; i++)
			data[i] = (uint8_t)prng_u64(&prng);
		struct sealed s = seal_some(bytes, data);
		assert_true(open_it(&s, &reply, plain));
		assert_int_equal(reply.bytes, bytes);
		assert_memory_equal(plain, data, bytes);
		// Nothing of it is to be seen.
		if (bytes >= 16)
			assert_null(memmem(s.frame, s.length, data, 16));
	}
}

// Of every bit that the receiver relies on: the header, what describes the piece, nonce, data, tag and term.
static void a_flipped_bit_is_refused(void **unused)
{
	uint8_t data[100] = "a password";
	struct sealed s = seal_some(sizeof data, data);
	for (uint32_t bit = 0; bit < 8 * (s.length - WIRE_TAG_BYTES); bit++) {
		struct sealed changed = s;
		changed.frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (opens(&changed))
			fail_msg("bit %u of byte %u counts nothing", bit % 8, bit / 8);
	}
	assert_true(opens(&s));
}

static void another_key_or_allocation_is_refused(void **unused)
{
	uint8_t data[100] = "a password";
	struct sealed s = seal_some(sizeof data, data), other = s;
	other.key.k[0] ^= 1;
	assert_false(opens(&other));
	other = s;
	other.key.k[1] ^= 1ull << 63;
	assert_false(opens(&other));
	other = s;
	other.allocation.bytes[15] ^= 1;
	assert_false(opens(&other));
}

// A piece in the place of another one, or an answer to an earlier question: header and place are taken from one and
// nonce, data and tag from the other.
static void a_piece_stands_for_no_other(void **unused)
{
	uint8_t data[64] = "the same data in two pieces";
	const struct wire_header h = {
		.key_id = 7, .flags = WIRE_FLAG_TERM | WIRE_FLAG_SEALED, .sequence = 5};
	struct wire_alloc_spec_reply reply = {.version = 9,
		.total = 1000,
		.bytes = sizeof data,
		.is_sealed = true,
		.data = data,
		.term = 12};
	struct sealed first = seal_one(&h, &reply);
	for (uint32_t change = 0; change < 5; change++) {
		struct wire_header other_h = h;
		struct wire_alloc_spec_reply other_reply = reply;
		switch (change) {
		case 0: other_reply.offset = 64; break;
		case 1: other_reply.version++; break;
		case 2: other_reply.total++; break;
		case 3: other_h.sequence++; break;
		case 4: other_h.generation++; break;
		}
		struct sealed second = first;
		assert_int_equal(wire_alloc_spec_reply_encode(
					 second.frame, sizeof second.frame, other_h, &other_reply),
			first.length);
		wire_alloc_spec_seal(second.frame, &second.key, &second.allocation);
		assert_true(opens(&second));
		memcpy(second.frame + NONCE_AT, first.frame + NONCE_AT,
			first.length - WIRE_TAG_BYTES - NONCE_AT);
		if (opens(&second))
			fail_msg("change %u", change);
	}
}

// Sealing the same answer again gives the same bytes; whatever differs gives another nonce.
static void a_nonce_is_of_one_answer(void **unused)
{
	static uint8_t nonces[2 * ROUNDS][WIRE_SEAL_NONCE_BYTES];
	uint8_t data[40] = {0};
	const struct wire_header h = {
		.key_id = 7, .flags = WIRE_FLAG_TERM | WIRE_FLAG_SEALED, .sequence = 5};
	struct wire_alloc_spec_reply reply = {.version = 9,
		.total = 1u << 16,
		.bytes = sizeof data,
		.is_sealed = true,
		.data = data,
		.term = 12};
	struct sealed first = seal_one(&h, &reply);
	for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
		uint8_t frame[FRAME_BYTES_MAX], again[FRAME_BYTES_MAX];
		if (i % 2)
			data[prng_u64(&prng) % sizeof data]++;
		else
			reply.offset++;
		uint32_t length = wire_alloc_spec_reply_encode(frame, sizeof frame, h, &reply);
		memcpy(again, frame, length);
		wire_alloc_spec_seal(frame, &first.key, &first.allocation);
		wire_alloc_spec_seal(again, &first.key, &first.allocation);
		assert_memory_equal(frame, again, length);
		memcpy(nonces[i], frame + NONCE_AT, sizeof nonces[i]);
		for (uint32_t before = 0; before < i; before++)
			assert_memory_not_equal(nonces[before], nonces[i], sizeof nonces[i]);
	}
}

static void an_unknown_seal_is_refused(void **unused)
{
	uint8_t data[4] = "abc";
	struct sealed s = seal_some(sizeof data, data);
	struct wire_alloc_spec_reply reply;
	struct wire_header h;
	assert_int_equal(wire_header_decode(s.frame, s.length, &h), WIRE_OK);
	store16(s.frame + 42, 2);
	assert_false(wire_alloc_spec_reply_decode(s.frame, &h, &reply));
}

// A question leaves room for what a sealed answer has more.
static void a_question_has_room_for_its_answer(void **unused)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_header h = {.key_id = 7, .flags = WIRE_FLAG_TERM | WIRE_FLAG_SEALED};
	struct wire_alloc_spec spec = {.bytes = WIRE_SPEC_BYTES_SEALED};
	uint32_t length = wire_alloc_spec_encode(frame, sizeof frame, h, &spec);
	assert_int_equal(length, FRAME_BYTES_MAX);
	assert_int_equal(wire_header_decode(frame, length, &h), WIRE_OK);
	assert_true(wire_alloc_spec_decode(frame, &h, &spec));
	spec.bytes = WIRE_SPEC_BYTES_SEALED + WIRE_TERM_BYTES + 1;
	assert_int_equal(wire_alloc_spec_encode(frame, sizeof frame, h, &spec), 0);
	store16(frame + 44, (uint16_t)spec.bytes);
	assert_false(wire_alloc_spec_decode(frame, &h, &spec));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_are_opened_and_sealed_alike),
		cmocka_unit_test(any_size_comes_out_as_it_went_in),
		cmocka_unit_test(a_flipped_bit_is_refused),
		cmocka_unit_test(another_key_or_allocation_is_refused),
		cmocka_unit_test(a_piece_stands_for_no_other),
		cmocka_unit_test(a_nonce_is_of_one_answer),
		cmocka_unit_test(an_unknown_seal_is_refused),
		cmocka_unit_test(a_question_has_room_for_its_answer),
	};
	prng_seed(&prng, 20261126);
	wire_seal_prepare();
	vectors = argc > 1 ? json_load_file(argv[1], 0, NULL) : NULL;
	if (!vectors)
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	json_decref(vectors);
	return failed;
}
