// The whole path from a registered job to its allocations, on a clock that stands still: state, applier, log in memory,
// broker, scheduler and housekeeping are the daemon's own.
#include "placement/pipeline/core.h"
#include "placement/pipeline/pipeline_parts.h"
#include "state/base/error.h"
#include "state/records/plan.h"
#include "state/records/scheduler_config.h"
#include "tests/placement/broker/evals.h"
#include "tests/placement/pipeline/cluster.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 1000, RACK = 200, MARKS_MS = 1100 };

static int setup(void **state)
{
	struct cluster *c = calloc(1, sizeof *c);

	cluster_init(c, 42);
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	struct cluster *c = *state;

	cluster_verify(c);
	cluster_free(c);
	free(c);
	return 0;
}

static void add_nodes(struct cluster *c, uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		cluster_node(c, first + i);
	cluster_advance(c, MARKS_MS);
}

static struct job_ask agent(const char *version)
{
	return (struct job_ask){.id = "agent", .type = JOB_SYSTEM, .version = version};
}

static void a_system_job_is_everywhere(void **state)
{
	struct cluster *c = *state;

	add_nodes(c, 0, NODES);
	cluster_job(c, agent("1"));
	assert_int_equal(cluster_evaluations(c, "agent", EVAL_PENDING, TRIGGER_JOB_REGISTER), 1);
	(void)cluster_settle(c);
	assert_int_equal(cluster_allocations(c, "agent").live, NODES);
	assert_int_equal(cluster_evaluations(c, "agent", EVAL_COMPLETE, TRIGGER_JOB_REGISTER), 1);
	assert_int_equal(cluster_evaluations(c, "agent", EVAL_PENDING, -1), 0);
	cluster_verify(c);
	// The log has all of it.
	cluster_kill(c);
	(void)cluster_settle(c);
	assert_int_equal(cluster_allocations(c, "agent").live, NODES);
	assert_int_equal(cluster_evaluations(c, "agent", -1, -1), 1);
}

static void a_new_node_gets_its_share(void **state)
{
	struct cluster *c = *state;

	add_nodes(c, 0, 10);
	cluster_job(c, agent("1"));
	(void)cluster_settle(c);
	add_nodes(c, 10, 5);
	assert_int_equal(cluster_allocations(c, "agent").live, 15);
	assert_int_equal(cluster_evaluations(c, "agent", EVAL_COMPLETE, TRIGGER_NODE_UPDATE), 1);
}

// A rack goes down: its allocations are lost, with one evaluation per job for any number of nodes.
static void a_lost_rack_costs_an_evaluation_per_job(void **state)
{
	static const char *const jobs[] = {"a", "b", "c", "d", "e"};
	struct cluster *c = *state;

	add_nodes(c, 0, NODES);
	for (uint32_t j = 0; j < 5; j++)
		cluster_job(c, (struct job_ask){.id = jobs[j], .type = JOB_SYSTEM});
	(void)cluster_settle(c);
	for (uint32_t n = 0; n < RACK; n++)
		cluster_node_down(c, n);
	cluster_advance(c, MARKS_MS);
	for (uint32_t j = 0; j < 5; j++) {
		struct alloc_counts n = cluster_allocations(c, jobs[j]);
		assert_int_equal(n.live, NODES - RACK);
		assert_int_equal(n.lost, RACK);
		assert_int_equal(
			cluster_evaluations(c, jobs[j], EVAL_COMPLETE, TRIGGER_NODE_UPDATE), 1);
	}
	for (uint32_t n = 0; n < RACK; n++)
		cluster_node_returned(c, n);
	cluster_advance(c, MARKS_MS);
	for (uint32_t j = 0; j < 5; j++)
		assert_int_equal(cluster_allocations(c, jobs[j]).live, NODES);
}

static struct job_ask rolling(const char *version)
{
	struct job_ask ask = agent(version);
	ask.max_parallel = 20;
	ask.stagger_ms = 30000;
	return ask;
}

