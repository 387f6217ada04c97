// When periodic jobs launch children: on time, not over each other, once for all missed times.
#include "state/base/memory.h"
#include "state/records/job_notes.h"
#include "tests/placement/watch/scene.h"
#include "tests/support/log_capture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define START_S 1700000000 // twenty seconds past a minute
#define MINUTE_MS 60000

struct periodic_ask {
	const char *id, *spec;
	bool prohibit_overlap, disabled, parameterized;
};

static void register_periodic(struct scene *s, struct periodic_ask ask)
{
	struct job *job = build_scheduled_job(ask.id, JOB_BATCH);

	job->periodic = memory_take(sizeof *job->periodic);
	job->periodic->enabled = !ask.disabled;
	job->periodic->prohibit_overlap = ask.prohibit_overlap;
	job->periodic->spec = text_copy(text_of(ask.spec));
	if (ask.parameterized)
		job->parameterized = memory_take(sizeof *job->parameterized);
	assert_int_equal(register_job(&s->controller, job, NULL), OUTCOME_DONE);
	scene_settle(s);
}

static const char *child_id(const char *parent, int64_t unix_s)
{
	static char id[128];
	snprintf(id, sizeof id, "%s/periodic-%ld", parent, (long)unix_s);
	return id;
}

static bool is_there(struct scene *s, const char *parent, int64_t unix_s)
{
	state_read_begin();
	bool is = state_job(s->controller.state, TEXT("default"),
			  text_of(child_id(parent, unix_s))) != NULL;
	state_read_end();
	return is;
}

static int64_t children(struct scene *s, const char *parent)
{
	state_read_begin();
	struct job_children all =
		state_job_children(s->controller.state, TEXT("default"), text_of(parent));
	state_read_end();
	return all.pending + all.running + all.dead;
}

static void end_child(struct scene *s, const char *parent, int64_t unix_s)
{
	struct command command = {.type = COMMAND_JOB_DEREGISTER,
		.job_deregister = {.namespace_name = TEXT("default"),
			.id = text_of(child_id(parent, unix_s)),
			.purge = true}};
	assert_int_equal(scene_run(s, &command), OUTCOME_DONE);
}

static void stop_job(struct scene *s, const char *id)
{
	struct command command = {.type = COMMAND_JOB_DEREGISTER,
		.job_deregister = {.namespace_name = TEXT("default"), .id = text_of(id)}};
	assert_int_equal(scene_run(s, &command), OUTCOME_DONE);
}

static void on_time(void **state)
{
	struct scene s;

	scene_init(&s);
	register_periodic(&s, (struct periodic_ask){"cron", "* * * * *"});
	assert_int_equal(scene_stats(&s).periodic_jobs, 1);
	scene_advance(&s, 39900);
	assert_int_equal(children(&s, "cron"), 0);
	scene_advance(&s, 100);
	assert_true(is_there(&s, "cron", START_S + 40));
	scene_advance(&s, 2 * MINUTE_MS);
	assert_true(is_there(&s, "cron", START_S + 100));
	assert_true(is_there(&s, "cron", START_S + 160));
	assert_int_equal(children(&s, "cron"), 3);
	assert_int_equal(scene_stats(&s).periodic_launched, 3);
	scene_free(&s);
}

// A child is launched for its planned time, however late, and the next one follows from that time.
static void late_but_in_order(void **state)
{
	struct scene s;

	scene_init(&s);
	register_periodic(&s, (struct periodic_ask){"cron", "*/20 * * * * * *"});
	scene_jump(&s, 45000);
	assert_true(is_there(&s, "cron", START_S + 20));
	assert_true(is_there(&s, "cron", START_S + 40));
	assert_int_equal(children(&s, "cron"), 2);
	// More than a minute late: one child for all missed times.
	scene_jump(&s, 30 * MINUTE_MS);
	assert_int_equal(children(&s, "cron"), 3);
	assert_true(is_there(&s, "cron", START_S + 45 + 1800));
	scene_advance(&s, 20000);
	assert_int_equal(children(&s, "cron"), 4);
	assert_true(is_there(&s, "cron", START_S + 1860));
	scene_free(&s);
}

