// Children of periodic and parameterized jobs, and what their parents count of them.
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/job_notes.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define LAUNCH_S 1700000060ll

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

static enum command_outcome register_periodic(struct controller *c, const char *id)
{
	struct job *job = build_scheduled_job(id, JOB_BATCH);

	job->priority = 60;
	job->periodic = memory_take(sizeof *job->periodic);
	job->periodic->enabled = true;
	job->periodic->spec = text_copy(TEXT("* * * * *"));
	return register_job(c, job, NULL);
}

static void add_text(struct array *array, const char *text)
{
	*(char **)array_append(array, sizeof(char *)) = text_copy(text_of(text));
}

static enum command_outcome register_parameterized(
	struct controller *c, const char *id, const char *payload)
{
	struct job *job = build_scheduled_job(id, JOB_BATCH);

	job->parameterized = memory_take(sizeof *job->parameterized);
	job->parameterized->payload = text_copy(text_of(payload));
	add_text(&job->parameterized->meta_required, "who");
	add_text(&job->parameterized->meta_optional, "why");
	*(struct string_pair *)array_append(&job->meta, sizeof(struct string_pair)) =
		(struct string_pair){text_copy(TEXT("why")), text_copy(TEXT("default"))};
	return register_job(c, job, NULL);
}

static enum command_outcome child(struct controller *c, struct command_job_child *child)
{
	struct command command = {.type = COMMAND_JOB_CHILD, .job_child = child};
	return controller_run(c, &command);
}

static enum command_outcome launch(
	struct controller *c, int64_t at_s, bool unless_alive, struct command_job_child *result)
{
	*result = (struct command_job_child){.parent = TEXT("cron"),
		.launch_ns = at_s * NS_PER_S,
		.unless_one_is_alive = unless_alive};
	return child(c, result);
}

static void expect_children(
	struct controller *c, const char *parent, int64_t pending, int64_t running, int64_t dead)
{
	state_read_begin();
	struct job_children children =
		state_job_children(c->state, TEXT("default"), text_of(parent));
	state_read_end();
	assert_int_equal(children.pending, pending);
	assert_int_equal(children.running, running);
	assert_int_equal(children.dead, dead);
}

static int64_t launched_s(struct controller *c, const char *parent)
{
	state_read_begin();
	const struct job_notes *notes = state_job_notes(c->state, TEXT("default"), text_of(parent));
	int64_t launched_ns = notes ? notes->launched_ns : 0;
	state_read_end();
	return launched_ns / NS_PER_S;
}

static enum command_outcome finish(struct controller *c, const struct uuid *eval)
{
	return change_evaluation(c, eval, EVAL_COMPLETE);
}

static void a_launch_makes_a_child(void **unused)
{
	struct controller c;
	struct command_job_child made;

	open_controller(&c);
	register_periodic(&c, "cron");
	assert_int_equal(launch(&c, LAUNCH_S, false, &made), OUTCOME_DONE);
	assert_string_equal(made.child_id, "cron/periodic-1700000060");
	state_read_begin();
	const struct job *job = state_job(c.state, TEXT("default"), text_of(made.child_id));
	assert_string_equal(job->parent_id, "cron");
	assert_string_equal(job->name, made.child_id);
	assert_null(job->periodic);
	assert_false(job->dispatched);
	assert_int_equal(job->priority, 60);
	assert_int_equal(job->version, 0);
	assert_int_equal(job->record.create_index, made.child_index);
	state_read_end();
	struct evaluation *e = published_evaluation(&c, &made.made.id);
	assert_int_equal(e->triggered_by, TRIGGER_PERIODIC_JOB);
	assert_int_equal(e->type, EVAL_BATCH);
	assert_int_equal(e->priority, 60);
	assert_string_equal(e->job_id, made.child_id);
	evaluation_free(e);
	assert_int_equal(launched_s(&c, "cron"), LAUNCH_S);
	assert_int_equal(job_status(&c, "cron"), JOB_RUNNING);
	assert_int_equal(job_status(&c, made.child_id), JOB_PENDING);
	expect_children(&c, "cron", 1, 0, 0);
	close_controller(&c);
}