static void a_rollout_respects_max_parallel_and_stagger(void **state)
{
	struct cluster *c = *state;

	add_nodes(c, 0, 100);
	cluster_job(c, rolling("1"));
	(void)cluster_settle(c);
	assert_int_equal(cluster_allocations(c, "agent").live, 100);
	cluster_job(c, rolling("2"));
	(void)cluster_settle(c);
	for (uint32_t round = 1; round <= 5; round++) {
		struct alloc_counts n = cluster_allocations(c, "agent");
		assert_int_equal(n.of_version, 20 * round);
		assert_int_equal(n.live, 100);
		cluster_advance(c, 29900);
		assert_int_equal(cluster_allocations(c, "agent").of_version, 20 * round);
		cluster_advance(c, 100);
	}
	assert_int_equal(cluster_allocations(c, "agent").of_version, 100);
	assert_int_equal(cluster_evaluations(c, "agent", EVAL_COMPLETE, TRIGGER_ROLLING_UPDATE), 4);
	assert_int_equal(cluster_evaluations(c, "agent", EVAL_PENDING, -1), 0);
}

// The controller is killed in the middle: the next step comes when it would have come.
static void a_rollout_goes_on_after_a_kill(void **state)
{
	struct cluster *c = *state;

	add_nodes(c, 0, 100);
	cluster_job(c, rolling("1"));
	(void)cluster_settle(c);
	cluster_job(c, rolling("2"));
	(void)cluster_settle(c);
	cluster_advance(c, 40000);
	assert_int_equal(cluster_allocations(c, "agent").of_version, 40);
	cluster_kill(c);
	(void)cluster_settle(c);
	assert_int_equal(cluster_allocations(c, "agent").of_version, 40);
	cluster_advance(c, 19000);
	assert_int_equal(cluster_allocations(c, "agent").of_version, 40);
	cluster_advance(c, 1200);
	assert_int_equal(cluster_allocations(c, "agent").of_version, 60);
	cluster_kill(c);
	cluster_advance(c, 62000);
	assert_int_equal(cluster_allocations(c, "agent").of_version, 100);
	assert_int_equal(cluster_allocations(c, "agent").live, 100);
}

static void a_full_node_waits_for_room(void **state)
{
	struct cluster *c = *state;
	struct pipeline_stats stats;

	add_nodes(c, 0, 10);
	cluster_job(
		c, (struct job_ask){.id = "big", .type = JOB_SYSTEM, .cpu = 3000, .priority = 50});
	(void)cluster_settle(c);
	cluster_job(
		c, (struct job_ask){.id = "more", .type = JOB_SYSTEM, .cpu = 3000, .priority = 50});
	(void)cluster_settle(c);
	assert_int_equal(cluster_allocations(c, "more").live, 0);
	assert_int_equal(cluster_evaluations(c, "more", EVAL_BLOCKED, TRIGGER_QUEUED_ALLOCS), 10);
	pipeline_stats(c->pipeline, &stats);
	assert_int_equal(stats.blocked.blocked, 10);
	cluster_kill(c); // the restarted controller takes them over
	pipeline_stats(c->pipeline, &stats);
	assert_int_equal(stats.blocked.blocked, 10);
	cluster_stop_job(c, "big");
	(void)cluster_settle(c);
	assert_int_equal(cluster_allocations(c, "big").live, 0);
	assert_int_equal(cluster_allocations(c, "more").live, 0); // what is to stop still runs
	cluster_kill(c);
	(void)cluster_settle(c);
	assert_int_equal(cluster_allocations(c, "more").live, 0);
	cluster_stopped(c);
	(void)cluster_settle(c);
	assert_int_equal(cluster_allocations(c, "more").live, 10);
	assert_int_equal(cluster_evaluations(c, "more", EVAL_BLOCKED, -1), 0);
	assert_int_equal(cluster_evaluations(c, "more", EVAL_PENDING, -1), 0);
	pipeline_stats(c->pipeline, &stats);
	assert_int_equal(stats.blocked.blocked, 0);
}

static void store(struct cluster *c, struct evaluation *e)
{
	struct command command = {
		.type = COMMAND_EVALUATIONS, .evaluations = {.items = &e, .count = 1}};

	assert_int_equal(cluster_run(c, &command), OUTCOME_DONE);
}

