// A worker that sleeps, and what ends that. Where nothing should, a moment is waited for; where something should, so
// long that who waits in vain has failed.
#include "dataplane/requests/doorbell.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MOMENT_US 2000u
#define LONG_US 30000000u

static struct doorbell bell;

static int begin(void **unused)
{
	doorbell_open(&bell);
	return bell.event >= 0 ? 0 : -1;
}

static int end(void **unused)
{
	doorbell_close(&bell);
	return 0;
}

// Whether a nap that may last as long as longest_us ended before.
static bool ends_early(uint32_t longest_us)
{
	struct timespec before, after;
	clock_gettime(CLOCK_MONOTONIC, &before);
	assert_false(doorbell_sleep(&bell, -1, longest_us));
	assert_false(atomic_load(&bell.rests));
	clock_gettime(CLOCK_MONOTONIC, &after);
	int64_t took_us =
		(after.tv_sec - before.tv_sec) * 1000000 + (after.tv_nsec - before.tv_nsec) / 1000;
	return took_us < longest_us;
}

static void who_is_up_is_not_rung_for(void **unused)
{
	doorbell_ring(&bell);
	doorbell_lie_down(&bell);
	assert_false(ends_early(MOMENT_US));
	doorbell_lie_down(&bell);
	doorbell_get_up(&bell);
	doorbell_ring(&bell);
	assert_false(ends_early(MOMENT_US));
}

static void what_is_rung_before_the_sleep_ends_it(void **unused)
{
	doorbell_lie_down(&bell);
	doorbell_ring(&bell);
	doorbell_ring(&bell);
	assert_true(ends_early(LONG_US));
	doorbell_lie_down(&bell);
	assert_false(ends_early(MOMENT_US)); // it was heard
}

static void *ring_until_told(void *context)
{
	const _Atomic bool *is_over = context;
	while (!atomic_load(is_over))
		doorbell_ring(&bell);
	return NULL;
}

static void another_thread_ends_it(void **unused)
{
	_Atomic bool is_over = false;
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, ring_until_told, &is_over), 0);
	bool ended_early = true;
	for (uint32_t i = 0; i < 1000 && ended_early; i++) {
		doorbell_lie_down(&bell);
		ended_early = ends_early(LONG_US);
	}
	atomic_store(&is_over, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(ended_early);
}

static void packets_end_it_too(void **unused)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	doorbell_lie_down(&bell);
	assert_false(doorbell_sleep(&bell, ends[0], MOMENT_US));
	assert_int_equal(write(ends[1], "", 1), 1);
	doorbell_lie_down(&bell);
	assert_true(doorbell_sleep(&bell, ends[0], LONG_US));
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_is_up_is_not_rung_for, begin, end),
		cmocka_unit_test_setup_teardown(what_is_rung_before_the_sleep_ends_it, begin, end),
		cmocka_unit_test_setup_teardown(another_thread_ends_it, begin, end),
		cmocka_unit_test_setup_teardown(packets_end_it_too, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
