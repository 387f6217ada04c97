// Node pools through the applier: what is refused, who keeps a pool from going, and that a successor has them.
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/records/nodes/node_pool.h"
#include "tests/support/controller.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct state_limits limits = {.node_pools = 3};

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

static enum command_outcome put_pool(struct controller *c, const char *name, const char *described)
{
	struct node_pool *pool = record_create(&node_pool_description);
	struct command command = {.type = COMMAND_NODE_POOL, .node_pool = {pool}};

	pool->name = text_copy(text_of(name));
	pool->description = text_copy(text_of(described));
	pool->scheduler = memory_take(sizeof *pool->scheduler);
	pool->scheduler->algorithm = 1 + ALGORITHM_SPREAD;
	enum command_outcome outcome = controller_run(c, &command);
	assert_int_equal(command.node_pool.pool != NULL, outcome != OUTCOME_DONE);
	record_free(&node_pool_description, command.node_pool.pool);
	return outcome;
}

static enum command_outcome delete_pool(
	struct controller *c, const char *name, bool has_jobs, bool has_nodes)
{
	struct command command = {
		.type = COMMAND_NODE_POOL_DELETE, .node_pool_delete = {.name = text_of(name)}};
	enum command_outcome outcome = controller_run(c, &command);

	assert_int_equal(command.node_pool_delete.has_jobs, has_jobs);
	assert_int_equal(command.node_pool_delete.has_nodes, has_nodes);
	return outcome;
}

// described NULL: there is no such pool.
static void expect_pool(const struct controller *c, const char *name, const char *described)
{
	state_read_begin();
	const struct node_pool *pool = state_node_pool(c->state, text_of(name));
	assert_int_equal(pool != NULL, described != NULL);
	if (pool) {
		assert_string_equal(pool->description, described);
		assert_int_equal(pool->scheduler->algorithm, 1 + ALGORITHM_SPREAD);
	}
	state_read_end();
}

static void they_are_described_anew(void **test)
{
	struct controller *c = *test;

	assert_int_equal(put_pool(c, "gpu", "first"), OUTCOME_DONE);
	state_read_begin();
	uint64_t created = state_node_pool(c->state, TEXT("gpu"))->record.create_index;
	state_read_end();
	assert_int_equal(put_pool(c, "gpu", "second"), OUTCOME_DONE);
	expect_pool(c, "gpu", "second");
	state_read_begin();
	const struct node_pool *pool = state_node_pool(c->state, TEXT("gpu"));
	assert_int_equal(pool->record.create_index, created);
	assert_int_equal(pool->record.modify_index, state_index(c->state));
	state_read_end();
	assert_int_equal(state_table_index(c->state, STATE_NODE_POOLS), state_index(c->state));
}

static void bad_ones_are_refused(void **test)
{
	static const char *const names[] = {"", "a b", "a/b", "all", "default"};
	struct controller *c = *test;
	char description[NODE_POOL_DESCRIPTION_MAX + 2];

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		assert_int_equal(put_pool(c, names[i], ""), OUTCOME_BAD_DESCRIPTION);
	memset(description, 'x', sizeof description - 1);
	description[sizeof description - 1] = '\0';
	assert_int_equal(put_pool(c, "gpu", description), OUTCOME_BAD_DESCRIPTION);
	assert_int_equal(put_pool(c, "gpu", description + 1), OUTCOME_DONE);
}

static void there_is_an_end_of_room(void **test)
{
	struct controller *c = *test;

	assert_int_equal(put_pool(c, "a", ""), OUTCOME_DONE);
	assert_int_equal(put_pool(c, "b", ""), OUTCOME_DONE);
	assert_int_equal(put_pool(c, "c", ""), OUTCOME_DONE);
	assert_int_equal(put_pool(c, "d", ""), OUTCOME_TABLE_FULL);
	assert_int_equal(put_pool(c, "c", "again"), OUTCOME_DONE);
	assert_int_equal(delete_pool(c, "b", false, false), OUTCOME_DONE);
	assert_int_equal(put_pool(c, "d", ""), OUTCOME_DONE);
}

static void none_goes_that_is_used(void **test)
{
	static const struct resources small = {100, 100, 0};
	struct controller *c = *test;
	struct node_registration node;
	struct job *job = build_job("j", &small, 1);
	struct command purge = {.type = COMMAND_NODE_PURGE, .node_named = {.node = number_uuid(1)}};

	assert_int_equal(put_pool(c, "gpu", ""), OUTCOME_DONE);
	free(job->node_pool);
	job->node_pool = text_copy(TEXT("gpu"));
	assert_int_equal(controller_job(c, job), OUTCOME_DONE);
	build_node(&node, 1, 1);
	node.pool = TEXT("gpu");
	struct command reg = {.type = COMMAND_NODE_REGISTER, .node_register = &node};
	assert_int_equal(controller_run(c, &reg), OUTCOME_DONE);
	assert_int_equal(delete_pool(c, "gpu", true, true), OUTCOME_CONFLICT);
	assert_int_equal(controller_stop_job(c, "j", false), OUTCOME_DONE);
	assert_int_equal(delete_pool(c, "gpu", false, true), OUTCOME_CONFLICT);
	assert_int_equal(controller_run(c, &purge), OUTCOME_DONE);
	assert_int_equal(delete_pool(c, "gpu", false, false), OUTCOME_DONE);
	expect_pool(c, "gpu", NULL);
}

static void what_nobody_described_does_not_go(void **test)
{
	struct controller *c = *test;

	assert_int_equal(delete_pool(c, "nosuch", false, false), OUTCOME_UNKNOWN_POOL);
	assert_int_equal(delete_pool(c, "all", false, false), OUTCOME_BAD_DESCRIPTION);
	assert_int_equal(delete_pool(c, "default", false, false), OUTCOME_BAD_DESCRIPTION);
	assert_int_equal(put_pool(c, "gpu", ""), OUTCOME_DONE);
	assert_int_equal(delete_pool(c, "gpu", false, false), OUTCOME_DONE);
	assert_int_equal(delete_pool(c, "gpu", false, false), OUTCOME_UNKNOWN_POOL);
	assert_int_equal(put_pool(c, "gpu", "back"), OUTCOME_DONE);
	expect_pool(c, "gpu", "back");
}

static void expect_successor(struct controller *next)
{
	expect_pool(next, "gpu", "second");
	expect_pool(next, "gone", NULL);
	controller_verify(next);
	controller_free(next);
}

static void a_successor_has_them(void **test)
{
	struct controller *c = *test, next;

	assert_int_equal(put_pool(c, "gone", ""), OUTCOME_DONE);
	assert_int_equal(put_pool(c, "gpu", "first"), OUTCOME_DONE);
	assert_int_equal(put_pool(c, "gpu", "second"), OUTCOME_DONE);
	assert_int_equal(delete_pool(c, "gone", false, false), OUTCOME_DONE);
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(they_are_described_anew),
		TEST(bad_ones_are_refused),
		TEST(there_is_an_end_of_room),
		TEST(none_goes_that_is_used),
		TEST(what_nobody_described_does_not_go),
		TEST(a_successor_has_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
