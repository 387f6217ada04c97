// The deployment watcher's reactions to reports and to time (rows C52–C56).
#include "state/base/memory.h"
#include "tests/placement/watch/deployments/rollout.h"
#include "tests/support/log_capture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define MINUTE_MS (60ull * 1000)
#define DEADLINE_MS (PROGRESS_DEADLINE_S * 1000ull)

static int setup(void **state)
{
	struct rollout_world *w = calloc(1, sizeof *w);

	rollout_init(w);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	rollout_free(*state);
	free(*state);
	return 0;
}

static struct watchers_stats stats_of(struct rollout_world *w)
{
	struct watchers_stats stats;

	watchers_stats(w->watchers, &stats);
	return stats;
}

static void place_healthy(struct rollout_world *w, const struct uuid *d, uint32_t group, int count)
{
	for (int i = 0; i < count; i++) {
		struct uuid id = rollout_place(w, d, group, false);
		rollout_healthy(w, &id);
	}
}

static void reports_of_a_second_make_one_evaluation(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d = rollout_begin(w, (struct rollout_ask){.job = "web", .count = 9});

	place_healthy(w, &d, 0, 1);
	rollout_advance(w, 500);
	place_healthy(w, &d, 0, 3);
	rollout_advance(w, 700);
	assert_int_equal(rollout_asked(w, "web"), 0);
	rollout_advance(w, 100); // 1.25 s after the first
	assert_int_equal(rollout_asked(w, "web"), 1);
	rollout_advance(w, MINUTE_MS);
	assert_int_equal(rollout_asked(w, "web"), 1);
	// The evaluation is pending, and has not seen the next report.
	place_healthy(w, &d, 0, 1);
	rollout_advance(w, BATCH_MS);
	assert_int_equal(rollout_asked(w, "web"), 2);
	expect_status(w, &d, DEPLOYMENT_RUNNING, DEPLOYMENT_TEXT_RUNNING);
}

static void expect_asked_once(struct rollout_world *w, const struct uuid *d, int64_t priority)
{
	const struct evaluation *e;
	uint64_t cursor = 0;
	uint32_t seen = 0;

	state_read_begin();
	while ((e = state_next(w->controller->state, STATE_EVALUATIONS, &cursor))) {
		if (e->triggered_by != TRIGGER_DEPLOYMENT_WATCHER)
			continue;
		seen++;
		assert_int_equal(e->priority, priority);
		assert_int_equal(e->type, EVAL_SERVICE);
		assert_int_equal(e->status, EVAL_PENDING);
		assert_true(uuid_equal(&e->deployment_id, d));
		assert_string_equal(e->job_id, "web");
	}
	state_read_end();
	assert_int_equal(seen, 1);
}

static void an_evaluation_carries_its_deployment(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d =
		rollout_begin(w, (struct rollout_ask){.job = "web", .count = 2, .priority = 77});

	place_healthy(w, &d, 0, 1);
	rollout_advance(w, BATCH_MS);
	expect_asked_once(w, &d, 77);
}

static void what_another_evaluation_saw_is_not_asked_for(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d = rollout_begin(w, (struct rollout_ask){.job = "web", .count = 9});

	place_healthy(w, &d, 0, 2);
	rollout_advance(w, 400);
	// Another evaluation of the job is completed meanwhile.
	struct command again = {.type = COMMAND_JOB_EVALUATE,
		.job_evaluate = {.namespace_name = TEXT("default"), .id = TEXT("web")}};
	assert_int_equal(controller_run(w->controller, &again), OUTCOME_DONE);
	rollout_evaluate(w, "web");
	rollout_advance(w, MINUTE_MS);
	assert_int_equal(rollout_asked(w, "web"), 0);
	place_healthy(w, &d, 0, 1);
	rollout_advance(w, BATCH_MS);
	assert_int_equal(rollout_asked(w, "web"), 1);
}

