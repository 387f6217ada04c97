// A delta turns the bytes that it was made from into those that it was made for, whatever both are, and never takes
// more room than it is given.
#include "state/base/bytes_delta.h"
#include "state/base/prng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 3000, BYTES = 1200 };

static size_t change_some(struct prng *prng, const uint8_t *from, uint8_t *to, size_t size)
{
	size_t changes = prng_below(prng, 40);

	memcpy(to, from, size);
	for (size_t i = 0; i < changes && size > 0; i++)
		to[prng_below(prng, size)] = (uint8_t)prng_u64(prng);
	return changes;
}

static void a_delta_gives_what_it_was_made_for(void **unused)
{
	uint8_t from[BYTES], to[BYTES], delta[BYTES], bytes[BYTES];
	struct prng prng;
	uint32_t made = 0;

	(void)unused;
	prng_seed(&prng, 5);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		size_t size = prng_below(&prng, BYTES + 1), room = prng_below(&prng, BYTES + 1);
		for (size_t at = 0; at < size; at++)
			from[at] = (uint8_t)prng_u64(&prng);
		size_t changes = change_some(&prng, from, to, size);
		memset(delta, 0xee, sizeof delta);
		size_t taken = bytes_delta_make(from, to, size, delta, room);
		// A change takes its byte, a run's head and what skips equal bytes before it.
		if (taken == BYTES_DELTA_NONE) {
			assert_true(room < changes * 3 + BYTES / 255 * 2);
			continue;
		}
		assert_true(taken <= room);
		for (size_t at = room; at < BYTES; at++)
			assert_int_equal(delta[at], 0xee);
		memcpy(bytes, from, size);
		bytes_delta_apply(bytes, delta, taken);
		assert_memory_equal(bytes, to, size);
		made++;
	}
	assert_true(made > ROUNDS / 2 && made < ROUNDS);
}

static void equal_bytes_take_nothing(void **unused)
{
	uint8_t bytes[700] = {1}, delta[1];

	(void)unused;
	assert_int_equal(bytes_delta_make(bytes, bytes, sizeof bytes, delta, 0), 0);
	assert_int_equal(bytes_delta_make(NULL, NULL, 0, delta, 0), 0);
	bytes_delta_apply(bytes, delta, 0);
	assert_int_equal(bytes[0], 1);
}

static void what_is_far_behind_is_found(void **unused)
{
	uint8_t from[700] = {0}, to[700] = {[699] = 7}, delta[16];

	(void)unused;
	size_t taken = bytes_delta_make(from, to, sizeof from, delta, sizeof delta);
	assert_int_equal(taken, 2 + 2 + 3);
	bytes_delta_apply(from, delta, taken);
	assert_memory_equal(from, to, sizeof from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_delta_gives_what_it_was_made_for),
		cmocka_unit_test(equal_bytes_take_nothing),
		cmocka_unit_test(what_is_far_behind_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
