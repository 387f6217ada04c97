// A job that takes long: its evaluation places a part at a time, gives way to others between parts, keeps its delivery
// by progress, and stops when it lost the delivery.
#include "placement/pipeline/pipeline.h"
#include "state/base/time_units.h"
#include "tests/placement/pipeline/cluster.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

// Each look at the clock takes 5 ms; one of them may take longer.
struct slow_clock {
	struct cluster cluster; // first
	uint32_t looks;
	uint32_t long_look; // the number of the long one; 0: none
	uint64_t long_ms;
};

static uint64_t slow_monotonic_ns(void *context)
{
	struct slow_clock *s = context;

	s->looks++;
	manual_time_advance_ms(&s->cluster.time, s->looks == s->long_look ? s->long_ms : 5);
	return s->cluster.time.monotonic_ns;
}

static uint64_t slow_wall_ns(void *context)
{
	struct slow_clock *s = context;
	return s->cluster.time.wall_ns;
}

enum { NODES = 20, INSTANCES = 400, TURNS = 200 };

static int setup(void **state)
{
	struct slow_clock *s = calloc(1, sizeof *s);

	cluster_init(&s->cluster, 3);
	for (uint32_t n = 0; n < NODES; n++)
		cluster_node(&s->cluster, n);
	(void)cluster_settle(&s->cluster);
	s->cluster.source = (struct time_source){slow_monotonic_ns, slow_wall_ns, s};
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct slow_clock *s = *state;

	s->cluster.source = time_source_manual(&s->cluster.time);
	cluster_free(&s->cluster);
	free(s);
	return 0;
}

static void register_job(struct cluster *c, const char *id, int64_t priority, int64_t count)
{
	cluster_job(c, (struct job_ask){.id = id,
			       .type = JOB_BATCH,
			       .priority = priority,
			       .count = count,
			       .cpu = 100,
			       .memory_mb = 100});
}

static uint32_t live(struct cluster *c, const char *job)
{
	return cluster_allocations(c, job).live;
}

static struct pipeline_stats stats(struct cluster *c)
{
	struct pipeline_stats s;
	pipeline_stats(c->pipeline, &s);
	return s;
}

static void turn(struct cluster *c)
{
	(void)applier_step(c->applier);
	(void)pipeline_step(c->pipeline);
	(void)applier_step(c->applier);
}

static void expect_whole(struct cluster *c, const char *job, uint32_t count)
{
	assert_int_equal(live(c, job), count);
	assert_int_equal(cluster_evaluations(c, job, EVAL_COMPLETE, TRIGGER_JOB_REGISTER), 1);
	assert_int_equal(cluster_evaluations(c, job, -1, -1), 1);
}

static void a_job_of_its_priority_has_its_turn(void **state)
{
	struct slow_clock *s = *state;
	struct cluster *c = &s->cluster;
	uint32_t turns = 0;

	register_job(c, "long", 50, INSTANCES);
	register_job(c, "short", 50, 1);
	for (; live(c, "short") == 0; turns++) {
		assert_true(turns < TURNS);
		turn(c);
	}
	assert_in_range(live(c, "long"), 1, INSTANCES - 1);
	for (; cluster_evaluations(c, "long", EVAL_COMPLETE, -1) == 0; turns++) {
		assert_true(turns < TURNS);
		turn(c);
	}
	expect_whole(c, "long", INSTANCES);
	expect_whole(c, "short", 1);
	assert_int_equal(stats(c).nacked, 0);
	cluster_verify(c);
}

static void one_of_less_priority_waits_for_the_end(void **state)
{
	struct slow_clock *s = *state;
	struct cluster *c = &s->cluster;

	register_job(c, "long", 50, INSTANCES);
	register_job(c, "short", 49, 1);
	turn(c);
	expect_whole(c, "long", INSTANCES);
	assert_int_equal(live(c, "short"), 0);
	(void)cluster_settle(c);
	expect_whole(c, "short", 1);
	assert_true(stats(c).plans_submitted > 4);
	assert_int_equal(stats(c).yielded, 0);
}

