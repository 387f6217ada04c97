// Namespaces through the applier: what is refused, what a job may ask for in them, that a successor has them, and that
// those of older data, which were only texts, are there.
#include "state/apply/replay.h"
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/log/batch.h"
#include "state/log/entry.h"
#include "state/records/namespaces/job_namespace.h"
#include "state/snapshot/snapshot_item.h"
#include "tests/support/controller.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct state_limits limits = {.namespaces = 2};
static const struct resources small = {100, 100, 0};

static int setup(void **test)
{
	struct controller *c = memory_take(sizeof *c);

	controller_init(c, limits);
	controller_open(c);
	*test = c;
	return 0;
}

static int teardown(void **test)
{
	controller_verify(*test);
	controller_free(*test);
	free(*test);
	return 0;
}

static struct job_namespace *build_namespace(const char *name, const char *described)
{
	struct job_namespace *n = record_create(&job_namespace_description);

	n->name = text_copy(text_of(name));
	n->description = text_copy(text_of(described));
	return n;
}

// Takes the namespace over.
static enum command_outcome put_built(struct controller *c, struct job_namespace *n)
{
	struct command command = {.type = COMMAND_NAMESPACE, .namespace = {n}};
	enum command_outcome outcome = controller_run(c, &command);

	assert_int_equal(command.namespace.described != NULL, outcome != OUTCOME_DONE);
	record_free(&job_namespace_description, command.namespace.described);
	return outcome;
}

static enum command_outcome put(struct controller *c, const char *name, const char *described)
{
	return put_built(c, build_namespace(name, described));
}

static enum command_outcome delete_namespace(struct controller *c, const char *name)
{
	struct command command = {
		.type = COMMAND_NAMESPACE_DELETE, .namespace_delete = {text_of(name)}};
	return controller_run(c, &command);
}

static struct job *job_in(const char *namespace_name, const char *id)
{
	struct job *job = build_job(id, &small, 1);

	free(job->namespace_name);
	job->namespace_name = text_copy(text_of(namespace_name));
	return job;
}

static enum command_outcome stop_job(struct controller *c, const char *namespace_name)
{
	struct command command = {.type = COMMAND_JOB_DEREGISTER,
		.job_deregister = {.namespace_name = text_of(namespace_name), .id = TEXT("j")}};
	return controller_run(c, &command);
}

// described NULL: there is no such namespace.
static void expect_namespace(const struct controller *c, const char *name, const char *described)
{
	state_read_begin();
	const struct job_namespace *n = state_namespace(c->state, text_of(name));
	assert_int_equal(n != NULL, described != NULL);
	assert_true(!n || text_equal(text_of(n->description), text_of(described)));
	assert_int_equal(state_has_namespace(c->state, text_of(name)),
		n != NULL || namespace_is_built_in(text_of(name)));
	state_read_end();
}

static void they_are_described_anew(void **test)
{
	struct controller *c = *test;

	expect_namespace(c, "team", NULL);
	assert_int_equal(put(c, "team", "first"), OUTCOME_DONE);
	assert_int_equal(put(c, "team", "second"), OUTCOME_DONE);
	expect_namespace(c, "team", "second");
	assert_int_equal(put(c, "default", "of all"), OUTCOME_DONE);
	expect_namespace(c, "default", "of all");
	assert_int_equal(state_table_index(c->state, STATE_NAMESPACES), state_index(c->state));
	assert_int_equal(put(c, "third", ""), OUTCOME_TABLE_FULL);
}

static void bad_ones_are_refused(void **test)
{
	static const char *const names[] = {"", "a b", "a/b", "a_b", "*"};
	struct controller *c = *test;
	struct job_namespace *n = build_namespace("team", "");
	char description[NAMESPACE_DESCRIPTION_MAX + 2];

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		assert_int_equal(put(c, names[i], ""), OUTCOME_BAD_DESCRIPTION);
	memset(description, 'x', sizeof description - 1);
	description[sizeof description - 1] = '\0';
	assert_int_equal(put(c, "team", description), OUTCOME_BAD_DESCRIPTION);
	n->quota = text_copy(TEXT("nosuch"));
	assert_int_equal(put_built(c, n), OUTCOME_UNKNOWN_QUOTA);
	assert_int_equal(put(c, "team", description + 1), OUTCOME_DONE);
}

static void a_job_needs_its_namespace(void **test)
{
	struct controller *c = *test;
	struct job *refused = job_in("team", "j");

	struct command command = {.type = COMMAND_JOB_REGISTER, .job_register = {.job = refused}};
	assert_int_equal(controller_run(c, &command), OUTCOME_UNKNOWN_NAMESPACE);
	job_free(refused);
	assert_int_equal(put(c, "team", ""), OUTCOME_DONE);
	assert_int_equal(controller_job(c, job_in("team", "j")), OUTCOME_DONE);
}

static void none_goes_that_has_living_jobs(void **test)
{
	struct controller *c = *test;

	assert_int_equal(put(c, "team", ""), OUTCOME_DONE);
	assert_int_equal(controller_job(c, job_in("team", "j")), OUTCOME_DONE);
	assert_int_equal(delete_namespace(c, "team"), OUTCOME_CONFLICT);
	assert_int_equal(stop_job(c, "team"), OUTCOME_DONE);
	assert_int_equal(delete_namespace(c, "team"), OUTCOME_DONE);
	expect_namespace(c, "team", NULL);
	assert_int_equal(delete_namespace(c, "team"), OUTCOME_UNKNOWN_NAMESPACE);
	assert_int_equal(delete_namespace(c, "default"), OUTCOME_BAD_DESCRIPTION);
	// The stopped job does not come back without it.
	struct command command = {.type = COMMAND_JOB_REVERT,
		.job_revert = {.namespace_name = TEXT("team"), .id = TEXT("j"), .version = 0}};
	assert_int_equal(controller_run(c, &command), OUTCOME_UNKNOWN_NAMESPACE);
	assert_int_equal(put(c, "team", "again"), OUTCOME_DONE);
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
}

