// Versions of jobs: going back, calling one stable, scaling, and what is remembered of that.
#include "state/base/memory.h"
#include "state/records/job_notes.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void open_controller(struct controller *c)
{
	controller_init(c, (struct state_limits){0});
	controller_open(c);
}

static void close_controller(struct controller *c)
{
	expect_restores(c);
	controller_free(c);
}

static void register_version(struct controller *c, int64_t priority)
{
	struct job *job = build_scheduled_job("web", JOB_SERVICE);

	job->priority = priority;
	assert_int_equal(register_job(c, job, NULL), OUTCOME_DONE);
}

struct shown {
	uint64_t version;
	int64_t priority, count;
	bool stable, stop;
};

static struct shown newest(const struct controller *c)
{
	state_read_begin();
	const struct job *job = state_job(c->state, TEXT("default"), TEXT("web"));
	struct shown shown = {job->version, job->priority,
		ARRAY_AT(&job->task_groups, struct task_group, 0)->count, job->stable, job->stop};
	state_read_end();
	return shown;
}

static bool is_stable(const struct controller *c, uint64_t version)
{
	state_read_begin();
	const struct job *job = state_job_version(c->state, TEXT("default"), TEXT("web"), version);
	bool stable = job && job->stable;
	state_read_end();
	return stable;
}

static enum command_outcome revert(
	struct controller *c, struct command_job_revert *revert, const char *id)
{
	struct command command = {.type = COMMAND_JOB_REVERT, .job_revert = *revert};

	command.job_revert.id = text_of(id);
	enum command_outcome outcome = controller_run(c, &command);
	*revert = command.job_revert;
	return outcome;
}

static void an_old_version_is_registered_again(void **unused)
{
	struct controller c;
	struct command_job_revert back = {.version = 0};

	open_controller(&c);
	for (int64_t priority = 10; priority < 13; priority++)
		register_version(&c, priority);
	assert_int_equal(revert(&c, &back, "web"), OUTCOME_DONE);
	assert_int_equal(back.current_version, 2);
	struct shown shown = newest(&c);
	assert_int_equal(shown.version, 3);
	assert_int_equal(shown.priority, 10);
	struct evaluation *e = published_evaluation(&c, &back.made.id);
	assert_int_equal(e->triggered_by, TRIGGER_JOB_REGISTER);
	assert_int_equal(e->job_modify_index, back.job_modify_index);
	assert_int_equal(e->priority, 10);
	evaluation_free(e);
	close_controller(&c);
}

static void going_back_is_refused_for_its_reasons(void **unused)
{
	struct controller c;
	struct command_job_revert back = {.version = 1};

	open_controller(&c);
	assert_int_equal(revert(&c, &back, "web"), OUTCOME_UNKNOWN_JOB);
	register_version(&c, 10);
	register_version(&c, 11);
	assert_int_equal(revert(&c, &back, "web"), OUTCOME_NOT_NOW);
	back.version = 7;
	assert_int_equal(revert(&c, &back, "web"), OUTCOME_UNKNOWN_VERSION);
	back = (struct command_job_revert){.enforce_prior = {true, 0}};
	assert_int_equal(revert(&c, &back, "web"), OUTCOME_CONFLICT);
	assert_int_equal(back.current_version, 1);
	back.enforce_prior.value = 1;
	assert_int_equal(revert(&c, &back, "web"), OUTCOME_DONE);
	assert_int_equal(newest(&c).version, 2);
	close_controller(&c);
}

static void a_stopped_job_comes_back(void **unused)
{
	struct controller c;
	struct command_job_revert back = {.version = 0};

	open_controller(&c);
	register_version(&c, 10);
	controller_stop_job(&c, "web", false);
	assert_true(newest(&c).stop);
	assert_int_equal(revert(&c, &back, "web"), OUTCOME_DONE);
	assert_false(newest(&c).stop);
	assert_int_equal(newest(&c).version, 2);
	close_controller(&c);
}

static enum command_outcome call_stable(struct controller *c, uint64_t version, bool stable)
{
	struct command command = {.type = COMMAND_JOB_STABLE,
		.job_stable = {.id = TEXT("web"), .version = version, .stable = stable}};
	return controller_run(c, &command);
}