// A cancelled evaluation has seen nothing, whatever its index says.
static void a_cancelled_evaluation_does_not_count(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d = rollout_begin(w, (struct rollout_ask){.job = "web", .count = 9});

	place_healthy(w, &d, 0, 2);
	struct command again = {.type = COMMAND_JOB_EVALUATE,
		.job_evaluate = {.namespace_name = TEXT("default"), .id = TEXT("web")}};
	assert_int_equal(controller_run(w->controller, &again), OUTCOME_DONE);
	rollout_end(w, "web", EVAL_CANCELED);
	rollout_advance(w, BATCH_MS);
	assert_int_equal(rollout_asked(w, "web"), 1);
}

static void deployments_share_a_window(void **state)
{
	struct rollout_world *w = *state;
	struct uuid a = rollout_begin(w, (struct rollout_ask){.job = "a", .count = 9});
	struct uuid b = rollout_begin(w, (struct rollout_ask){.job = "b", .count = 9});
	uint32_t batches;

	place_healthy(w, &a, 0, 1);
	rollout_advance(w, 200);
	place_healthy(w, &b, 0, 1);
	rollout_advance(w, 1000);
	batches = w->controller->log.count;
	assert_int_equal(rollout_asked(w, "a") + rollout_asked(w, "b"), 0);
	rollout_advance(w, 50);
	assert_int_equal(rollout_asked(w, "a"), 1);
	assert_int_equal(rollout_asked(w, "b"), 1);
	assert_int_equal(w->controller->log.count, batches + 1);
}

static void fails_when_nothing_goes_on(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d = rollout_begin(w, (struct rollout_ask){.job = "web", .count = 2});

	// Nothing was placed, so that no deadline holds.
	rollout_advance(w, 2 * DEADLINE_MS);
	expect_status(w, &d, DEPLOYMENT_RUNNING, DEPLOYMENT_TEXT_RUNNING);
	struct uuid first = rollout_place(w, &d, 0, false);
	(void)rollout_place(w, &d, 0, false);
	rollout_advance(w, DEADLINE_MS - MINUTE_MS);
	rollout_healthy(w, &first); // a new deadline
	rollout_advance(w, DEADLINE_MS - 100);
	expect_status(w, &d, DEPLOYMENT_RUNNING, DEPLOYMENT_TEXT_RUNNING);
	rollout_evaluate(w, "web");
	uint32_t asked = rollout_asked(w, "web");
	rollout_advance(w, 200);
	expect_status(w, &d, DEPLOYMENT_FAILED, DEPLOYMENT_TEXT_DEADLINE);
	assert_int_equal(rollout_asked(w, "web"), asked + 1);
	assert_int_equal(stats_of(w).deployments_failed, 1);
	assert_int_equal(stats_of(w).deployments_watched, 0);
	assert_int_equal(stats_of(w).commands_refused, 0);
}

static void enough_that_are_healthy_meet_every_deadline(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d =
		rollout_begin(w, (struct rollout_ask){.job = "web", .groups = 2, .count = 2});

	place_healthy(w, &d, 0, 2);
	place_healthy(w, &d, 1, 2);
	rollout_advance(w, 2 * DEADLINE_MS);
	expect_status(w, &d, DEPLOYMENT_RUNNING, DEPLOYMENT_TEXT_RUNNING);
}

static void a_group_that_lags_fails_all(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d =
		rollout_begin(w, (struct rollout_ask){.job = "web", .groups = 2, .count = 2});

	place_healthy(w, &d, 0, 2);
	place_healthy(w, &d, 1, 1);
	rollout_advance(w, DEADLINE_MS + MINUTE_MS);
	expect_status(w, &d, DEPLOYMENT_FAILED, DEPLOYMENT_TEXT_DEADLINE);
}

static void waiting_for_promotion_is_no_failure(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d =
		rollout_begin(w, (struct rollout_ask){.job = "web", .count = 3, .canaries = 1});
	struct uuid canary = rollout_place(w, &d, 0, true);

	rollout_healthy(w, &canary);
	rollout_advance(w, 3 * DEADLINE_MS);
	expect_status(w, &d, DEPLOYMENT_RUNNING, DEPLOYMENT_TEXT_RUNNING);
	// After its promotion the deadline of the other instances holds.
	assert_int_equal(rollout_change(w, &d, DEPLOYMENT_PROMOTE), OUTCOME_DONE);
	rollout_advance(w, DEADLINE_MS - MINUTE_MS);
	expect_status(w, &d, DEPLOYMENT_RUNNING, DEPLOYMENT_TEXT_RUNNING);
	rollout_advance(w, 2 * MINUTE_MS);
	expect_status(w, &d, DEPLOYMENT_FAILED, DEPLOYMENT_TEXT_DEADLINE);
}

