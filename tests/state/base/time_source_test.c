#include "state/base/time_source.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void real_time_moves_forward(void **unused)
{
	uint64_t first = time_monotonic_ns(&time_source_real);
	for (int i = 0; i < 1000; i++) {
		uint64_t next = time_monotonic_ns(&time_source_real);
		assert_true(next >= first);
		first = next;
	}
	// After 2020, which a clock in other units or with another epoch would miss.
	assert_true(time_wall_ns(&time_source_real) > 1577836800ull * 1000000000u);
	assert_true(time_wall_ns(&time_source_real) < 7258118400ull * 1000000000u);
}

static void manual_time_stands_still(void **unused)
{
	struct manual_time manual = {.monotonic_ns = 5, .wall_ns = 1000};
	struct time_source t = time_source_manual(&manual);
	assert_int_equal(time_monotonic_ns(&t), 5);
	assert_int_equal(time_monotonic_ns(&t), 5);
	manual_time_advance_ms(&manual, 3);
	assert_int_equal(time_monotonic_ns(&t), 3000005);
	assert_int_equal(time_wall_ns(&t), 3001000);
	// Wall time may jump; monotonic time does not follow.
	manual.wall_ns = 7;
	assert_int_equal(time_wall_ns(&t), 7);
	assert_int_equal(time_monotonic_ns(&t), 3000005);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_time_moves_forward),
		cmocka_unit_test(manual_time_stands_still),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