static void a_launch_that_is_asked_for_again_finds_its_child(void **unused)
{
	struct controller c;
	struct command_job_child made, again;

	open_controller(&c);
	register_periodic(&c, "cron");
	launch(&c, LAUNCH_S, false, &made);
	assert_int_equal(launch(&c, LAUNCH_S, false, &again), OUTCOME_DONE);
	assert_string_equal(again.child_id, made.child_id);
	assert_int_equal(again.child_index, made.child_index);
	assert_int_equal(again.made.count, 0);
	expect_children(&c, "cron", 1, 0, 0);
	close_controller(&c);
}

static void overlap_is_prohibited_while_a_child_has_work(void **unused)
{
	struct controller c;
	struct command_job_child first, made;
	struct node_registration node;

	open_controller(&c);
	register_periodic(&c, "cron");
	controller_register(&c, 1, &node);
	launch(&c, LAUNCH_S, true, &first);
	// Its evaluation waits.
	assert_int_equal(launch(&c, LAUNCH_S + 60, true, &made), OUTCOME_NOT_NOW);
	assert_int_equal(launched_s(&c, "cron"), LAUNCH_S + 60);
	place_one(&c, &first.made.id, first.child_id, &node, 1);
	finish(&c, &first.made.id);
	expect_children(&c, "cron", 0, 1, 0);
	// Its allocation runs.
	assert_int_equal(launch(&c, LAUNCH_S + 120, true, &made), OUTCOME_NOT_NOW);
	report_one(&c, &node, 1, ALLOC_COMPLETE);
	expect_children(&c, "cron", 0, 0, 1);
	expect_restores(&c);
	assert_int_equal(launch(&c, LAUNCH_S + 180, true, &made), OUTCOME_DONE);
	assert_string_equal(made.child_id, "cron/periodic-1700000240");
	// Who does not mind overlap is not asked.
	assert_int_equal(launch(&c, LAUNCH_S + 240, false, &made), OUTCOME_DONE);
	expect_children(&c, "cron", 2, 0, 1);
	close_controller(&c);
}

static void only_active_periodic_jobs_are_launched(void **unused)
{
	struct controller c;
	struct command_job_child made;

	open_controller(&c);
	assert_int_equal(launch(&c, LAUNCH_S, false, &made), OUTCOME_UNKNOWN_JOB);
	assert_string_equal(made.message, "periodic job not found");
	register_job(&c, build_scheduled_job("cron", JOB_BATCH), NULL);
	assert_int_equal(launch(&c, LAUNCH_S, false, &made), OUTCOME_BAD_DESCRIPTION);
	assert_string_equal(made.message, "can't launch non-periodic job");
	controller_stop_job(&c, "cron", true);
	register_periodic(&c, "cron");
	controller_stop_job(&c, "cron", false);
	assert_int_equal(launch(&c, LAUNCH_S, false, &made), OUTCOME_JOB_STOPPED);
	close_controller(&c);
}

// Only a dispatch makes children of it, and they are ordinary jobs.
static void a_periodic_job_with_parameters_is_only_dispatched(void **unused)
{
	struct controller c;
	struct command_job_child made;

	open_controller(&c);
	struct job *job = build_scheduled_job("cron", JOB_BATCH);
	job->periodic = memory_take(sizeof *job->periodic);
	job->periodic->enabled = true;
	job->periodic->spec = text_copy(TEXT("* * * * *"));
	job->parameterized = memory_take(sizeof *job->parameterized);
	assert_int_equal(register_job(&c, job, NULL), OUTCOME_DONE);
	assert_int_equal(launch(&c, LAUNCH_S, false, &made), OUTCOME_BAD_DESCRIPTION);
	assert_string_equal(made.message, "can't force run non-tracked job");
	made = (struct command_job_child){.parent = TEXT("cron"), .dispatch = true};
	assert_int_equal(child(&c, &made), OUTCOME_DONE);
	state_read_begin();
	const struct job *dispatched = state_job(c.state, TEXT("default"), text_of(made.child_id));
	assert_true(dispatched->dispatched);
	assert_null(dispatched->periodic);
	state_read_end();
	struct evaluation *e = published_evaluation(&c, &made.made.id);
	assert_int_equal(e->triggered_by, TRIGGER_JOB_REGISTER);
	evaluation_free(e);
	assert_int_equal(job_status(&c, made.child_id), JOB_PENDING);
	finish(&c, &made.made.id);
	assert_int_equal(job_status(&c, made.child_id), JOB_DEAD);
	expect_children(&c, "cron", 0, 0, 1);
	close_controller(&c);
}