static void never_over_each_other(void **state)
{
	struct scene s;

	scene_init(&s);
	register_periodic(
		&s, (struct periodic_ask){"alone", "* * * * *", .prohibit_overlap = true});
	register_periodic(&s, (struct periodic_ask){"many", "* * * * *"});
	scene_advance(&s, 3 * MINUTE_MS);
	assert_int_equal(children(&s, "alone"), 1);
	assert_int_equal(children(&s, "many"), 3);
	assert_int_equal(scene_stats(&s).periodic_skipped, 2);
	end_child(&s, "alone", START_S + 40);
	scene_advance(&s, MINUTE_MS);
	assert_true(is_there(&s, "alone", START_S + 220));
	scene_free(&s);
}

static void stopped_changed_disabled(void **state)
{
	struct scene s;

	scene_init(&s);
	register_periodic(&s, (struct periodic_ask){"stopped", "* * * * *"});
	register_periodic(&s, (struct periodic_ask){"changed", "* * * * *"});
	register_periodic(&s, (struct periodic_ask){"off", "* * * * *", .disabled = true});
	assert_int_equal(scene_stats(&s).periodic_jobs, 2);
	stop_job(&s, "stopped");
	register_periodic(&s, (struct periodic_ask){"changed", "30 * * * * * *"});
	assert_int_equal(scene_stats(&s).periodic_jobs, 1);
	scene_advance(&s, MINUTE_MS);
	assert_int_equal(children(&s, "stopped"), 0);
	assert_int_equal(children(&s, "off"), 0);
	assert_int_equal(children(&s, "changed"), 1);
	assert_true(is_there(&s, "changed", START_S + 10));
	// A job registered again launches again; without a change nothing is launched twice.
	register_periodic(&s, (struct periodic_ask){"stopped", "* * * * *"});
	register_periodic(&s, (struct periodic_ask){"changed", "30 * * * * * *"});
	scene_advance(&s, MINUTE_MS);
	assert_int_equal(children(&s, "stopped"), 1);
	assert_int_equal(children(&s, "changed"), 2);
	scene_free(&s);
}

static void missed_while_nobody_was_there(void **state)
{
	struct scene s;

	scene_init(&s);
	register_periodic(&s, (struct periodic_ask){"cron", "* * * * *"});
	register_periodic(
		&s, (struct periodic_ask){"alone", "* * * * *", .prohibit_overlap = true});
	register_periodic(&s, (struct periodic_ask){"yearly", "@yearly"});
	scene_advance(&s, MINUTE_MS);
	assert_int_equal(children(&s, "cron"), 1);
	scene_restart(&s, 10 * MINUTE_MS);
	assert_int_equal(scene_stats(&s).periodic_jobs, 3);
	assert_int_equal(children(&s, "cron"), 2);
	assert_true(is_there(&s, "cron", START_S + 660));
	assert_int_equal(children(&s, "alone"), 1); // the first lives on
	assert_int_equal(children(&s, "yearly"), 0);
	scene_advance(&s, 40000);
	assert_true(is_there(&s, "cron", START_S + 700));
	// No time was missed: children are launched only on time.
	scene_restart(&s, 1000);
	assert_int_equal(children(&s, "cron"), 3);
	scene_free(&s);
}

// A job that was never launched counts from its registration.
static void a_first_launch_that_was_missed_is_made_up(void **state)
{
	struct scene s;

	scene_init(&s);
	register_periodic(&s, (struct periodic_ask){"cron", "*/10 * * * *"});
	register_periodic(&s, (struct periodic_ask){"yearly", "@yearly"});
	scene_restart(&s, 5 * MINUTE_MS);
	assert_int_equal(children(&s, "cron"), 0); // not due yet
	scene_restart(&s, 10 * MINUTE_MS);
	assert_int_equal(children(&s, "cron"), 1);
	assert_true(is_there(&s, "cron", START_S + 900));
	assert_int_equal(children(&s, "yearly"), 0);
	// What another specification would have launched before it was there was not missed.
	register_periodic(&s, (struct periodic_ask){"cron", "25 * * * *"});
	scene_restart(&s, MINUTE_MS);
	assert_int_equal(children(&s, "cron"), 1);
	scene_free(&s);
}

// Its payload and metadata come with a dispatch, not with the clock.
static void what_takes_parameters_is_not_launched(void **state)
{
	struct scene s;

	scene_init(&s);
	register_periodic(&s, (struct periodic_ask){"both", "* * * * *", .parameterized = true});
	register_periodic(&s, (struct periodic_ask){"cron", "* * * * *"});
	assert_int_equal(scene_stats(&s).periodic_jobs, 1);
	scene_advance(&s, 3 * MINUTE_MS);
	assert_int_equal(children(&s, "cron"), 3);
	scene_restart(&s, 3 * MINUTE_MS);
	assert_int_equal(scene_stats(&s).periodic_jobs, 1);
	assert_int_equal(children(&s, "both"), 0);
	scene_free(&s);
}

