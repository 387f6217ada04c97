// Variables through the applier: who is ahead of whom, what is refused, and that a successor has them.
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/records/variable.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct state_limits limits = {.variables = 2};
#define ANY UINT64_MAX // no index is expected

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
	expect_restores(*test);
	controller_free(*test);
	free(*test);
	return 0;
}

static struct variable *build(const char *name, const char *sealed)
{
	struct variable *variable = record_create(&variable_description);

	variable->name = text_copy(text_of(name));
	variable->sealed = text_copy(text_of(sealed));
	variable->key.bytes[0] = 7;
	return variable;
}

// The command has what it tells of the variable afterwards.
static enum command_outcome put(struct controller *c, struct variable *variable, uint64_t index,
	struct command_variable *ask)
{
	struct command command = {.type = COMMAND_VARIABLE, .variable = ask};
	*ask = (struct command_variable){
		.variable = variable, .cas = index != ANY, .modify_index = index};
	enum command_outcome outcome = controller_run(c, &command);

	assert_int_equal(ask->variable != NULL, outcome != OUTCOME_DONE);
	record_free(&variable_description, ask->variable);
	return outcome;
}

static enum command_outcome put_text(
	struct controller *c, const char *name, const char *sealed, uint64_t index)
{
	struct command_variable ask;
	return put(c, build(name, sealed), index, &ask);
}

static enum command_outcome drop(struct controller *c, const char *name, uint64_t index)
{
	struct command command = {.type = COMMAND_VARIABLE_DELETE,
		.variable_delete = {text_of(name), index != ANY, index}};
	return controller_run(c, &command);
}

// 0: there is none.
static uint64_t index_of(struct controller *c, const char *name)
{
	state_read_begin();
	const struct variable *v = state_variable(c->state, text_of(name));
	uint64_t index = v ? v->record.modify_index : 0;
	state_read_end();
	return index;
}

static void a_variable_is_written_anew(void **test)
{
	struct controller *c = *test;
	struct command_variable first, second;

	assert_int_equal(put(c, build("default.a", "one"), ANY, &first), OUTCOME_DONE);
	assert_int_equal(first.create_index, state_index(c->state));
	assert_int_equal(first.create_time_ns, first.modify_time_ns);
	c->time.wall_ns += 1000;
	assert_int_equal(put(c, build("default.a", "two"), ANY, &second), OUTCOME_DONE);
	assert_int_equal(second.create_index, first.create_index);
	assert_int_equal(second.create_time_ns, first.create_time_ns);
	assert_true(second.modify_time_ns > first.modify_time_ns);
	state_read_begin();
	const struct variable *v = state_variable(c->state, TEXT("default.a"));
	assert_string_equal(v->sealed, "two");
	assert_int_equal(v->create_time_ns, first.create_time_ns);
	assert_int_equal(v->record.modify_index, state_index(c->state));
	assert_null(state_variable(c->state, TEXT("team.a")));
	state_read_end();
	assert_int_equal(state_table_index(c->state, STATE_VARIABLES), state_index(c->state));
}

static void only_who_knows_the_newest_version_writes_over_it(void **test)
{
	struct controller *c = *test;

	assert_int_equal(put_text(c, "default.a", "x", 5), OUTCOME_CONFLICT);
	assert_int_equal(put_text(c, "default.a", "x", 0), OUTCOME_DONE);
	uint64_t index = index_of(c, "default.a");
	assert_int_equal(put_text(c, "default.a", "y", 0), OUTCOME_CONFLICT);
	assert_int_equal(put_text(c, "default.a", "y", index - 1), OUTCOME_CONFLICT);
	assert_int_equal(put_text(c, "default.a", "y", index + 1), OUTCOME_CONFLICT);
	assert_int_equal(index_of(c, "default.a"), index);
	assert_int_equal(put_text(c, "default.a", "y", index), OUTCOME_DONE);
	assert_int_equal(put_text(c, "default.a", "z", index), OUTCOME_CONFLICT);
}

static void only_who_knows_the_newest_version_deletes_it(void **test)
{
	struct controller *c = *test;

	assert_int_equal(drop(c, "default.a", ANY), OUTCOME_UNKNOWN_VARIABLE);
	assert_int_equal(drop(c, "default.a", 0), OUTCOME_UNKNOWN_VARIABLE);
	assert_int_equal(drop(c, "default.a", 9), OUTCOME_CONFLICT);
	assert_int_equal(put_text(c, "default.a", "x", ANY), OUTCOME_DONE);
	uint64_t index = index_of(c, "default.a");
	assert_int_equal(drop(c, "default.a", 0), OUTCOME_CONFLICT);
	assert_int_equal(drop(c, "default.a", index + 1), OUTCOME_CONFLICT);
	assert_int_equal(drop(c, "default.a", index), OUTCOME_DONE);
	assert_int_equal(index_of(c, "default.a"), 0);
	assert_int_equal(drop(c, "default.a", index), OUTCOME_CONFLICT);
	// It begins anew.
	assert_int_equal(put_text(c, "default.a", "x", 0), OUTCOME_DONE);
	assert_true(index_of(c, "default.a") > index);
	assert_int_equal(drop(c, "default.a", ANY), OUTCOME_DONE);
}

static void there_is_an_end_of_room(void **test)
{
	struct controller *c = *test;

	assert_int_equal(put_text(c, "default.a", "x", ANY), OUTCOME_DONE);
	assert_int_equal(put_text(c, "default.b", "x", ANY), OUTCOME_DONE);
	assert_int_equal(put_text(c, "default.c", "x", ANY), OUTCOME_TABLE_FULL);
	assert_int_equal(put_text(c, "default.b", "y", ANY), OUTCOME_DONE);
	assert_int_equal(drop(c, "default.a", ANY), OUTCOME_DONE);
	assert_int_equal(put_text(c, "default.c", "x", ANY), OUTCOME_DONE);
}

static void bad_variables_are_refused(void **test)
{
	static const char *const names[] = {
		"", "a", ".a", "default.", "default.a b", "default.a%", "a\nb.c", "default.a."};
	struct controller *c = *test;
	struct variable *variable = build("default.a", "");
	struct command_variable ask;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		assert_int_equal(put_text(c, names[i], "x", ANY), OUTCOME_BAD_DESCRIPTION);
	assert_int_equal(put(c, variable, ANY, &ask), OUTCOME_BAD_DESCRIPTION);
	variable = build("default.a", "");
	free(variable->sealed);
	variable->sealed = memory_take(VARIABLE_SEALED_MAX + 2);
	memset(variable->sealed, 'x', VARIABLE_SEALED_MAX + 1);
	assert_int_equal(put(c, variable, ANY, &ask), OUTCOME_BAD_DESCRIPTION);
	// A namespace may have dots: the path has none.
	assert_int_equal(put_text(c, "a.b.c/d", "x", ANY), OUTCOME_DONE);
	assert_string_equal(variable_path("a.b.c/d"), "c/d");
	assert_true(text_equal(variable_namespace("a.b.c/d"), TEXT("a.b")));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_variable_is_written_anew),
		TEST(only_who_knows_the_newest_version_writes_over_it),
		TEST(only_who_knows_the_newest_version_deletes_it),
		TEST(there_is_an_end_of_room),
		TEST(bad_variables_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