static const struct node_pair who = {.name = TEXT("who"), .value = TEXT("me")};

static void dispatching_makes_a_child(void **unused)
{
	struct controller c;
	const struct node_pair meta[] = {{.name = TEXT("why"), .value = TEXT("because")}, who};
	struct command_job_child made = {.parent = TEXT("work"),
		.dispatch = true,
		.payload = TEXT("hello"),
		.meta = meta,
		.meta_count = 2};

	open_controller(&c);
	register_parameterized(&c, "work", "required");
	assert_int_equal(child(&c, &made), OUTCOME_DONE);
	assert_memory_equal(made.child_id, "work/dispatch-1700000000-", 25);
	assert_int_equal(strlen(made.child_id), 25 + 8);
	state_read_begin();
	const struct job *job = state_job(c.state, TEXT("default"), text_of(made.child_id));
	assert_true(job->dispatched);
	assert_string_equal(job->parent_id, "work");
	assert_string_equal(job->payload, "aGVsbG8=");
	assert_string_equal(map_get(&job->meta, "who"), "me");
	assert_string_equal(map_get(&job->meta, "why"), "because");
	state_read_end();
	struct evaluation *e = published_evaluation(&c, &made.made.id);
	assert_int_equal(e->triggered_by, TRIGGER_JOB_REGISTER);
	evaluation_free(e);
	// It works, and makes no jobs itself.
	assert_int_equal(job_status(&c, made.child_id), JOB_PENDING);
	finish(&c, &made.made.id);
	assert_int_equal(job_status(&c, made.child_id), JOB_DEAD);
	expect_children(&c, "work", 0, 0, 1);
	struct command_job_child grandchild = {.parent = text_of(made.child_id), .dispatch = true};
	assert_int_equal(child(&c, &grandchild), OUTCOME_BAD_DESCRIPTION);
	close_controller(&c);
}

static void what_is_dispatched_follows_the_rules(void **unused)
{
	struct controller c;
	static char large[20000];
	static const struct node_pair many[2 * JOB_LIST_MAX + 1];
	static const struct node_pair unknown[] = {
		{.name = TEXT("a")}, {.name = TEXT("who")}, {.name = TEXT("b")}};
	static const struct node_pair twice[] = {{.name = TEXT("who")}, {.name = TEXT("who")}};
	const struct {
		const char *parent;
		struct text payload;
		const struct node_pair *meta;
		uint32_t meta_count;
		const char *message;
	} refused[] = {
		{"must", TEXT(""), &who, 1,
			"Payload is not provided but required by parameterized job"},
		{"not", TEXT("x"), &who, 1, "Payload provided but forbidden by parameterized job"},
		{"must", {large, sizeof large}, &who, 1,
			"Payload exceeds maximum size; 20000 > 16384"},
		{"not", TEXT(""), NULL, 0, "Dispatch did not provide required meta keys: [who]"},
		{"not", TEXT(""), unknown, 3,
			"Dispatch request included unpermitted metadata keys: [a b]"},
		{"not", TEXT(""), twice, 2, "Duplicate key \"who\" in passed metadata"},
		{"not", TEXT(""), many, 2 * JOB_LIST_MAX + 1,
			"Dispatch request has 513 metadata keys, more than the 512 that a job can "
			"declare"},
		{"plain", TEXT(""), NULL, 0, "Specified job \"plain\" is not a parameterized job"},
		{"ended", TEXT(""), &who, 1, "Specified job \"ended\" is stopped"},
		{"none", TEXT(""), &who, 1, "parameterized job not found"},
	};

	open_controller(&c);
	register_parameterized(&c, "must", "required");
	register_parameterized(&c, "not", "forbidden");
	register_parameterized(&c, "ended", "optional");
	controller_stop_job(&c, "ended", false);
	register_job(&c, build_scheduled_job("plain", JOB_BATCH), NULL);
	for (uint32_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		struct command_job_child asked = {.parent = text_of(refused[i].parent),
			.dispatch = true,
			.payload = refused[i].payload,
			.meta = refused[i].meta,
			.meta_count = refused[i].meta_count};
		assert_int_not_equal(child(&c, &asked), OUTCOME_DONE);
		assert_string_equal(asked.message, refused[i].message);
	}
	close_controller(&c);
}