static void too_few_canaries_fail(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d =
		rollout_begin(w, (struct rollout_ask){.job = "web", .count = 3, .canaries = 2});
	struct uuid canary = rollout_place(w, &d, 0, true);

	(void)rollout_place(w, &d, 0, true);
	rollout_healthy(w, &canary);
	rollout_advance(w, DEADLINE_MS + MINUTE_MS);
	expect_status(w, &d, DEPLOYMENT_FAILED, DEPLOYMENT_TEXT_DEADLINE);
}

static void a_pause_stops_the_clock(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d = rollout_begin(w, (struct rollout_ask){.job = "web", .count = 2});

	(void)rollout_place(w, &d, 0, false);
	assert_int_equal(rollout_change(w, &d, DEPLOYMENT_PAUSE), OUTCOME_DONE);
	rollout_advance(w, 2 * DEADLINE_MS);
	expect_status(w, &d, DEPLOYMENT_PAUSED, DEPLOYMENT_TEXT_PAUSED);
	assert_int_equal(rollout_change(w, &d, DEPLOYMENT_RESUME), OUTCOME_DONE);
	rollout_advance(w, DEADLINE_MS - MINUTE_MS);
	expect_status(w, &d, DEPLOYMENT_RUNNING, DEPLOYMENT_TEXT_RUNNING);
	rollout_advance(w, 2 * MINUTE_MS);
	expect_status(w, &d, DEPLOYMENT_FAILED, DEPLOYMENT_TEXT_DEADLINE);
}

static void an_unhealthy_one_with_tries_left_is_replaced(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d = rollout_begin(
		w, (struct rollout_ask){.job = "web", .count = 3, .attempts = -1, .priority = 60});
	struct uuid a = rollout_place(w, &d, 0, false), b = rollout_place(w, &d, 0, false);
	struct uuid c = rollout_place(w, &d, 0, false);

	rollout_unhealthy(w, &a);
	rollout_advance(w, 300);
	rollout_unhealthy(w, &b);
	rollout_advance(w, 800);
	assert_false(rollout_may_be_replaced(w, &a));
	rollout_advance(w, 200);
	assert_true(rollout_may_be_replaced(w, &a));
	assert_true(rollout_may_be_replaced(w, &b));
	assert_false(rollout_may_be_replaced(w, &c));
	assert_int_equal(rollout_asked(w, "web"), 1);
	expect_asked_once(w, &d, 60);
	assert_int_equal(stats_of(w).allocations_flagged, 2);
	expect_status(w, &d, DEPLOYMENT_RUNNING, DEPLOYMENT_TEXT_RUNNING);
	rollout_advance(w, MINUTE_MS);
	assert_int_equal(rollout_asked(w, "web"), 1);
}

static void an_unhealthy_one_without_tries_fails(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d = rollout_begin(w, (struct rollout_ask){.job = "web", .count = 3});
	struct uuid a = rollout_place(w, &d, 0, false);

	rollout_unhealthy(w, &a);
	rollout_settle(w); // at once
	expect_status(w, &d, DEPLOYMENT_FAILED, DEPLOYMENT_TEXT_UNHEALTHY);
	assert_int_equal(rollout_asked(w, "web"), 1);
	assert_false(rollout_may_be_replaced(w, &a));
}

// The failure is reported when the window ends, not before: the watcher asks for no other evaluation.
static void fail_at_the_end_of_the_window(struct rollout_world *w, const struct uuid *d)
{
	struct uuid bad = rollout_place(w, d, 0, false);

	rollout_advance(w, 1200);
	assert_int_equal(rollout_asked(w, "web"), 0);
	manual_time_advance_ms(&w->controller->time, 50);
	rollout_unhealthy(w, &bad);
	rollout_settle(w);
	expect_status(w, d, DEPLOYMENT_FAILED, DEPLOYMENT_TEXT_UNHEALTHY);
	assert_int_equal(rollout_asked(w, "web"), 1);
	assert_int_equal(stats_of(w).allocations_flagged, 0);
	rollout_advance(w, MINUTE_MS);
	assert_int_equal(rollout_asked(w, "web"), 1);
}