static void a_version_is_called_stable(void **unused)
{
	struct controller c;

	open_controller(&c);
	assert_int_equal(call_stable(&c, 0, true), OUTCOME_UNKNOWN_JOB);
	register_version(&c, 10);
	register_version(&c, 11);
	assert_int_equal(call_stable(&c, 2, true), OUTCOME_UNKNOWN_VERSION);
	assert_int_equal(call_stable(&c, 0, true), OUTCOME_DONE);
	assert_int_equal(call_stable(&c, 0, true), OUTCOME_DONE);
	assert_true(is_stable(&c, 0));
	assert_false(is_stable(&c, 1));
	expect_restores(&c);
	assert_int_equal(call_stable(&c, 1, true), OUTCOME_DONE);
	assert_int_equal(call_stable(&c, 0, false), OUTCOME_DONE);
	assert_false(is_stable(&c, 0));
	assert_true(is_stable(&c, 1));
	// Neither what is said nor a new registration is another version of it.
	register_version(&c, 11);
	assert_int_equal(newest(&c).version, 1);
	assert_true(newest(&c).stable);
	close_controller(&c);
}

static void the_newest_stable_version_is_not_dropped(void **unused)
{
	struct controller c;
	struct command_job_revert back = {.version = 1};

	open_controller(&c);
	register_version(&c, 10);
	register_version(&c, 11);
	call_stable(&c, 1, true);
	for (int64_t priority = 12; priority < 30; priority++)
		register_version(&c, priority);
	assert_true(is_stable(&c, 1));
	expect_restores(&c);
	assert_int_equal(revert(&c, &back, "web"), OUTCOME_DONE);
	assert_int_equal(newest(&c).priority, 11);
	assert_true(newest(&c).stable); // as what it repeats
	close_controller(&c);
}

static void a_stopped_version_is_not_stable(void **unused)
{
	struct controller c;

	open_controller(&c);
	register_version(&c, 10);
	call_stable(&c, 0, true);
	controller_stop_job(&c, "web", false);
	assert_false(newest(&c).stable);
	assert_true(is_stable(&c, 0));
	close_controller(&c);
}

static enum command_outcome scale(struct controller *c, struct command_job_scale *scale)
{
	struct command command = {.type = COMMAND_JOB_SCALE, .job_scale = scale};

	if (!scale->id.size)
		scale->id = TEXT("web");
	return controller_run(c, &command);
}

// The event of group g0, number 0 the newest; copies of its texts are printed into the buffers.
static struct scaling_event scaling_event(const struct controller *c, uint32_t number,
	char message[static 128], char meta[static 256], uint32_t *count)
{
	struct scaling_event event = {0};

	*count = 0;
	state_read_begin();
	const struct job_notes *notes = state_job_notes(c->state, TEXT("default"), TEXT("web"));
	if (notes && notes->scaled.count > 0) {
		const struct scaled_group *group = ARRAY_AT(&notes->scaled, struct scaled_group, 0);
		assert_string_equal(group->group, "g0");
		*count = group->events.count;
		event = *ARRAY_AT(&group->events, struct scaling_event, number);
		snprintf(message, 128, "%s", event.message ? event.message : "");
		snprintf(meta, 256, "%s", event.meta ? event.meta : "");
	}
	state_read_end();
	return event;
}

static void scaling_makes_a_version_an_evaluation_and_an_event(void **unused)
{
	struct controller c;
	char message[128], meta[256];
	uint32_t count;
	struct command_job_scale up = {.group = TEXT("g0"),
		.count = {true, 5},
		.message = TEXT("more"),
		.meta = TEXT("{\"by\":\"test\"}")};

	open_controller(&c);
	register_version(&c, 40);
	assert_int_equal(scale(&c, &up), OUTCOME_DONE);
	assert_int_equal(newest(&c).version, 1);
	assert_int_equal(newest(&c).count, 5);
	struct evaluation *e = published_evaluation(&c, &up.made.id);
	assert_int_equal(e->triggered_by, TRIGGER_JOB_SCALING);
	assert_int_equal(e->priority, 40);
	assert_int_equal(e->job_modify_index, up.job_modify_index);
	evaluation_free(e);
	struct scaling_event event = scaling_event(&c, 0, message, meta, &count);
	assert_int_equal(count, 1);
	assert_true(event.count.set);
	assert_int_equal(event.count.value, 5);
	assert_int_equal(event.previous_count, 1);
	assert_string_equal(message, "more");
	assert_string_equal(meta, "{\"by\":\"test\"}");
	assert_true(uuid_equal(&event.eval_id, &up.made.id));
	assert_int_equal(event.create_index, state_index(c.state));
	close_controller(&c);
}

static void scaling_is_bounded_as_registering_is(void **unused)
{
	struct controller c;
	struct command_job_scale up = {.group = TEXT("g0"), .count = {true, 65537}};

	open_controller(&c);
	register_version(&c, 40);
	assert_int_equal(scale(&c, &up), OUTCOME_BAD_DESCRIPTION);
	assert_string_equal(up.message_out,
		"Count of all groups together is 65537 instances, more than the 65536 that "
		"limits.allocations allows");
	assert_int_equal(newest(&c).version, 0);
	up.count.value = 65536;
	assert_int_equal(scale(&c, &up), OUTCOME_DONE);
	close_controller(&c);
}