static void a_child_whose_id_would_be_too_long_is_refused(void **unused)
{
	struct controller c;
	char id[NAME_BYTES_MAX + 1], prefix[STORED_NAME_BYTES_MAX];

	memset(id, 'i', sizeof id - 1);
	id[sizeof id - 1] = '\0';
	memset(prefix, 'p', sizeof prefix);
	open_controller(&c);
	register_parameterized(&c, id, "optional");
	struct command_job_child asked = {.parent = text_of(id),
		.dispatch = true,
		.prefix = {prefix, sizeof prefix},
		.meta = &who,
		.meta_count = 1};
	assert_int_equal(child(&c, &asked), OUTCOME_BAD_DESCRIPTION);
	assert_string_equal(asked.message, "the ID of the job is too long for one of its children");
	asked.prefix.size = 1;
	assert_int_equal(child(&c, &asked), OUTCOME_DONE);
	close_controller(&c);
}

static void a_token_finds_what_it_made(void **unused)
{
	struct controller c;
	struct command_job_child first = {.parent = TEXT("work"),
		.dispatch = true,
		.meta = &who,
		.meta_count = 1,
		.idempotency_token = TEXT("once")};
	struct command_job_child again = first, other = first;

	open_controller(&c);
	register_parameterized(&c, "work", "optional");
	assert_int_equal(child(&c, &first), OUTCOME_DONE);
	assert_int_equal(child(&c, &again), OUTCOME_DONE);
	assert_string_equal(again.child_id, first.child_id);
	assert_int_equal(again.made.count, 0);
	other.idempotency_token = TEXT("twice");
	assert_int_equal(child(&c, &other), OUTCOME_DONE);
	assert_string_not_equal(other.child_id, first.child_id);
	expect_children(&c, "work", 2, 0, 0);
	close_controller(&c);
}

static void a_purged_parent_leaves_its_children(void **unused)
{
	struct controller c;
	struct command_job_child first, second;
	struct node_registration node;

	open_controller(&c);
	register_periodic(&c, "cron");
	controller_register(&c, 1, &node);
	launch(&c, LAUNCH_S, false, &first);
	launch(&c, LAUNCH_S + 60, false, &second);
	place_one(&c, &first.made.id, first.child_id, &node, 1);
	assert_int_equal(controller_stop_job(&c, "cron", true), OUTCOME_DONE);
	assert_int_equal(job_status(&c, "cron"), -1);
	assert_int_equal(job_status(&c, first.child_id), JOB_RUNNING);
	expect_restores(&c);
	finish(&c, &second.made.id);
	// A parent of the same name finds them again; when it launched is forgotten.
	register_periodic(&c, "cron");
	expect_children(&c, "cron", 0, 1, 1);
	assert_int_equal(launched_s(&c, "cron"), 0);
	expect_restores(&c);
	finish(&c, &first.made.id);
	report_one(&c, &node, 1, ALLOC_COMPLETE);
	expect_children(&c, "cron", 0, 0, 2);
	close_controller(&c);
}