// The store has no room for a while.
static void what_is_refused_is_told_and_asked_again(void **state)
{
	static struct log_capture captured;
	struct rollout_world *w = *state;
	struct uuid d = rollout_begin(w, (struct rollout_ask){.job = "web", .count = 9});
	int64_t room_bytes = w->controller->log.room_bytes;

	place_healthy(w, &d, 0, 1);
	w->controller->log.room_bytes = 0;
	log_capture_begin(&captured);
	rollout_advance(w, 2 * BATCH_MS);
	log_capture_end(&captured);
	assert_true(
		log_capture_count(&captured, "event=deployment-refused", "outcome=store-full") > 0);
	assert_int_equal(rollout_asked(w, "web"), 0);
	w->controller->log.room_bytes = room_bytes;
	rollout_advance(w, MINUTE_MS);
	assert_int_equal(rollout_asked(w, "web"), 1);
}

static void a_failure_comes_before_news(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d = rollout_begin(w, (struct rollout_ask){.job = "web", .count = 9});

	place_healthy(w, &d, 0, 1);
	fail_at_the_end_of_the_window(w, &d);
}

static void a_failure_comes_before_replacements(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d = rollout_begin(w, (struct rollout_ask){.job = "web", .count = 9});
	struct uuid a = rollout_place(w, &d, 0, false);

	rollout_unhealthy(w, &a);
	rollout_defer(w, &a);
	fail_at_the_end_of_the_window(w, &d);
	assert_false(rollout_may_be_replaced(w, &a));
}

static void one_that_was_stopped_meanwhile_fails_nothing(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d = rollout_begin(w, (struct rollout_ask){.job = "web", .count = 3});
	struct uuid a = rollout_place(w, &d, 0, false);

	rollout_unhealthy(w, &a);
	rollout_stop(w, &a);
	rollout_advance(w, MINUTE_MS);
	expect_status(w, &d, DEPLOYMENT_RUNNING, DEPLOYMENT_TEXT_RUNNING);
}

static void one_that_waits_for_its_follow_up_fails_nothing(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d =
		rollout_begin(w, (struct rollout_ask){.job = "web", .count = 3, .attempts = -1});
	struct uuid a = rollout_place(w, &d, 0, false);

	rollout_unhealthy(w, &a);
	rollout_defer(w, &a);
	rollout_advance(w, MINUTE_MS);
	expect_status(w, &d, DEPLOYMENT_RUNNING, DEPLOYMENT_TEXT_RUNNING);
	assert_true(rollout_may_be_replaced(w, &a));
}

static void without_a_progress_deadline_the_first_one_fails(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d = rollout_begin(
		w, (struct rollout_ask){
			   .job = "web", .count = 3, .attempts = -1, .no_progress_deadline = true});
	struct uuid a = rollout_place(w, &d, 0, false), b = rollout_place(w, &d, 0, false);

	rollout_healthy(w, &b);
	rollout_advance(w, 2 * DEADLINE_MS);
	expect_status(w, &d, DEPLOYMENT_RUNNING, DEPLOYMENT_TEXT_RUNNING);
	rollout_unhealthy(w, &a);
	rollout_settle(w);
	expect_status(w, &d, DEPLOYMENT_FAILED, DEPLOYMENT_TEXT_UNHEALTHY);
}

// Also after an earlier verdict that it was healthy.
static void health_may_be_lost(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d = rollout_begin(w, (struct rollout_ask){.job = "web", .count = 1});
	struct uuid a = rollout_place(w, &d, 0, false);

	rollout_healthy(w, &a);
	rollout_advance(w, MINUTE_MS);
	rollout_unhealthy(w, &a);
	rollout_settle(w);
	expect_status(w, &d, DEPLOYMENT_FAILED, DEPLOYMENT_TEXT_UNHEALTHY);
}

