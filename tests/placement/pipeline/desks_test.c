// Who decides next: never more threads than there are desks, the most important first, and no more in work than desks
// while much is on its way.
#include "placement/pipeline/desks.h"
#include "placement/pipeline/pipeline_parts.h"
#include "state/base/prng.h"
#include "tests/placement/pipeline/cluster.h"
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include <cmocka.h>

enum { DESKS = 2, THREADS = 6, TURNS = 2000, MANY = 100000 };

struct taker {
	pthread_t thread;
	struct desks *desks;
	int64_t priority;
	uint32_t number;
	_Atomic uint32_t *at_once, *served; // threads that have a desk; turns so far
	uint32_t place;                     // among the turns
};

static void *work(void *argument)
{
	struct taker *t = argument;
	struct prng prng;

	prng_seed(&prng, t->number + 1);
	for (uint32_t i = 0; i < TURNS; i++) {
		uint32_t placements = prng_below(&prng, 10) ? 10 : MANY;
		struct fleet_mirror *desk = desks_take(t->desks, (int64_t)prng_below(&prng, 100));
		uint32_t others = atomic_fetch_add(t->at_once, 1);
		if (others >= DESKS)
			fail();
		atomic_fetch_sub(t->at_once, 1);
		desks_plan_begins(t->desks, placements);
		desks_give(t->desks, desk);
		desks_plan_ends(t->desks, placements);
	}
	return NULL;
}

static void no_more_decide_than_there_are_desks(void **state)
{
	struct cluster c;
	struct taker takers[THREADS];
	_Atomic uint32_t at_once = 0;

	cluster_init(&c, 1);
	struct desks *desks = desks_create(c.state, NULL, DESKS);
	for (uint32_t i = 0; i < THREADS; i++) {
		takers[i] = (struct taker){.desks = desks, .number = i, .at_once = &at_once};
		assert_int_equal(pthread_create(&takers[i].thread, NULL, work, &takers[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(takers[i].thread, NULL), 0);
	assert_int_equal(desks_waiting(desks), 0);
	desks_destroy(desks);
	cluster_free(&c);
}

static void *take_once(void *argument)
{
	struct taker *t = argument;
	struct fleet_mirror *desk = desks_take(t->desks, t->priority);

	t->place = atomic_fetch_add(t->served, 1);
	desks_give(t->desks, desk);
	return NULL;
}

static void begin_taker(struct taker *t, struct desks *desks, int64_t priority, uint32_t waiting,
	_Atomic uint32_t *served)
{
	*t = (struct taker){.desks = desks, .priority = priority, .served = served};
	assert_int_equal(pthread_create(&t->thread, NULL, take_once, t), 0);
	while (desks_waiting(desks) < waiting)
		sched_yield();
}

static void the_most_important_comes_first_then_who_asked_first(void **state)
{
	static const int64_t priorities[] = {50, 10, 90, 50, 90};
	static const uint32_t places[] = {2, 4, 0, 3, 1};
	struct cluster c;
	struct taker takers[5];
	_Atomic uint32_t served = 0;

	cluster_init(&c, 1);
	struct desks *desks = desks_create(c.state, NULL, 1);
	struct fleet_mirror *desk = desks_take(desks, 50);
	for (uint32_t i = 0; i < 5; i++)
		begin_taker(&takers[i], desks, priorities[i], i + 1, &served);
	desks_give(desks, desk);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(pthread_join(takers[i].thread, NULL), 0);
		assert_int_equal(takers[i].place, places[i]);
	}
	desks_destroy(desks);
	cluster_free(&c);
}

// Somebody who asks now is served when the plan of so many placements comes to its end, and no earlier.
static void check_waits_for_plan(struct desks *desks, uint32_t placements)
{
	struct taker taker;
	_Atomic uint32_t served = 0;

	begin_taker(&taker, desks, 50, 1, &served);
	assert_int_equal(served, 0);
	desks_plan_ends(desks, placements);
	assert_int_equal(pthread_join(taker.thread, NULL), 0);
}

static void a_large_plan_lets_nothing_be_decided_ahead(void **state)
{
	struct cluster c;

	cluster_init(&c, 1);
	struct desks *desks = desks_create(c.state, NULL, 1);
	desks_plan_begins(desks, 10);
	desks_give(desks, desks_take(desks, 50)); // a small one does
	desks_plan_begins(desks, MANY);
	desks_plan_ends(desks, 10);
	check_waits_for_plan(desks, MANY); // as many in work as there are desks
	desks_destroy(desks);
	cluster_free(&c);
}

// The disk stands still: no plan comes to its end, and the only desk serves one evaluation after the other.
static void others_decide_while_a_plan_is_on_its_way(void **state)
{
	enum { ALONE = 1, ALL = 8, LEFT = 5, JOBS = ALL + LEFT };
	struct cluster c;
	struct pipeline_stats stats;
	char name[16];

	cluster_init_deciding(&c, ALL, ALONE, 0);
	cluster_node(&c, 0);
	pipeline_pause_threads(c.pipeline, true);
	for (uint32_t j = 0; j < JOBS; j++) {
		snprintf(name, sizeof name, "job-%u", j);
		cluster_job(&c, (struct job_ask){.id = name, .type = JOB_SERVICE});
	}
	atomic_store(&c.log.block, 1);
	pipeline_pause_threads(c.pipeline, false);
	do { // each thread may have taken one before the pause
		sched_yield();
		pipeline_stats(c.pipeline, &stats);
	} while (stats.broker.unacked < LEFT);
	atomic_store(&c.log.block, 0);
	for (uint32_t j = 0; j < JOBS; j++) {
		snprintf(name, sizeof name, "job-%u", j);
		cluster_await(&c, name, 1);
	}
	cluster_free(&c);
}

struct room {
	uint32_t processors, deciding;
	uint32_t desks, threads;
};

// A desk without a processor of its own only takes time from the others, and the applier wants one for their plans.
static void desks_leave_the_applier_a_processor(void **state)
{
	static const struct room rooms[] = {
		{1, 1, 1, 16},
		{1, 4, 1, 16},
		{2, 1, 1, 16},
		{2, 4, 1, 16},
		{3, 1, 1, 16},
		{3, 2, 2, 32},
		{3, 4, 2, 32},
		{8, 4, 4, 64},
		{8, 64, 7, 64},
	};
	struct cluster c;

	for (uint32_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
		const struct room *r = &rooms[i];
		cluster_init_deciding(&c, PIPELINE_THREADS_MAX, r->deciding, r->processors);
		assert_int_equal(c.pipeline->desk_count, r->desks);
		assert_int_equal(c.pipeline->thread_count, r->threads);
		cluster_free(&c);
	}
}

// Those that this process may use.
static void processors_are_counted(void **state)
{
	struct cluster c;
	cpu_set_t before, one;

	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	cluster_init(&c, 1);
	struct pipeline *p = pipeline_create(&(struct pipeline_settings){
		.state = c.state, .queue = c.queue, .time = &c.source, .threads = 64});
	assert_int_equal(p->desk_count, 1);
	pipeline_destroy(p);
	cluster_free(&c);
	assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_more_decide_than_there_are_desks),
		cmocka_unit_test(the_most_important_comes_first_then_who_asked_first),
		cmocka_unit_test(a_large_plan_lets_nothing_be_decided_ahead),
		cmocka_unit_test(others_decide_while_a_plan_is_on_its_way),
		cmocka_unit_test(desks_leave_the_applier_a_processor),
		cmocka_unit_test(processors_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
