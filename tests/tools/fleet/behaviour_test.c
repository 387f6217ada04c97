// What simulated allocations do, as their description says.
#include "tools/fleet/work/behaviour.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct behaviours all;
static struct flag_list bad = {.count = 1, .items = {"web:3"}};

static int set_up(void **unused)
{
	behaviours_create(&all, &bad);
	return 0;
}

static int tear_down(void **unused)
{
	behaviours_destroy(&all);
	return 0;
}

static struct behaviour *read_text(const char *json)
{
	uint32_t number = behaviours_find(&all, all.count + 1, 0);
	struct behaviour *b = all.items[number];
	b->json = bytes_writer_growing(16);
	bytes_put(&b->json, json, strlen(json));
	return behaviour_read(&all, b) ? b : NULL;
}

static struct behaviour *describe(
	const char *type, int version, const char *further, const char *tasks)
{
	char json[2000];
	snprintf(json, sizeof json,
		"{\"ID\":\"a1000000-0000-0000-0000-000000000000\",\"JobID\":\"web\",\"JobType\":\"%"
		"s\","
		"\"JobVersion\":%d,%s\"Tasks\":[%s]}",
		type, version, further, tasks);
	struct behaviour *b = read_text(json);
	assert_non_null(b);
	return b;
}

static void each_is_found_again(void **unused)
{
	static uint32_t numbers[500];
	for (uint32_t i = 0; i < 500; i++)
		numbers[i] = behaviours_find(&all, i * 7919 / 3, (uint16_t)(i % 3));
	for (uint32_t i = 0; i < 500; i++) {
		assert_int_equal(
			behaviours_find(&all, i * 7919 / 3, (uint16_t)(i % 3)), numbers[i]);
		assert_int_equal(all.items[numbers[i]]->job_index, i * 7919 / 3);
		assert_int_equal(all.items[numbers[i]]->group, i % 3);
		for (uint32_t k = 0; k < i; k++)
			assert_int_not_equal(numbers[k], numbers[i]);
	}
	assert_int_equal(all.count, 500);
}

#define TASK(name, config) "{\"Name\":\"" name "\",\"Driver\":\"mock\",\"Config\":{" config "}}"

static void one_that_says_nothing_runs_as_the_flags_say(void **unused)
{
	struct behaviour *b = describe("service", 0, "", TASK("a", ""));
	assert_true(b->is_known);
	assert_int_equal(b->run_ms, BEHAVIOUR_NEVER);
	assert_false(b->fails || b->fails_to_start);
	assert_int_equal(b->kill_ms, 0);
	assert_int_equal(b->task_count, 1);
	assert_string_equal(b->tasks[0], "a");
	assert_true(b->restart.on_success);
	// Nobody asks for its deployment's health; migrations always do, by the usual rule.
	assert_false(b->update.is_asked);
	assert_true(b->migrate.is_asked);
	assert_int_equal(b->migrate.min_healthy_ms, 10000);
	assert_int_equal(b->migrate.deadline_ms, 300000);
	assert_false(describe("batch", 0, "", TASK("a", ""))->migrate.is_asked);
}

static void what_a_job_says(void **unused)
{
	struct behaviour *b = describe("service", 0,
		"\"StopAfterClientDisconnect\":7000000000,\"Update\":{\"HealthCheck\":\"checks\","
		"\"MinHealthyTime\":2000000000,\"HealthyDeadline\":9000000000},",
		"{\"Name\":\"a\",\"Driver\":\"mock\",\"Config\":{\"run_for\":\"3s\",\"exit_code\":"
		"1,"
		"\"start_block_for\":\"500ms\",\"kill_after\":\"20s\"},\"KillTimeout\":4000000000,"
		"\"RestartPolicy\":{\"Attempts\":2,\"Interval\":60000000000,\"Delay\":1000000000,"
		"\"Mode\":\"delay\"}}");
	assert_int_equal(b->run_ms, 3000);
	assert_true(b->fails);
	assert_int_equal(b->start_ms, 500);
	assert_int_equal(b->kill_ms, 4000); // killed then
	assert_int_equal(b->stop_after_ms, 7000);
	assert_true(b->update.is_asked);
	assert_int_equal(b->update.min_healthy_ms, 2000);
	assert_int_equal(b->update.deadline_ms, 9000);
	assert_int_equal(b->restart.attempts, 2);
	assert_int_equal(b->restart.interval_ms, 60000);
	assert_int_equal(b->restart.delay_ms, 1000);
	assert_true(b->restart.waits);
}

static void the_first_that_fails_or_the_last_decides(void **unused)
{
	assert_int_equal(
		describe("batch", 0, "",
			TASK("a", "\"run_for\":\"3s\"") "," TASK("b", "\"run_for\":\"5s\""))
			->run_ms,
		5000);
	assert_int_equal(
		describe("batch", 0, "", TASK("a", "\"run_for\":\"3s\"") "," TASK("b", ""))->run_ms,
		BEHAVIOUR_NEVER);
	struct behaviour *b = describe("batch", 0, "",
		TASK("a", "") "," TASK("b", "\"run_for\":\"9s\",\"exit_code\":1") "," TASK(
			"c", "\"run_for\":\"2s\",\"exit_code\":1"));
	assert_int_equal(b->run_ms, 2000);
	assert_true(b->fails);
	assert_int_equal(b->task_count, 3);
}

static void bad_versions_fail_to_start(void **unused)
{
	assert_false(describe("service", 2, "", TASK("a", ""))->fails_to_start);
	assert_true(describe("service", 3, "", TASK("a", ""))->fails_to_start);
	assert_true(
		describe("service", 1, "", TASK("a", "\"start_error\":\"no\""))->fails_to_start);
}

static void what_cannot_be_read_is_left(void **unused)
{
	static const char *const texts[] = {"", "{", "[]", "{\"ID\":\"x\"}",
		"{\"ID\":\"a1000000-0000-0000-0000-000000000000\",\"Tasks\":[]}"};
	for (uint32_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		assert_null(read_text(texts[i]));
	for (uint32_t i = 0; i < all.count; i++)
		assert_false(all.items[i]->is_known);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_is_found_again),
		TEST(one_that_says_nothing_runs_as_the_flags_say),
		TEST(what_a_job_says),
		TEST(the_first_that_fails_or_the_last_decides),
		TEST(bad_versions_fail_to_start),
		TEST(what_cannot_be_read_is_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