static bool is_promoted(struct rollout_world *w, const struct uuid *id, uint32_t group)
{
	struct deployment *d = rollout_deployment(w, id);
	bool promoted = ARRAY_AT(&d->groups, struct deployment_group, group)->promoted;

	deployment_free(d);
	return promoted;
}

static void healthy_canaries_are_promoted(void **state)
{
	struct rollout_world *w = *state;
	struct rollout_ask ask = {
		.job = "web", .groups = 2, .count = 3, .canaries = 2, .auto_promote = true};
	struct uuid d = rollout_begin(w, ask), canaries[4];

	for (uint32_t i = 0; i < 4; i++) {
		canaries[i] = rollout_place(w, &d, i / 2, true);
		rollout_advance(w, 100);
	}
	for (uint32_t i = 0; i < 4; i++) {
		assert_false(is_promoted(w, &d, 0) || is_promoted(w, &d, 1));
		rollout_healthy(w, &canaries[i]);
		rollout_settle(w);
	}
	assert_true(is_promoted(w, &d, 0) && is_promoted(w, &d, 1));
	assert_int_equal(stats_of(w).deployments_promoted, 1);
	assert_int_equal(rollout_asked(w, "web"), 1); // that of the promotion, at once
	expect_status(w, &d, DEPLOYMENT_RUNNING, DEPLOYMENT_TEXT_RUNNING);
}

static void nobody_promotes_by_himself_what_is_to_be_promoted_by_hand(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d =
		rollout_begin(w, (struct rollout_ask){.job = "web", .count = 3, .canaries = 1});
	struct uuid canary = rollout_place(w, &d, 0, true);

	rollout_healthy(w, &canary);
	rollout_advance(w, MINUTE_MS);
	assert_false(is_promoted(w, &d, 0));
}

static void make_stable(struct rollout_world *w, const char *job, uint64_t version)
{
	struct command command = {.type = COMMAND_JOB_STABLE,
		.job_stable = {TEXT("default"), text_of(job), version, true, 0}};

	assert_int_equal(controller_run(w->controller, &command), OUTCOME_DONE);
}

static uint64_t version_of(struct rollout_world *w, const char *id)
{
	state_read_begin();
	uint64_t version = state_job(w->controller->state, TEXT("default"), text_of(id))->version;
	state_read_end();
	return version;
}

static void reverts_to_the_newest_stable_version(void **state)
{
	struct rollout_world *w = *state;
	struct rollout_ask ask = {.job = "web", .count = 1, .version = "1", .auto_revert = true};

	(void)rollout_begin(w, ask);
	make_stable(w, "web", 0);
	ask.version = "2";
	struct uuid d = rollout_begin(w, ask);
	struct uuid a = rollout_place(w, &d, 0, false);
	rollout_unhealthy(w, &a);
	rollout_settle(w);
	expect_status(w, &d, DEPLOYMENT_FAILED,
		DEPLOYMENT_TEXT_UNHEALTHY " - rolling back to job version 0");
	assert_int_equal(version_of(w, "web"), 2);
	assert_int_equal(stats_of(w).deployments_reverted, 1);
}

static void does_not_revert_to_what_it_is(void **state)
{
	struct rollout_world *w = *state;
	struct rollout_ask ask = {.job = "web", .count = 1, .version = "1", .auto_revert = true};
	struct uuid d = rollout_begin(w, ask);

	make_stable(w, "web", 0);
	struct uuid a = rollout_place(w, &d, 0, false);
	rollout_unhealthy(w, &a);
	rollout_settle(w);
	expect_status(w, &d, DEPLOYMENT_FAILED,
		DEPLOYMENT_TEXT_UNHEALTHY " - not rolling back to stable job version 0 as current "
					  "job has same specification");
	assert_int_equal(version_of(w, "web"), 0);
	assert_int_equal(stats_of(w).deployments_reverted, 0);
}