static void drivers_are_those_that_it_allows(void **test)
{
	struct controller *c = *test;
	struct job_namespace *n = build_namespace("team", "");
	struct job *job = job_in("team", "j");
	struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, 0);
	struct task *task =
		group->tasks.count ? group->tasks.items : array_append(&group->tasks, sizeof *task);

	n->capabilities = memory_take(sizeof *n->capabilities);
	*(char **)array_append(&n->capabilities->disabled_drivers, sizeof(char *)) =
		text_copy(TEXT("qemu"));
	assert_int_equal(put_built(c, n), OUTCOME_DONE);
	free(task->driver);
	task->driver = text_copy(TEXT("qemu"));
	struct command command = {.type = COMMAND_JOB_REGISTER, .job_register = {.job = job}};
	assert_int_equal(controller_run(c, &command), OUTCOME_BAD_DESCRIPTION);
	assert_string_equal(command.job_register.message,
		"used task driver \"qemu\" is not allowed in namespace \"team\"");
	free(task->driver);
	task->driver = text_copy(TEXT("exec"));
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
}

static void expect_successor(struct controller *next)
{
	expect_namespace(next, "team", "second");
	expect_namespace(next, "gone", NULL);
	controller_verify(next);
	controller_free(next);
}

// Also that a namespace stays away whose stopped job is still there.
static void a_successor_has_them(void **test)
{
	struct controller *c = *test, next;

	assert_int_equal(put(c, "gone", ""), OUTCOME_DONE);
	assert_int_equal(put(c, "team", "first"), OUTCOME_DONE);
	assert_int_equal(put(c, "team", "second"), OUTCOME_DONE);
	assert_int_equal(controller_job(c, job_in("gone", "j")), OUTCOME_DONE);
	assert_int_equal(stop_job(c, "gone"), OUTCOME_DONE);
	assert_int_equal(delete_namespace(c, "gone"), OUTCOME_DONE);
	controller_init(&next, limits);
	assert_int_equal(controller_replay(&next, &c->log, c->log.count), 0);
	controller_open(&next);
	expect_successor(&next);
	struct bytes_writer image = controller_image(c);
	controller_init(&next, limits);
	assert_int_equal(controller_load(&next, &image), 0);
	controller_open(&next);
	expect_successor(&next);
	bytes_writer_free(&image);
}

// A log of older data: a job in a namespace that nobody made.
static void replay_older_log(struct controller *c)
{
	struct batch_header header = {1, 1, 1};
	struct job *job = job_in("old_team", "j");
	struct entry e = {.kind = ENTRY_JOB_REGISTER, .job_register = {.job = job}};
	struct bytes_writer w = bytes_writer_growing(64);

	job->record.create_index = job->record.modify_index = job->job_modify_index = 1;
	bytes_put_zeros(&w, BATCH_HEADER_BYTES);
	entry_encode(&e, &w);
	batch_seal(&w, &header);
	assert_int_equal(replay_stored(c->applier, 1, w.data, (uint32_t)w.size), 0);
	bytes_writer_free(&w);
	job_free(job);
}

// The image as older data would hold it: without namespaces, and without the mark that there are any.
static struct bytes_writer older_image(const struct controller *c)
{
	struct bytes_writer image = controller_image(c), older = bytes_writer_growing(64);
	struct bytes_reader r = bytes_reader_over(image.data, image.size);

	while (bytes_left(&r) > 0) {
		uint32_t size = bytes_take_u32(&r);
		const uint8_t *item = bytes_take(&r, size);
		if (item[0] == STATE_NAMESPACES || item[0] == SNAPSHOT_NAMESPACED)
			continue;
		bytes_put_u32(&older, size);
		bytes_put(&older, item, size);
	}
	bytes_writer_free(&image);
	return older;
}

static void expect_of_older_data(struct controller *c)
{
	controller_open(c);
	expect_namespace(c, "old_team", "");
	assert_int_equal(controller_job(c, job_in("old_team", "k")), OUTCOME_DONE);
	assert_int_equal(put(c, "old_team", "described"), OUTCOME_DONE);
	expect_namespace(c, "old_team", "described");
	controller_verify(c);
}

static void those_of_older_data_are_there(void **unused)
{
	struct controller c, next;

	controller_init(&c, limits);
	replay_older_log(&c);
	expect_of_older_data(&c);
	struct bytes_writer image = older_image(&c);
	controller_init(&next, limits);
	assert_int_equal(controller_load(&next, &image), 0);
	expect_of_older_data(&next);
	bytes_writer_free(&image);
	controller_free(&next);
	controller_free(&c);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(they_are_described_anew),
		TEST(bad_ones_are_refused),
		TEST(a_job_needs_its_namespace),
		TEST(none_goes_that_has_living_jobs),
		TEST(drivers_are_those_that_it_allows),
		TEST(a_successor_has_them),
		cmocka_unit_test(those_of_older_data_are_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
