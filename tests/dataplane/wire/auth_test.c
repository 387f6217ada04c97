#include "dataplane/wire/auth.h"
#include "state/base/prng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <sodium.h>

#define BURST_COUNT_MAX 70u

static void random_bytes(struct prng *prng, uint8_t *bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)prng_u64(prng);
}

static void sodium_tag(const struct wire_key *key, const uint8_t *data, uint32_t size, uint8_t *tag)
{
	uint8_t k[crypto_shorthash_siphashx24_KEYBYTES];
	for (uint32_t i = 0; i < sizeof k; i++)
		k[i] = (uint8_t)(key->k[i / 8] >> (8 * (i % 8)));
	assert_int_equal(crypto_shorthash_siphashx24(tag, data, size, k), 0);
}

// The reference implementation's vector for a key of 00 … 0f and an input of 00 … 3e.
static void tag_equals_the_published_vector(void **unused)
{
	struct wire_key key = {{0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull}};
	static const uint8_t empty[16] = {0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d,
		0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02, 0x93};
	static const uint8_t one[16] = {0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76,
		0x59, 0x11, 0x9b, 0x22, 0xfc, 0x45};
	uint8_t frame[1 + WIRE_TAG_BYTES] = {0};
	wire_sign(&key, frame, WIRE_TAG_BYTES);
	assert_memory_equal(frame, empty, sizeof empty);
	frame[0] = 0;
	wire_sign(&key, frame, sizeof frame);
	assert_memory_equal(frame + 1, one, sizeof one);
}

static void tag_equals_libsodium_for_every_size(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 1);
	uint8_t data[8 + FRAME_BYTES_MAX + WIRE_TAG_BYTES], expected[WIRE_TAG_BYTES];
	random_bytes(&prng, data, sizeof data);
	for (uint32_t size = 0; size <= FRAME_BYTES_MAX; size++) {
		struct wire_key key = {{prng_u64(&prng), prng_u64(&prng)}};
		uint8_t *start = data + prng_below(&prng, 8);
		sodium_tag(&key, start, size, expected);
		wire_sign(&key, start, size + WIRE_TAG_BYTES);
		assert_memory_equal(start + size, expected, sizeof expected);
	}
}

// One burst of random keys and data; every datum is a heap block of its exact size, so that a read behind
// its end is seen by the address sanitizer. A guard behind the tags sees a write behind their end.
static void check_burst(struct prng *prng, uint32_t size, uint32_t count)
{
	struct wire_key keys[BURST_COUNT_MAX];
	const struct wire_key *key_pointers[BURST_COUNT_MAX] = {0};
	uint8_t *data[BURST_COUNT_MAX] = {0};
	uint8_t tags[BURST_COUNT_MAX + 1][WIRE_TAG_BYTES], expected[WIRE_TAG_BYTES];
	memset(tags, 0xa5, sizeof tags);
	for (uint32_t i = 0; i < count; i++) {
		keys[i] = (struct wire_key){{prng_u64(prng), prng_u64(prng)}};
		key_pointers[i] = &keys[i];
		data[i] = malloc(size ? size : 1);
		assert_non_null(data[i]);
		random_bytes(prng, data[i], size);
	}
	wire_tag_burst(key_pointers, (const uint8_t *const *)data, size, count, tags);
	for (uint32_t i = 0; i < count; i++) {
		sodium_tag(&keys[i], data[i], size, expected);
		assert_memory_equal(tags[i], expected, sizeof expected);
		free(data[i]);
	}
	memset(expected, 0xa5, sizeof expected);
	assert_memory_equal(tags[count], expected, sizeof expected);
}

static void burst_equals_libsodium(void **state)
{
	const char *method = *state;
	if (!wire_tag_burst_force(method)) {
		print_message("this processor has no %s\n", method);
		skip();
	}
	assert_string_equal(wire_tag_burst_name(), method);
	struct prng prng;
	prng_seed(&prng, 2);
	for (uint32_t size = 0; size <= 200; size++)
		check_burst(&prng, size, 1 + (uint32_t)prng_below(&prng, 20));
	for (uint32_t count = 0; count <= BURST_COUNT_MAX; count++)
		check_burst(&prng, 48, count);
	for (uint32_t i = 0; i < 100; i++)
		check_burst(&prng, (uint32_t)prng_below(&prng, FRAME_BYTES_MAX + 1),
			1 + (uint32_t)prng_below(&prng, 33));
	assert_true(wire_tag_burst_force(NULL));
}

static void force_refuses_an_unknown_method(void **unused)
{
	const char *before = wire_tag_burst_name();
	assert_false(wire_tag_burst_force("abacus"));
	assert_string_equal(wire_tag_burst_name(), before);
}

static void verify_accepts_what_sign_made_and_nothing_else(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 3);
	struct wire_key key = {{1, 2}}, other = {{1, 3}};
	uint8_t frame[64];
	random_bytes(&prng, frame, sizeof frame);
	wire_sign(&key, frame, sizeof frame);
	assert_true(wire_verify(&key, frame, sizeof frame));
	assert_false(wire_verify(&other, frame, sizeof frame));
	assert_false(wire_verify(&key, frame, sizeof frame - 1));
	assert_false(wire_verify(&key, frame, WIRE_FRAME_BYTES_MIN - 1));
	for (uint32_t bit = 0; bit < 8 * sizeof frame; bit++) {
		frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(wire_verify(&key, frame, sizeof frame));
		frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

// The window against a plain list of everything that was accepted.
static void replay_window_equals_a_list(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 4);
	for (uint32_t round = 0; round < 50; round++) {
		uint64_t sequence = 0, window = 0, highest = 0;
		bool accepted[2000] = {false};
		for (uint32_t i = 0; i < 1000; i++) {
			uint64_t low = highest > 90 ? highest - 90 : 0;
			uint64_t seen = 1 + low + prng_below(&prng, 110);
			if (seen >= 2000)
				break;
			bool expected = seen > highest || (highest - seen < 64 && !accepted[seen]);
			assert_int_equal(replay_accept(&sequence, &window, seen), expected);
			accepted[seen] |= expected;
			highest = seen > highest ? seen : highest;
			assert_int_equal(sequence, highest);
		}
	}
}

int main(void)
{
	static char scalar[] = "scalar", avx2[] = "avx2", avx512[] = "avx512";
	if (sodium_init() < 0)
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tag_equals_the_published_vector),
		cmocka_unit_test(tag_equals_libsodium_for_every_size),
		cmocka_unit_test_prestate(burst_equals_libsodium, scalar),
		cmocka_unit_test_prestate(burst_equals_libsodium, avx2),
		cmocka_unit_test_prestate(burst_equals_libsodium, avx512),
		cmocka_unit_test(force_refuses_an_unknown_method),
		cmocka_unit_test(verify_accepts_what_sign_made_and_nothing_else),
		cmocka_unit_test(replay_window_equals_a_list),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
