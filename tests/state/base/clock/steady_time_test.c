// A machine's clock that jumps, in both directions, by a second and by a year.
#include "state/base/clock/steady_time.h"
#include "state/base/time_units.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define YEAR_NS ((int64_t)365 * 24 * 3600 * NS_PER_S)
#define START_NS (1795225440ull * NS_PER_S)

static struct manual_time manual;
static struct time_source machine;

static int begin(void **unused)
{
	manual = (struct manual_time){.monotonic_ns = 77, .wall_ns = START_NS};
	machine = time_source_manual(&manual);
	return 0;
}

static void pass_s(uint64_t seconds)
{
	manual_time_advance_ms(&manual, seconds * 1000);
}

static void goes_as_the_machine_goes(void **unused)
{
	struct steady_time steady = STEADY_TIME(&machine);
	struct time_source t = steady_time_source(&steady);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(time_wall_ns(&t), manual.wall_ns);
		assert_int_equal(time_monotonic_ns(&t), manual.monotonic_ns);
		assert_int_equal(time_boot_ns(&t), manual.monotonic_ns);
		assert_int_equal(steady_time_lag_ns(&steady), 0);
		manual_time_advance_ms(&manual, 1 + (uint64_t)i * 37);
	}
}

static void a_jump_is_not_followed_at_once(void **unused)
{
	static const int64_t jumps_ns[] = {YEAR_NS, -YEAR_NS, 10 * YEAR_NS, -10 * YEAR_NS};
	for (size_t i = 0; i < sizeof jumps_ns / sizeof jumps_ns[0]; i++) {
		begin(NULL);
		struct steady_time steady = STEADY_TIME(&machine);
		struct time_source t = steady_time_source(&steady);
		assert_int_equal(time_wall_ns(&t), START_NS);
		manual.wall_ns += (uint64_t)jumps_ns[i];
		assert_int_equal(time_wall_ns(&t), START_NS);
		assert_int_equal(steady_time_lag_ns(&steady), jumps_ns[i]);
		pass_s(800);
		uint64_t wall_ns = time_wall_ns(&t);
		assert_int_equal(wall_ns, START_NS + (jumps_ns[i] > 0 ? 900 : 700) * NS_PER_S);
		// Right again: what was followed is undone as slowly, and it never goes back.
		manual.wall_ns -= (uint64_t)jumps_ns[i];
		for (int step = 0; step < 800; step++) {
			pass_s(1);
			uint64_t next_ns = time_wall_ns(&t);
			assert_true(next_ns > wall_ns);
			wall_ns = next_ns;
		}
		assert_int_equal(time_wall_ns(&t), manual.wall_ns);
		assert_int_equal(steady_time_lag_ns(&steady), 0);
	}
}

static void a_second_is_made_up_for_in_eight(void **unused)
{
	struct steady_time steady = STEADY_TIME(&machine);
	struct time_source t = steady_time_source(&steady);
	(void)time_wall_ns(&t);
	manual.wall_ns += NS_PER_S;
	pass_s(4);
	assert_int_equal(steady_time_lag_ns(&steady), NS_PER_S / 2);
	pass_s(4);
	assert_int_equal(time_wall_ns(&t), manual.wall_ns);
	manual.wall_ns -= NS_PER_S;
	pass_s(7);
	assert_int_equal(steady_time_lag_ns(&steady), -(int64_t)NS_PER_S / 8);
	pass_s(2);
	assert_int_equal(time_wall_ns(&t), manual.wall_ns);
}

#define READS 200000

static _Atomic bool went_back;

static void *read_many(void *context)
{
	const struct time_source *t = context;
	uint64_t last_ns = 0;
	for (int i = 0; i < READS; i++) {
		uint64_t now_ns = time_wall_ns(t);
		if (now_ns < last_ns)
			went_back = true;
		last_ns = now_ns;
	}
	return NULL;
}

static void threads_see_it_go_forward(void **unused)
{
	pthread_t threads[4];
	struct time_source t = time_source_steady;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_many, &t), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_false(went_back);
	int64_t lag_ns = time_source_steady_lag_ns();
	assert_true(lag_ns > -(int64_t)NS_PER_S && lag_ns < (int64_t)NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(goes_as_the_machine_goes, begin),
		cmocka_unit_test_setup(a_jump_is_not_followed_at_once, begin),
		cmocka_unit_test_setup(a_second_is_made_up_for_in_eight, begin),
		cmocka_unit_test(threads_see_it_go_forward),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