// The controller is killed after room came, and before anybody used it.
static void room_is_not_forgotten_in_a_kill(void **state)
{
	struct cluster *c = *state;

	add_nodes(c, 0, 10);
	cluster_job(c, (struct job_ask){.id = "big", .type = JOB_SYSTEM, .cpu = 3000});
	(void)cluster_settle(c);
	cluster_job(c, (struct job_ask){.id = "more", .type = JOB_SYSTEM, .cpu = 3000});
	(void)cluster_settle(c);
	cluster_stop_job(c, "big");
	assert_true(pipeline_step(c->pipeline)); // the evaluation that stops it
	cluster_stopped(c);
	assert_int_equal(cluster_allocations(c, "big").live, 0);
	assert_int_equal(cluster_allocations(c, "more").live, 0);
	cluster_kill(c);
	(void)cluster_settle(c);
	assert_int_equal(cluster_allocations(c, "more").live, 10);
	assert_int_equal(cluster_evaluations(c, "more", EVAL_BLOCKED, -1), 0);
}

// The job is evaluated again while every node is full: no second evaluation waits.
static void a_full_fleet_is_not_asked_again(void **state)
{
	struct cluster *c = *state;

	add_nodes(c, 0, 50);
	cluster_job(c, (struct job_ask){.id = "big", .type = JOB_SYSTEM, .cpu = 3000});
	(void)cluster_settle(c);
	cluster_job(c, (struct job_ask){.id = "more", .type = JOB_SYSTEM, .cpu = 3000});
	(void)cluster_settle(c);
	assert_int_equal(cluster_evaluations(c, "more", EVAL_BLOCKED, -1), 50);
	uint32_t before = cluster_evaluations(c, "more", -1, -1);
	struct evaluation *e = cluster_evaluation(c, "more", EVAL_COMPLETE, -1), *again;
	again = make_eval((struct eval_ask){.number = 1, .job = "more", .type = EVAL_SYSTEM});
	again->job_modify_index = e->job_modify_index;
	evaluation_free(e);
	store(c, again);
	(void)cluster_settle(c);
	assert_int_equal(cluster_evaluations(c, "more", EVAL_BLOCKED, -1), 50);
	assert_int_equal(cluster_evaluations(c, "more", EVAL_CANCELED, -1), 0);
	assert_int_equal(cluster_evaluations(c, "more", -1, -1), before + 1);
}

static void a_stopped_job_ends_everywhere(void **state)
{
	struct cluster *c = *state;

	add_nodes(c, 0, 50);
	cluster_job(c, agent("1"));
	(void)cluster_settle(c);
	cluster_stop_job(c, "agent");
	struct evaluation *e = cluster_evaluation(c, "agent", EVAL_PENDING, TRIGGER_JOB_DEREGISTER);
	assert_non_null(e);
	assert_int_equal(e->type, EVAL_SERVICE); // trap 2
	evaluation_free(e);
	(void)cluster_settle(c);
	assert_int_equal(cluster_allocations(c, "agent").live, 0);
	assert_int_equal(cluster_allocations(c, "agent").stopped, 50);
}

// B35, trap 1. The log has room for evaluations, but not for placements on so many nodes: every delivery is nacked.
// What the purged job left runs on; the next job of its id takes it over instead of running beside it (row A15).
static void what_a_purged_job_left_is_of_the_next_of_its_id(void **state)
{
	struct cluster *c = *state;
	struct command purge = {.type = COMMAND_JOB_DEREGISTER,
		.job_deregister = {
			.namespace_name = TEXT("default"), .id = TEXT("agent"), .purge = true}};

	add_nodes(c, 0, 10);
	cluster_job(c, agent("1"));
	(void)cluster_settle(c);
	assert_int_equal(cluster_run(c, &purge), OUTCOME_DONE);
	cluster_job(c, agent("2"));
	(void)cluster_settle(c);
	struct alloc_counts counts = cluster_allocations(c, "agent");
	assert_int_equal(counts.live, 10);
	assert_int_equal(counts.of_version, 10);
	assert_int_equal(counts.stopped, 10);
}