static void says_when_there_is_nothing_to_revert_to(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d = rollout_begin(
		w, (struct rollout_ask){.job = "web", .count = 1, .auto_revert = true});

	(void)rollout_place(w, &d, 0, false);
	rollout_advance(w, DEADLINE_MS + MINUTE_MS);
	expect_status(w, &d, DEPLOYMENT_FAILED,
		DEPLOYMENT_TEXT_DEADLINE " - no stable job version to auto revert to");
}

static void a_restart_loses_nothing(void **state)
{
	struct rollout_world *w = *state;
	struct uuid d = rollout_begin(w, (struct rollout_ask){.job = "web",
						 .count = 4,
						 .canaries = 2,
						 .auto_promote = true,
						 .attempts = -1});
	struct uuid a = rollout_place(w, &d, 0, true), b = rollout_place(w, &d, 0, true);

	rollout_unhealthy(w, &a);
	rollout_healthy(w, &b);
	rollout_restart(w);
	rollout_advance(w, BATCH_MS);
	assert_true(rollout_may_be_replaced(w, &a));
	assert_int_equal(rollout_asked(w, "web"), 1);
	rollout_restart(w);
	rollout_advance(w, MINUTE_MS);
	assert_int_equal(rollout_asked(w, "web"), 1);
	struct uuid c = rollout_place(w, &d, 0, true);
	rollout_healthy(w, &c);
	rollout_restart(w);
	rollout_settle(w);
	assert_true(is_promoted(w, &d, 0));
	rollout_restart(w);
	rollout_advance(w, DEADLINE_MS + MINUTE_MS);
	expect_status(w, &d, DEPLOYMENT_FAILED, DEPLOYMENT_TEXT_DEADLINE);
}

static void what_ended_is_not_watched(void **state)
{
	struct rollout_world *w = *state;
	struct rollout_ask ask = {.job = "web", .count = 2, .version = "1"};
	struct uuid d = rollout_begin(w, ask), a = rollout_place(w, &d, 0, false);

	rollout_settle(w);
	assert_int_equal(stats_of(w).deployments_watched, 1);
	ask.version = "2";
	struct uuid next = rollout_begin(w, ask);
	rollout_settle(w);
	assert_int_equal(stats_of(w).deployments_watched, 1);
	expect_status(w, &d, DEPLOYMENT_CANCELLED, DEPLOYMENT_TEXT_NEWER_JOB);
	rollout_unhealthy(w, &a);
	rollout_advance(w, MINUTE_MS);
	expect_status(w, &next, DEPLOYMENT_RUNNING, DEPLOYMENT_TEXT_RUNNING);
	assert_int_equal(rollout_asked(w, "web"), 0);
	assert_int_equal(stats_of(w).commands_refused, 0);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(reports_of_a_second_make_one_evaluation),
		TEST(an_evaluation_carries_its_deployment),
		TEST(what_another_evaluation_saw_is_not_asked_for),
		TEST(a_cancelled_evaluation_does_not_count),
		TEST(deployments_share_a_window),
		TEST(fails_when_nothing_goes_on),
		TEST(enough_that_are_healthy_meet_every_deadline),
		TEST(a_group_that_lags_fails_all),
		TEST(waiting_for_promotion_is_no_failure),
		TEST(too_few_canaries_fail),
		TEST(a_pause_stops_the_clock),
		TEST(an_unhealthy_one_with_tries_left_is_replaced),
		TEST(an_unhealthy_one_without_tries_fails),
		TEST(what_is_refused_is_told_and_asked_again),
		TEST(a_failure_comes_before_news),
		TEST(a_failure_comes_before_replacements),
		TEST(one_that_was_stopped_meanwhile_fails_nothing),
		TEST(one_that_waits_for_its_follow_up_fails_nothing),
		TEST(without_a_progress_deadline_the_first_one_fails),
		TEST(health_may_be_lost),
		TEST(healthy_canaries_are_promoted),
		TEST(nobody_promotes_by_himself_what_is_to_be_promoted_by_hand),
		TEST(reverts_to_the_newest_stable_version),
		TEST(does_not_revert_to_what_it_is),
		TEST(says_when_there_is_nothing_to_revert_to),
		TEST(a_restart_loses_nothing),
		TEST(what_ended_is_not_watched),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