static void a_purged_child_counts_as_dead(void **unused)
{
	struct controller c;
	struct command_job_child first, second;

	open_controller(&c);
	register_periodic(&c, "cron");
	launch(&c, LAUNCH_S, false, &first);
	launch(&c, LAUNCH_S + 60, false, &second);
	controller_stop_job(&c, first.child_id, true);
	expect_children(&c, "cron", 1, 0, 1);
	expect_restores(&c);
	finish(&c, &second.made.id);
	controller_stop_job(&c, second.child_id, true);
	expect_children(&c, "cron", 0, 0, 2);
	close_controller(&c);
}

static void collect_all(struct controller *c)
{
	struct command command = {.type = COMMAND_GC, .gc = {.force = true}};
	uint32_t done = 0;

	controller_push(c, &command, &done);
	while (!done)
		applier_step(c->applier);
}

static void children_are_collected_and_parents_only_when_stopped(void **unused)
{
	struct controller c;
	struct command_job_child made;

	open_controller(&c);
	register_periodic(&c, "cron");
	launch(&c, LAUNCH_S, false, &made);
	finish(&c, &made.made.id);
	collect_all(&c);
	assert_int_equal(job_status(&c, made.child_id), -1);
	assert_int_equal(job_status(&c, "cron"), JOB_RUNNING);
	expect_children(&c, "cron", 0, 0, 1);
	expect_restores(&c);
	controller_stop_job(&c, "cron", false);
	collect_all(&c);
	assert_int_equal(job_status(&c, "cron"), -1);
	close_controller(&c);
}

static void expect_refusal(struct controller *c, struct job *job, const char *message)
{
	struct command_job_register result = {0};

	assert_int_equal(register_job(c, job, &result), OUTCOME_BAD_DESCRIPTION);
	assert_string_equal(result.message, message);
}

static void a_job_stays_what_it_is(void **unused)
{
	struct controller c;
	struct job *job;

	open_controller(&c);
	register_periodic(&c, "cron");
	register_parameterized(&c, "work", "optional");
	register_job(&c, build_scheduled_job("plain", JOB_BATCH), NULL);
	expect_refusal(&c, build_scheduled_job("cron", JOB_BATCH),
		"cannot update periodic job to being non-periodic");
	expect_refusal(&c, build_scheduled_job("work", JOB_BATCH),
		"cannot update parameterized job to being non-parameterized");
	expect_refusal(&c, build_scheduled_job("plain", JOB_SYSBATCH),
		"cannot update job from type \"batch\" to \"sysbatch\"");
	job = build_scheduled_job("plain", JOB_BATCH);
	job->periodic = memory_take(sizeof *job->periodic);
	expect_refusal(&c, job, "cannot update non-periodic job to being periodic");
	job = build_scheduled_job("plain", JOB_BATCH);
	job->parameterized = memory_take(sizeof *job->parameterized);
	expect_refusal(&c, job, "cannot update non-parameterized job to being parameterized");
	job = build_scheduled_job("plain", JOB_BATCH);
	job->dispatched = true;
	expect_refusal(&c, job, "field 'Dispatched' is read-only");
	close_controller(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_launch_makes_a_child),
		cmocka_unit_test(a_launch_that_is_asked_for_again_finds_its_child),
		cmocka_unit_test(overlap_is_prohibited_while_a_child_has_work),
		cmocka_unit_test(only_active_periodic_jobs_are_launched),
		cmocka_unit_test(a_periodic_job_with_parameters_is_only_dispatched),
		cmocka_unit_test(dispatching_makes_a_child),
		cmocka_unit_test(what_is_dispatched_follows_the_rules),
		cmocka_unit_test(a_child_whose_id_would_be_too_long_is_refused),
		cmocka_unit_test(a_token_finds_what_it_made),
		cmocka_unit_test(a_purged_parent_leaves_its_children),
		cmocka_unit_test(a_purged_child_counts_as_dead),
		cmocka_unit_test(children_are_collected_and_parents_only_when_stopped),
		cmocka_unit_test(a_job_stays_what_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
