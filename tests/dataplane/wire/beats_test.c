#include "dataplane/wire/auth.h"
#include "dataplane/wire/beats.h"
#include "state/base/prng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct burst_of_beats {
	struct wire_beats beats;
	struct wire_key keys[WIRE_BEATS_MAX];
	uint8_t *
		frames[WIRE_BEATS_MAX]; // blocks of their exact size: a read behind the end is seen
	bool forged[WIRE_BEATS_MAX];
};

static void fill(struct burst_of_beats *b, struct prng *prng, uint32_t count)
{
	b->beats.count = count;
	b->beats.term = prng_u64(prng);
	for (uint32_t i = 0; i < count; i++) {
		struct wire_header header = {.type = WIRE_HEARTBEAT,
			.key_id = (uint8_t)prng_u64(prng),
			.flags = (uint8_t)prng_u64(prng),
			.slot = (uint32_t)prng_u64(prng),
			.generation = (uint32_t)prng_u64(prng),
			.sequence = prng_u64(prng)};
		struct wire_heartbeat beat = {
			prng_u64(prng), prng_u64(prng), (uint32_t)prng_u64(prng)};
		uint8_t *frame = b->frames[i] = malloc(WIRE_HEARTBEAT_BYTES);
		assert_non_null(frame);
		assert_int_equal(wire_heartbeat_encode(frame, WIRE_HEARTBEAT_BYTES, header, &beat),
			WIRE_HEARTBEAT_BYTES);
		b->keys[i] = (struct wire_key){{prng_u64(prng), prng_u64(prng)}};
		wire_sign(&b->keys[i], frame, WIRE_HEARTBEAT_BYTES);
		b->forged[i] = prng_below(prng, 3) == 0;
		if (b->forged[i])
			frame[prng_below(prng, WIRE_HEARTBEAT_BYTES)] ^=
				(uint8_t)(1u << prng_below(prng, 8));
		b->beats.frames[i] = frame;
		b->beats.key[0][i] = b->keys[i].k[0];
		b->beats.key[1][i] = b->keys[i].k[1];
		b->beats.ack_index[i] = prng_u64(prng);
		b->beats.ack_end[i] = prng_u64(prng);
	}
}

// The acknowledgement as the codec writes it and as a single frame is signed. The flags are the heartbeat's.
static void write_ack(const struct burst_of_beats *b, uint32_t i, uint8_t *ack)
{
	struct wire_header header;
	assert_int_equal(wire_header_decode(b->frames[i], WIRE_HEARTBEAT_BYTES, &header), WIRE_OK);
	header.type = WIRE_HEARTBEAT_ACK;
	struct wire_heartbeat_ack said = {b->beats.term, b->beats.ack_index[i],
		(uint32_t)b->beats.ack_end[i], (uint16_t)(b->beats.ack_end[i] >> 32),
		(uint16_t)(b->beats.ack_end[i] >> 48)};
	assert_int_equal(wire_heartbeat_ack_encode(ack, WIRE_HEARTBEAT_BYTES, header, &said),
		WIRE_HEARTBEAT_BYTES);
	wire_sign(&b->keys[i], ack, WIRE_HEARTBEAT_BYTES);
}

static void check_ack(const struct burst_of_beats *b, uint32_t i)
{
	uint8_t ack[WIRE_HEARTBEAT_BYTES];
	uint64_t sum = 0;
	write_ack(b, i, ack);
	assert_memory_equal(&b->beats.ack_tag[0][i], ack + WIRE_HEARTBEAT_BYTES - 16, 8);
	assert_memory_equal(&b->beats.ack_tag[1][i], ack + WIRE_HEARTBEAT_BYTES - 8, 8);
	for (uint32_t at = 0; at < WIRE_HEARTBEAT_BYTES; at++)
		sum += (uint64_t)ack[at] << at % 4 * 8;
	assert_int_equal(b->beats.ack_sum[i], sum);
}

// A forged header is not decoded again: its first words may say anything.
static void check_burst(struct prng *prng, uint32_t count)
{
	struct burst_of_beats b;
	fill(&b, prng, count);
	wire_beats_tag(&b.beats);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(b.beats.differs[i] != 0, b.forged[i]);
		assert_int_equal(b.beats.differs[i] == 0,
			wire_verify(&b.keys[i], b.frames[i], WIRE_HEARTBEAT_BYTES));
		if (!b.forged[i])
			check_ack(&b, i);
		free(b.frames[i]);
	}
}

static void beats_equal_frames_one_by_one(void **state)
{
	const char *method = *state;
	if (!wire_tag_burst_force(method)) {
		print_message("this processor has no %s\n", method);
		skip();
	}
	struct prng prng;
	prng_seed(&prng, 5);
	for (uint32_t round = 0; round < 10; round++)
		for (uint32_t count = 0; count <= WIRE_BEATS_MAX; count++)
			check_burst(&prng, count);
	assert_true(wire_tag_burst_force(NULL));
}

int main(void)
{
	static char scalar[] = "scalar", avx2[] = "avx2", avx512[] = "avx512";
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(beats_equal_frames_one_by_one, scalar),
		cmocka_unit_test_prestate(beats_equal_frames_one_by_one, avx2),
		cmocka_unit_test_prestate(beats_equal_frames_one_by_one, avx512),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
