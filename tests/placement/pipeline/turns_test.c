// Whose turn it is: never more at once than there are turns, and who waits the shortest comes first.
#include "placement/pipeline/turns.h"
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>

enum { AT_ONCE = 2, THREADS = 6, ROUNDS = 5000 };

struct worker {
	pthread_t thread;
	struct turns *turns;
	_Atomic uint32_t *at_once, *served; // threads whose turn it is; turns so far
	uint32_t place;                     // among the turns
};

static void *work(void *argument)
{
	struct worker *w = argument;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		turns_begin(w->turns);
		if (atomic_fetch_add(w->at_once, 1) >= AT_ONCE)
			fail();
		atomic_fetch_sub(w->at_once, 1);
		turns_end(w->turns);
	}
	return NULL;
}

static void no_more_go_on_than_there_are_turns(void **state)
{
	struct worker workers[THREADS];
	_Atomic uint32_t at_once = 0;
	struct turns turns;

	turns_init(&turns, AT_ONCE);
	for (uint32_t i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.turns = &turns, .at_once = &at_once};
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
	assert_int_equal(turns_waiting(&turns), 0);
	turns_release(&turns);
}

static void *work_once(void *argument)
{
	struct worker *w = argument;

	turns_begin(w->turns);
	w->place = atomic_fetch_add(w->served, 1);
	turns_end(w->turns);
	return NULL;
}

static void who_waits_the_shortest_comes_first(void **state)
{
	struct worker workers[THREADS];
	_Atomic uint32_t served = 0;
	struct turns turns;

	turns_init(&turns, 1);
	turns_begin(&turns);
	for (uint32_t i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.turns = &turns, .served = &served};
		assert_int_equal(
			pthread_create(&workers[i].thread, NULL, work_once, &workers[i]), 0);
		while (turns_waiting(&turns) <= i)
			sched_yield();
	}
	turns_end(&turns);
	for (uint32_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
		assert_int_equal(workers[i].place, THREADS - 1 - i);
	}
	turns_release(&turns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_more_go_on_than_there_are_turns),
		cmocka_unit_test(who_waits_the_shortest_comes_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