// One blocked evaluation waits for all that found no room, as if there had been one pass.
static void what_has_no_room_waits_in_one_evaluation(void **state)
{
	struct slow_clock *s = *state;
	struct cluster *c = &s->cluster;
	enum { ROOM = NODES * 40 };

	register_job(c, "long", 50, ROOM + 7);
	(void)cluster_settle(c);
	assert_int_equal(live(c, "long"), ROOM);
	assert_int_equal(cluster_evaluations(c, "long", EVAL_COMPLETE, -1), 1);
	assert_int_equal(cluster_evaluations(c, "long", EVAL_BLOCKED, -1), 1);
	struct evaluation *e = cluster_evaluation(c, "long", EVAL_COMPLETE, -1);
	assert_int_equal(count_get(&e->queued, "g"), 7);
	const struct failed_group *failed = ARRAY_AT(&e->failed_groups, struct failed_group, 0);
	assert_int_equal(failed->metrics.coalesced_failures, 6);
	evaluation_free(e);
	cluster_verify(c);
}

// The delivery ends in the middle of the first pass: nothing is planned, and the next delivery places everything.
static void a_pass_that_lost_its_lease_stops(void **state)
{
	struct slow_clock *s = *state;
	struct cluster *c = &s->cluster;

	register_job(c, "long", 50, INSTANCES);
	s->long_look = s->looks + 40;
	s->long_ms = 61000;
	turn(c);
	assert_int_equal(stats(c).nacked, 1);
	assert_int_equal(stats(c).plans_submitted, 0);
	assert_true(s->looks < s->long_look + 20);
	assert_int_equal(live(c, "long"), 0);
	manual_time_advance_ms(&c->time, 1000);
	turn(c);
	expect_whole(c, "long", INSTANCES);
}

// The time of a pass is not over yet when its delivery is: hardly another instance is looked at. Which look is the long
// one is the same to it, but for those with which the delivery is kept.
static void a_lost_lease_ends_a_pass_before_its_time(void **state)
{
	struct slow_clock *s = *state;
	struct cluster *c = &s->cluster;
	uint32_t lost = 0;

	c->nack_timeout_ns = 100 * NS_PER_MS;
	register_job(c, "long", 50, INSTANCES);
	(void)applier_step(c->applier);
	for (uint32_t look = 20; look < 44; look += 4) {
		cluster_kill(c);
		s->long_look = s->looks + look;
		s->long_ms = 120;
		turn(c);
		if (stats(c).nacked == 0)
			continue;
		lost++;
		assert_int_equal(stats(c).plans_submitted, 0);
		assert_true(s->looks < s->long_look + 12);
		assert_int_equal(live(c, "long"), 0);
	}
	assert_true(lost > 0);
}

static void let_services_preempt(struct cluster *c)
{
	state_read_begin();
	struct scheduler_config config = *state_scheduler_config(c->state);
	state_read_end();
	config.preemption.service = true;
	struct command command = {
		.type = COMMAND_SCHEDULER_CONFIG, .scheduler_config = {.config = &config}};
	assert_int_equal(cluster_run(c, &command), OUTCOME_DONE);
}

static void register_large(struct cluster *c, const char *id, int64_t priority, int64_t count)
{
	cluster_job(c, (struct job_ask){.id = id,
			       .type = JOB_SERVICE,
			       .priority = priority,
			       .count = count,
			       .cpu = 3000,
			       .memory_mb = 6000});
}

static void place_all(struct cluster *c, const char *id, int64_t priority, uint32_t count)
{
	uint32_t turns = 0;

	register_large(c, id, priority, count);
	for (; live(c, id) < count; turns++) {
		assert_true(turns < 10 * TURNS);
		turn(c);
	}
}

// Every instance looks at every node of a full fleet: a delivery may rest for much less than the whole takes, and for
// much more than one look at all nodes does.
static void preemption_over_a_full_fleet_ends(void **state)
{
	enum { FLEET = 1000 };
	struct slow_clock *s = *state;
	struct cluster *c = &s->cluster;

	c->nack_timeout_ns = 300 * NS_PER_MS;
	cluster_kill(c);
	for (uint32_t n = NODES; n < FLEET; n++)
		cluster_node(c, n);
	let_services_preempt(c);
	place_all(c, "low", 10, FLEET);
	uint32_t looks = s->looks;
	place_all(c, "high", 90, FLEET);
	assert_true(s->looks - looks > FLEET);
	assert_int_equal(stats(c).nacked, 0);
	assert_int_equal(live(c, "low"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_job_of_its_priority_has_its_turn),
		TEST(one_of_less_priority_waits_for_the_end),
		TEST(what_has_no_room_waits_in_one_evaluation),
		TEST(a_pass_that_lost_its_lease_stops),
		TEST(a_lost_lease_ends_a_pass_before_its_time),
		TEST(preemption_over_a_full_fleet_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