static void an_event_alone_changes_nothing(void **unused)
{
	struct controller c;
	char message[128], meta[256];
	uint32_t count;
	struct command_job_scale note = {
		.group = TEXT("g0"), .message = TEXT("no room"), .error = true};

	open_controller(&c);
	register_version(&c, 40);
	assert_int_equal(scale(&c, &note), OUTCOME_DONE);
	assert_int_equal(newest(&c).version, 0);
	assert_int_equal(note.made.count, 0);
	struct scaling_event event = scaling_event(&c, 0, message, meta, &count);
	assert_true(event.error);
	assert_false(event.count.set);
	assert_true(uuid_is_zero(&event.eval_id));
	close_controller(&c);
}

static void scaling_is_refused_with_a_reason(void **unused)
{
	struct controller c;
	static const char long_text[4097];
	static const struct {
		struct command_job_scale scale;
		const char *message;
	} refused[] = {
		{{.count = {true, 1}}, "missing task group name for scaling"},
		{{.group = TEXT("g0"), .message = {long_text, sizeof long_text}},
			"scaling message and meta must be at most 4096 bytes each"},
		{{.group = TEXT("g0"), .meta = {long_text, sizeof long_text}},
			"scaling message and meta must be at most 4096 bytes each"},
		{{.group = TEXT("g0"), .count = {true, -1}},
			"scaling action count can't be negative"},
		{{.group = TEXT("g0"), .count = {true, 1}, .error = true},
			"scaling action should not contain count if error is true"},
		{{.group = TEXT("db"), .count = {true, 1}},
			"task group \"db\" specified for scaling does not exist in job"},
		{{.id = TEXT("sys"), .group = TEXT("g0"), .count = {true, 1}},
			"cannot scale jobs of type \"system\""},
	};

	open_controller(&c);
	register_version(&c, 40);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	for (uint32_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		struct command_job_scale asked = refused[i].scale;
		assert_int_equal(scale(&c, &asked), OUTCOME_BAD_DESCRIPTION);
		assert_string_equal(asked.message_out, refused[i].message);
	}
	struct command_job_scale other = {.id = TEXT("none"), .group = TEXT("g0")};
	assert_int_equal(scale(&c, &other), OUTCOME_UNKNOWN_JOB);
	other = (struct command_job_scale){
		.group = TEXT("g0"), .enforce_index = true, .job_modify_index = 1};
	assert_int_equal(scale(&c, &other), OUTCOME_CONFLICT);
	close_controller(&c);
}

static void the_newest_events_are_kept(void **unused)
{
	struct controller c;
	char message[128], meta[256];
	uint32_t count;

	open_controller(&c);
	register_version(&c, 40);
	for (int64_t i = 1; i <= 30; i++) {
		struct command_job_scale up = {.group = TEXT("g0"), .count = {true, i + 1}};
		assert_int_equal(scale(&c, &up), OUTCOME_DONE);
	}
	struct scaling_event event = scaling_event(&c, 0, message, meta, &count);
	assert_int_equal(count, SCALING_EVENTS_MAX);
	assert_int_equal(event.count.value, 31);
	event = scaling_event(&c, SCALING_EVENTS_MAX - 1, message, meta, &count);
	assert_int_equal(event.count.value, 12);
	close_controller(&c);
}

static void a_purged_job_is_forgotten_with_its_notes(void **unused)
{
	struct controller c;
	char message[128], meta[256];
	uint32_t count;
	struct command_job_scale up = {.group = TEXT("g0"), .count = {true, 3}};

	open_controller(&c);
	register_version(&c, 40);
	scale(&c, &up);
	controller_stop_job(&c, "web", true);
	register_version(&c, 40);
	scaling_event(&c, 0, message, meta, &count);
	assert_int_equal(count, 0);
	close_controller(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_old_version_is_registered_again),
		cmocka_unit_test(going_back_is_refused_for_its_reasons),
		cmocka_unit_test(a_stopped_job_comes_back),
		cmocka_unit_test(a_version_is_called_stable),
		cmocka_unit_test(the_newest_stable_version_is_not_dropped),
		cmocka_unit_test(a_stopped_version_is_not_stable),
		cmocka_unit_test(scaling_makes_a_version_an_evaluation_and_an_event),
		cmocka_unit_test(scaling_is_bounded_as_registering_is),
		cmocka_unit_test(an_event_alone_changes_nothing),
		cmocka_unit_test(scaling_is_refused_with_a_reason),
		cmocka_unit_test(the_newest_events_are_kept),
		cmocka_unit_test(a_purged_job_is_forgotten_with_its_notes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
