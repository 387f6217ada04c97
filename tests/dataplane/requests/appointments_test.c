// The times at which nodes that were refused shall come again.
#include "dataplane/requests/appointments.h"
#include "state/base/time_units.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void they_are_one_after_the_other(void **unused)
{
	struct appointments a;
	appointments_begin(&a);
	uint64_t now_ns = 5 * NS_PER_S;
	// Behind those that are pending, as long as they take.
	uint32_t pending = 3000, first_ms = appointments_make_ms(&a, now_ns, pending), last_ms = 0;
	assert_int_equal(first_ms, pending * (uint64_t)APPOINTMENT_EACH_NS_FIRST / NS_PER_MS);
	for (uint32_t i = 0; i < 100000; i++) {
		last_ms = appointments_make_ms(&a, now_ns, pending);
		assert_true(last_ms >= first_ms);
	}
	assert_int_equal(last_ms, 103000 * (uint64_t)APPOINTMENT_EACH_NS_FIRST / NS_PER_MS);
	// They are over when their time has come.
	now_ns += last_ms * NS_PER_MS;
	assert_int_equal(appointments_make_ms(&a, now_ns + NS_PER_S, pending), first_ms);
}

static void they_follow_what_registrations_take(void **unused)
{
	struct appointments a;
	appointments_begin(&a);
	appointments_served(&a, 1000 * 10000, 999);
	assert_int_equal(a.each_ns, 10000); // faster: at once
	appointments_served(&a, NS_PER_S, 999);
	assert_in_range(a.each_ns, 10000, 10300); // slower: bit by bit
	for (uint32_t i = 0; i < 100000; i++)
		appointments_served(&a, NS_PER_S, 9999);
	assert_in_range(a.each_ns, 90000, 100000);
	// What the disk takes says nothing when few are ahead.
	struct appointments before = a;
	appointments_served(&a, 1000, APPOINTMENT_AHEAD_MIN - 1);
	assert_memory_equal(&a, &before, sizeof a);
}

static void they_are_bounded(void **unused)
{
	struct appointments a;
	appointments_begin(&a);
	assert_int_equal(appointments_make_ms(&a, 0, 0), APPOINTMENT_MS_MIN);
	appointments_served(&a, 1, 4000);
	assert_int_equal(a.each_ns, APPOINTMENT_EACH_NS_MIN);
	for (uint32_t i = 0; i < 200000; i++)
		appointments_served(&a, UINT64_MAX / 2, 4000);
	assert_true(a.each_ns <= APPOINTMENT_EACH_NS_MAX);
	for (uint32_t i = 0; i < 200000; i++)
		assert_true(appointments_make_ms(&a, 0, 3000) <= APPOINTMENT_MS_MAX);
	assert_int_equal(appointments_make_ms(&a, 0, 3000), APPOINTMENT_MS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_are_one_after_the_other),
		cmocka_unit_test(they_follow_what_registrations_take),
		cmocka_unit_test(they_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
