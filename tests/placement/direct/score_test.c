#include "placement/direct/placement.h"
#include "state/base/prng.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_score(struct resources capacity, struct resources used, double binpack)
{
	double b = placement_score(PLACEMENT_BINPACK, capacity, used);
	double s = placement_score(PLACEMENT_SPREAD, capacity, used);
	assert_true(fabs(b - binpack) < 5e-7);
	assert_true(fabs(s - (1 - binpack)) < 5e-7);
}

static void check_values(void **state)
{
	struct resources capacity = {4000, 8192, 1};
	assert_score(capacity, (struct resources){0, 0, 0}, 0.0);
	assert_score(capacity, (struct resources){2000, 4096, 0}, 0.759747);
	assert_score(capacity, (struct resources){4000, 8192, 0}, 1.0);
	assert_true(placement_score(PLACEMENT_BINPACK, capacity, capacity) == 1.0);
	assert_true(placement_score(PLACEMENT_SPREAD, capacity, capacity) == 0.0);
}

static void no_capacity_counts_as_fully_used(void **state)
{
	assert_score((struct resources){0, 0, 0}, (struct resources){0, 0, 0}, 1.0);
	assert_score((struct resources){0, 8192, 0}, (struct resources){0, 8192, 0}, 1.0);
}

static void scores_stay_within_bounds(void **state)
{
	struct prng prng;
	prng_seed(&prng, 1);
	for (uint32_t i = 0; i < 20000; i++) {
		struct resources capacity = {
			(uint32_t)prng_below(&prng, 1000), (uint32_t)prng_below(&prng, 1000), 0};
		struct resources used = {
			(uint32_t)prng_below(&prng, 1500), (uint32_t)prng_below(&prng, 1500), 0};
		for (int a = PLACEMENT_BINPACK; a <= PLACEMENT_SPREAD; a++) {
			double score = placement_score((enum placement_algorithm)a, capacity, used);
			assert_true(score >= 0.0 && score <= 1.0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_values),
		cmocka_unit_test(no_capacity_counts_as_fully_used),
		cmocka_unit_test(scores_stay_within_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