static void what_fails_three_times_is_followed_up(void **state)
{
	struct cluster *c = *state;

	add_nodes(c, 0, 300);
	c->log.room_bytes = STORE_RESERVE_BYTES + 20000;
	cluster_job(c, agent("1"));
	(void)cluster_settle(c);
	cluster_advance(c, 1000);
	cluster_advance(c, 19900);
	assert_int_equal(cluster_evaluations(c, "agent", EVAL_FAILED, -1), 0);
	cluster_advance(c, 200);
	struct evaluation *failed = cluster_evaluation(c, "agent", EVAL_FAILED, -1);
	assert_non_null(failed);
	assert_string_equal(failed->status_description, "evaluation reached delivery limit (3)");
	struct evaluation *next =
		cluster_evaluation(c, "agent", EVAL_PENDING, TRIGGER_FAILED_FOLLOW_UP);
	assert_non_null(next);
	assert_true(uuid_equal(&failed->next_eval, &next->id));
	assert_true(uuid_equal(&next->previous_eval, &failed->id));
	assert_in_range(next->wait_ns / 1000000000, 60, 359);
	assert_int_equal(next->priority, failed->priority);
	evaluation_free(failed);
	evaluation_free(next);
}

// B13, B35: the pipeline stores nothing of its own evaluation.
static void an_unknown_core_job_is_dropped(void **state)
{
	struct cluster *c = *state;
	struct broker_stats stats;
	struct evaluation *e =
		make_eval((struct eval_ask){.number = 9, .job = "nothing-gc", .type = EVAL_CORE});

	broker_enqueue(c->pipeline->broker, e, 0);
	assert_int_equal(core_process(c->pipeline, e), -ERROR_UNSUPPORTED);
	evaluation_free(e);
	uint64_t index = state_index(c->state);
	cluster_advance(c, 30000);
	broker_stats(c->pipeline->broker, &stats);
	assert_int_equal(stats.ready + stats.unacked + stats.waiting, 0);
	assert_int_equal(state_index(c->state), index);
}

// B31.
static void needless_evaluations_are_canceled(void **state)
{
	struct cluster *c = *state;
	struct evaluation *batch[5];

	add_nodes(c, 0, 3);
	cluster_job(c, agent("1"));
	for (uint32_t i = 0; i < 5; i++)
		batch[i] = make_eval((struct eval_ask){.number = 1 + i,
			.job = "agent",
			.type = EVAL_SYSTEM,
			.triggered_by = TRIGGER_NODE_UPDATE});
	struct command command = {
		.type = COMMAND_EVALUATIONS, .evaluations = {.items = batch, .count = 5}};
	assert_int_equal(cluster_run(c, &command), OUTCOME_DONE);
	(void)cluster_settle(c);
	assert_int_equal(cluster_evaluations(c, "agent", EVAL_COMPLETE, TRIGGER_JOB_REGISTER), 1);
	assert_int_equal(cluster_evaluations(c, "agent", EVAL_COMPLETE, TRIGGER_NODE_UPDATE), 1);
	assert_int_equal(cluster_evaluations(c, "agent", EVAL_CANCELED, TRIGGER_NODE_UPDATE), 4);
	struct evaluation *e = cluster_evaluation(c, "agent", EVAL_CANCELED, -1);
	assert_string_equal(e->status_description, "canceled after more recent eval was processed");
	evaluation_free(e);
}