// A child that is due when the controller starts is launched then, once.
static void due_at_the_moment_of_a_restart(void **state)
{
	struct scene s;

	scene_init(&s);
	register_periodic(&s, (struct periodic_ask){"cron", "* * * * *"});
	scene_advance(&s, 40000);
	scene_restart(&s, 59900);
	assert_int_equal(children(&s, "cron"), 1);
	scene_restart(&s, 100);
	assert_int_equal(children(&s, "cron"), 2);
	assert_true(is_there(&s, "cron", START_S + 100));
	scene_restart(&s, 0);
	assert_int_equal(children(&s, "cron"), 2);
	scene_advance(&s, MINUTE_MS);
	assert_int_equal(children(&s, "cron"), 3);
	assert_true(is_there(&s, "cron", START_S + 160));
	scene_free(&s);
}

// Up to a minute late a child is launched for its planned time.
static void a_minute_late_is_not_too_late(void **state)
{
	struct scene s;

	scene_init(&s);
	register_periodic(&s, (struct periodic_ask){"exact", "* * * * *"});
	scene_jump(&s, 100000);
	assert_true(is_there(&s, "exact", START_S + 40));
	assert_true(is_there(&s, "exact", START_S + 100));
	assert_int_equal(children(&s, "exact"), 2);
	scene_jump(&s, 2 * MINUTE_MS + 1);
	assert_false(is_there(&s, "exact", START_S + 160));
	assert_true(is_there(&s, "exact", START_S + 220));
	assert_int_equal(children(&s, "exact"), 3);
	scene_free(&s);
}

// An operator's command beside the launcher's.
static void forced(void **state)
{
	struct scene s;
	struct command_job_child ask = {
		.parent = TEXT("cron"), .launch_ns = (START_S + 5) * 1000000000ll};
	struct command command = {.type = COMMAND_JOB_CHILD, .job_child = &ask};

	scene_init(&s);
	register_periodic(&s, (struct periodic_ask){"cron", "* * * * *", .prohibit_overlap = true});
	scene_jump(&s, 5000);
	assert_int_equal(scene_run(&s, &command), OUTCOME_DONE);
	assert_true(is_there(&s, "cron", START_S + 5));
	scene_advance(&s, MINUTE_MS);
	assert_int_equal(children(&s, "cron"), 1); // it lives: the other waits for its next time
	scene_free(&s);
}

// The time zone was one when the job was registered.
static void times_that_are_not_known_any_more_are_told(void **state)
{
	static struct log_capture captured;
	struct scene s;

	scene_init(&s);
	log_capture_begin(&captured);
	register_periodic(&s, (struct periodic_ask){"cron", "sometimes"});
	scene_advance(&s, 2 * MINUTE_MS);
	log_capture_end(&captured);
	assert_int_equal(
		log_capture_count(&captured, "event=periodic-times-unknown", "job=\"cron\""), 1);
	assert_int_equal(children(&s, "cron"), 0);
	scene_free(&s);
}

static void many_at_once(void **state)
{
	struct scene s;
	char id[32];

	scene_init(&s);
	for (uint32_t i = 0; i < 30; i++) {
		snprintf(id, sizeof id, "cron-%u", i);
		register_periodic(&s, (struct periodic_ask){id, "* * * * *"});
	}
	uint32_t batches = s.controller.log.count;
	scene_jump(&s, 40000);
	assert_int_equal(scene_stats(&s).periodic_launched, 30);
	assert_true(s.controller.log.count <= batches + 2); // in one write, or two
	scene_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_time),
		cmocka_unit_test(late_but_in_order),
		cmocka_unit_test(never_over_each_other),
		cmocka_unit_test(stopped_changed_disabled),
		cmocka_unit_test(missed_while_nobody_was_there),
		cmocka_unit_test(a_first_launch_that_was_missed_is_made_up),
		cmocka_unit_test(what_takes_parameters_is_not_launched),
		cmocka_unit_test(due_at_the_moment_of_a_restart),
		cmocka_unit_test(a_minute_late_is_not_too_late),
		cmocka_unit_test(forced),
		cmocka_unit_test(times_that_are_not_known_any_more_are_told),
		cmocka_unit_test(many_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
