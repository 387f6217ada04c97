// What a comparison of tags does must not depend on secrets: keys, and tags made under them. Runs under valgrind, which
// is told that they were never written, and then complains of each branch and each address that depends on them. It
// knows no AVX-512, so that the method of that name cannot be looked at; the others are.
#include "dataplane/wire/auth.h"
#include "dataplane/wire/beats.h"
#include "dataplane/wire/little_endian.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <valgrind/memcheck.h>

#define FRAME_BYTES 64u

static const struct wire_key key = {{0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull}};

// A frame under the key, with its tag made wrong at one of its bytes, or right when that is WIRE_TAG_BYTES.
static void sign_with_mistake(uint8_t *frame, uint32_t wrong_at)
{
	for (uint32_t i = 0; i < FRAME_BYTES; i++)
		frame[i] = (uint8_t)(i * 7);
	wire_sign(&key, frame, FRAME_BYTES);
	if (wrong_at < WIRE_TAG_BYTES)
		frame[FRAME_BYTES - WIRE_TAG_BYTES + wrong_at] ^= 0x10;
}

static struct wire_key secret_key(void)
{
	struct wire_key secret = key;
	(void)VALGRIND_MAKE_MEM_UNDEFINED(&secret, sizeof secret);
	return secret;
}

// The one thing that everybody may see.
static bool reveal(bool verdict)
{
	(void)VALGRIND_MAKE_MEM_DEFINED(&verdict, sizeof verdict);
	return verdict;
}

// As memcmp is where it goes byte by byte.
static bool leaves_at_the_first_difference(const uint8_t *a, const uint8_t *b)
{
	for (uint32_t i = 0; i < WIRE_TAG_BYTES; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

static void verify_depends_on_no_secret(void **unused)
{
	for (uint32_t wrong_at = 0; wrong_at <= WIRE_TAG_BYTES; wrong_at++) {
		uint8_t frame[FRAME_BYTES];
		sign_with_mistake(frame, wrong_at);
		struct wire_key secret = secret_key();
		unsigned before = VALGRIND_COUNT_ERRORS;
		bool verdict = wire_verify(&secret, frame, FRAME_BYTES);
		assert_int_equal(VALGRIND_COUNT_ERRORS, before);
		assert_int_equal(reveal(verdict), wrong_at == WIRE_TAG_BYTES);
	}
}

static void equality_depends_on_no_tag(void **unused)
{
	for (uint32_t wrong_at = 0; wrong_at <= WIRE_TAG_BYTES; wrong_at++) {
		uint8_t said[WIRE_TAG_BYTES] = {0}, expected[WIRE_TAG_BYTES] = {0};
		if (wrong_at < WIRE_TAG_BYTES)
			said[wrong_at] = 1;
		(void)VALGRIND_MAKE_MEM_UNDEFINED(expected, sizeof expected);
		unsigned before = VALGRIND_COUNT_ERRORS;
		bool verdict = wire_tag_equal(said, expected);
		assert_int_equal(VALGRIND_COUNT_ERRORS, before);
		assert_int_equal(reveal(verdict), wrong_at == WIRE_TAG_BYTES);
	}
}

static void fill_beats(struct wire_beats *b, uint8_t (*frames)[FRAME_BYTES])
{
	*b = (struct wire_beats){.term = 1, .count = WIRE_BEATS_MAX};
	for (uint32_t i = 0; i < WIRE_BEATS_MAX; i++) {
		sign_with_mistake(frames[i], i == WIRE_BEATS_MAX - 1 ? WIRE_TAG_BYTES : i);
		b->frames[i] = frames[i];
		b->key[0][i] = key.k[0];
		b->key[1][i] = key.k[1];
	}
	(void)VALGRIND_MAKE_MEM_UNDEFINED(b->key, sizeof b->key);
}

static void heartbeats_depend_on_no_secret(void **state)
{
	const char *method = *state;
	if (!wire_tag_burst_force(method)) {
		print_message("this processor, or valgrind, has no %s\n", method);
		skip();
	}
	uint8_t frames[WIRE_BEATS_MAX][FRAME_BYTES];
	struct wire_beats beats;
	fill_beats(&beats, frames);
	unsigned before = VALGRIND_COUNT_ERRORS;
	wire_beats_tag(&beats);
	assert_int_equal(VALGRIND_COUNT_ERRORS, before);
	assert_true(wire_tag_burst_force(NULL));
	for (uint32_t i = 0; i < WIRE_BEATS_MAX; i++)
		assert_int_equal(reveal(beats.differs[i] == 0), i == WIRE_BEATS_MAX - 1);
}

// Without these the others could not fail.
static void a_branch_on_a_verdict_is_seen(void **unused)
{
	uint8_t frame[FRAME_BYTES];
	sign_with_mistake(frame, 0);
	struct wire_key secret = secret_key();
	unsigned before = VALGRIND_COUNT_ERRORS;
	if (wire_verify(&secret, frame, FRAME_BYTES))
		fail();
	assert_true(VALGRIND_COUNT_ERRORS > before);
}

static void a_comparison_that_leaves_early_is_seen(void **unused)
{
	uint8_t said[WIRE_TAG_BYTES] = {1}, expected[WIRE_TAG_BYTES] = {0};
	(void)VALGRIND_MAKE_MEM_UNDEFINED(expected, sizeof expected);
	unsigned before = VALGRIND_COUNT_ERRORS;
	assert_false(reveal(leaves_at_the_first_difference(said, expected)));
	assert_true(VALGRIND_COUNT_ERRORS > before);
}

static void a_place_in_a_table_is_seen(void **unused)
{
	static const uint8_t table[256] = {1};
	volatile uint8_t place = 0;
	(void)VALGRIND_MAKE_MEM_UNDEFINED((void *)&place, sizeof place);
	unsigned before = VALGRIND_COUNT_ERRORS;
	assert_true(reveal(table[place] == 1));
	assert_true(VALGRIND_COUNT_ERRORS > before);
}

int main(void)
{
	if (!RUNNING_ON_VALGRIND) {
		print_error("to be run under valgrind\n");
		return 1;
	}
	static const char *const methods[] = {"scalar", "avx2"};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verify_depends_on_no_secret),
		cmocka_unit_test(equality_depends_on_no_tag),
		cmocka_unit_test_prestate(heartbeats_depend_on_no_secret, (void *)methods[0]),
		cmocka_unit_test_prestate(heartbeats_depend_on_no_secret, (void *)methods[1]),
		cmocka_unit_test(a_branch_on_a_verdict_is_seen),
		cmocka_unit_test(a_comparison_that_leaves_early_is_seen),
		cmocka_unit_test(a_place_in_a_table_is_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
