// Row B22, and that one counter serves calls of different base and cap; waits with jitter.
#include "state/base/backoff.h"
#include "state/base/time_units.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void follow(int64_t base_ms, int64_t cap_ms, const int64_t *expected_ms, uint32_t count)
{
	struct backoff b = {0};

	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(backoff_next_ns(&b, base_ms * NS_PER_MS, cap_ms * NS_PER_MS),
			expected_ms[i] * NS_PER_MS);
}

static void waits_grow_fourfold_up_to_the_cap(void **unused)
{
	follow(20, 10000, (int64_t[]){20, 80, 320, 1280, 5120, 10000, 10000}, 7);
	follow(20, 1000, (int64_t[]){20, 80, 320, 1000, 1000}, 5);
	follow(500, 10000, (int64_t[]){500, 2000, 8000, 10000, 10000}, 5);
	follow(30000, 30000, (int64_t[]){30000, 30000, 30000}, 3);
}

static void failures_stop_counting_beyond_the_cap(void **unused)
{
	struct backoff b = {0};

	for (uint32_t i = 0; i < 1000; i++)
		(void)backoff_next_ns(&b, 20 * NS_PER_MS, 1000 * NS_PER_MS);
	assert_int_equal(b.failures, 3);
	// A call with a higher cap goes on from there.
	assert_int_equal(backoff_next_ns(&b, 20 * NS_PER_MS, 10000 * NS_PER_MS), 1280 * NS_PER_MS);
	assert_int_equal(b.failures, 4);
	backoff_reset(&b);
	assert_int_equal(backoff_next_ns(&b, 500 * NS_PER_MS, 10000 * NS_PER_MS), 500 * NS_PER_MS);
}

static void a_base_beyond_the_cap_is_the_cap(void **unused)
{
	struct backoff b = {0};

	assert_int_equal(backoff_next_ns(&b, 50 * NS_PER_MS, 20 * NS_PER_MS), 20 * NS_PER_MS);
	assert_int_equal(b.failures, 0);
}

static void with_jitter_the_limit_doubles_up_to_the_cap(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 1);
	struct backoff b = {0};
	uint64_t limit = 100, longest = 0;
	for (uint32_t i = 0; i < 200; i++) {
		uint64_t wait = backoff_jittered_ms(&b, 100, 30000, &prng);
		assert_true(wait <= limit);
		longest = wait > longest ? wait : longest;
		limit = limit * 2 < 30000 ? limit * 2 : 30000;
	}
	assert_true(longest > 15000);
	backoff_reset(&b);
	assert_true(backoff_jittered_ms(&b, 100, 30000, &prng) <= 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_grow_fourfold_up_to_the_cap),
		cmocka_unit_test(failures_stop_counting_beyond_the_cap),
		cmocka_unit_test(a_base_beyond_the_cap_is_the_cap),
		cmocka_unit_test(with_jitter_the_limit_doubles_up_to_the_cap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
