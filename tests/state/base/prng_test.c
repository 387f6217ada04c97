#include "state/base/prng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

// The authors' generator from the state {1, 2, 3, 4}, by hand: rotl(2 * 5, 7) * 9 = 11520, and on.
static void follows_the_published_sequence(void **unused)
{
	struct prng prng = {{1, 2, 3, 4}};
	static const uint64_t expected[] = {11520, 0, 1509978240, 1215971899390074240};
	for (int i = 0; i < 4; i++)
		assert_true(prng_u64(&prng) == expected[i]);
}

static void a_seed_gives_the_same_numbers_again(void **unused)
{
	struct prng a, b, other;
	prng_seed(&a, 42);
	prng_seed(&b, 42);
	prng_seed(&other, 43);
	int same = 0;
	for (int i = 0; i < 100; i++) {
		uint64_t next = prng_u64(&a);
		assert_true(next == prng_u64(&b));
		same += next == prng_u64(&other);
	}
	assert_int_equal(same, 0);
}

static void bounds_hold_and_are_filled_evenly(void **unused)
{
	enum { BOUND = 7, DRAWS = 70000 };
	struct prng prng;
	prng_seed(&prng, 1);
	int drawn[BOUND] = {0};
	for (int i = 0; i < DRAWS; i++) {
		uint64_t n = prng_below(&prng, BOUND);
		assert_true(n < BOUND);
		drawn[n]++;
	}
	// Ten standard deviations around the mean of 10,000.
	for (int i = 0; i < BOUND; i++)
		assert_in_range(drawn[i], 9000, 11000);
	for (int i = 0; i < 100; i++)
		assert_true(prng_below(&prng, 1) == 0);
	// A bound just above 2^63 refuses almost half of the draws.
	uint64_t large = ((uint64_t)1 << 63) + 1;
	for (int i = 0; i < 1000; i++)
		assert_true(prng_below(&prng, large) < large);
}

static void units_are_below_one(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 9);
	double sum = 0;
	for (int i = 0; i < 10000; i++) {
		double unit = prng_unit(&prng);
		assert_true(unit >= 0 && unit < 1);
		sum += unit;
	}
	assert_true(sum > 4800 && sum < 5200);
}

static void uuids_are_random_ones(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 2);
	struct uuid before = {0};
	for (int i = 0; i < 100; i++) {
		struct uuid id = prng_uuid(&prng);
		assert_int_equal(id.bytes[6] >> 4, 4);
		assert_int_equal(id.bytes[8] >> 6, 2);
		assert_false(uuid_equal(&id, &before));
		before = id;
	}
}

static void the_system_gives_different_seeds(void **unused)
{
	struct prng a, b;
	prng_seed_from_system(&a);
	prng_seed_from_system(&b);
	assert_true(prng_u64(&a) != prng_u64(&b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_the_published_sequence),
		cmocka_unit_test(a_seed_gives_the_same_numbers_again),
		cmocka_unit_test(bounds_hold_and_are_filled_evenly),
		cmocka_unit_test(units_are_below_one),
		cmocka_unit_test(uuids_are_random_ones),
		cmocka_unit_test(the_system_gives_different_seeds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