// They are canceled in commands of 728 (row B31).
static void many_needless_evaluations_are_canceled_in_batches(void **unused)
{
	enum { PUSHED = 400, EVALUATIONS = 6 * PUSHED };
	static struct evaluation *batch[EVALUATIONS];
	struct cluster c;

	cluster_init_limited(&c, 42, 2 * EVALUATIONS);
	cluster_node(&c, 0);
	cluster_job(&c, agent("1"));
	for (uint32_t i = 0; i < EVALUATIONS; i++)
		batch[i] = make_eval((struct eval_ask){.number = 1 + i,
			.job = "agent",
			.type = EVAL_SYSTEM,
			.triggered_by = TRIGGER_NODE_UPDATE});
	for (uint32_t i = 0; i < EVALUATIONS; i += PUSHED) {
		struct command command = {.type = COMMAND_EVALUATIONS,
			.evaluations = {.items = batch + i, .count = PUSHED}};
		assert_int_equal(cluster_run(&c, &command), OUTCOME_DONE);
	}
	const _Atomic uint64_t *done =
		&applier_counters(c.applier)->outcomes[COMMAND_EVALUATIONS][OUTCOME_DONE];
	uint64_t before = *done;
	(void)cluster_settle(&c);
	assert_int_equal(cluster_evaluations(&c, "agent", EVAL_CANCELED, -1), EVALUATIONS - 1);
	assert_int_equal(*done - before, 2 + 4); // two were worked off
	cluster_free(&c);
}

static void set_pause(struct cluster *c, bool paused)
{
	state_read_begin();
	struct scheduler_config config = *state_scheduler_config(c->state);
	state_read_end();
	config.pause_eval_broker = paused;
	struct command command = {
		.type = COMMAND_SCHEDULER_CONFIG, .scheduler_config = {.config = &config}};
	assert_int_equal(cluster_run(c, &command), OUTCOME_DONE);
}

// B24.
static void a_paused_broker_takes_over_later(void **state)
{
	struct cluster *c = *state;

	add_nodes(c, 0, 20);
	set_pause(c, true);
	(void)cluster_settle(c);
	cluster_job(c, agent("1"));
	cluster_advance(c, 5000);
	assert_int_equal(cluster_allocations(c, "agent").live, 0);
	set_pause(c, false);
	(void)cluster_settle(c);
	assert_int_equal(cluster_allocations(c, "agent").live, 20);
}

// B66: not before an hour after their end.
static void ended_evaluations_are_collected(void **state)
{
	struct cluster *c = *state;

	add_nodes(c, 0, 2);
	cluster_job(c, agent("1"));
	(void)cluster_settle(c);
	cluster_stop_job(c, "agent");
	(void)cluster_settle(c);
	assert_true(cluster_evaluations(c, "agent", -1, -1) >= 2);
	manual_time_advance_ms(&c->time, 55 * 60000);
	(void)cluster_settle(c);
	assert_true(cluster_evaluations(c, "agent", -1, -1) >= 2);
	manual_time_advance_ms(&c->time, 10 * 60000);
	(void)cluster_settle(c);
	assert_int_equal(cluster_evaluations(c, "agent", -1, -1), 0);
}

static void forced_collection_does_not_wait(void **state)
{
	struct cluster *c = *state;

	add_nodes(c, 0, 2);
	cluster_job(c, agent("1"));
	(void)cluster_settle(c);
	cluster_stop_job(c, "agent");
	(void)cluster_settle(c);
	assert_int_equal(core_collect(&c->core), OUTCOME_DONE);
	assert_int_equal(cluster_evaluations(c, "agent", -1, -1), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_system_job_is_everywhere),
		TEST(a_new_node_gets_its_share),
		TEST(a_lost_rack_costs_an_evaluation_per_job),
		TEST(a_rollout_respects_max_parallel_and_stagger),
		TEST(a_rollout_goes_on_after_a_kill),
		TEST(a_full_node_waits_for_room),
		TEST(room_is_not_forgotten_in_a_kill),
		TEST(a_full_fleet_is_not_asked_again),
		TEST(a_stopped_job_ends_everywhere),
		TEST(what_a_purged_job_left_is_of_the_next_of_its_id),
		TEST(what_fails_three_times_is_followed_up),
		TEST(an_unknown_core_job_is_dropped),
		TEST(needless_evaluations_are_canceled),
		cmocka_unit_test(many_needless_evaluations_are_canceled_in_batches),
		TEST(a_paused_broker_takes_over_later),
		TEST(ended_evaluations_are_collected),
		TEST(forced_collection_does_not_wait),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
