// How much a node tells of its allocations in one report: every event of a task as long as the frame holds them, else
// the newest. The clock stands still unless told.
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/alloc_sync.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TASKS 12u

static const struct node_facts facts = {
	.name = "node-a", .datacenter = "dc1", .class_name = "", .pool = "default"};
static const struct uuid id = {{0xa1}};
static struct alloc_sync sync;

static int set_up(void **unused)
{
	stage_open(&facts);
	return 0;
}

static int tear_down(void **unused)
{
	return stage_close();
}

// The first report after now, valid until the next one.
static const struct wire_alloc_update *report(void)
{
	static struct wire_alloc_update update;
	struct node_session session = {.slot = 3, .generation = 1};
	struct probe_settings no_probe = {NULL, 1, 1};
	struct readiness readiness;
	struct wire_header h;
	runner_report_all(&runner);
	readiness_open(&readiness, &runner, &no_probe);
	alloc_sync_start(&sync, &runner, &readiness, &session, 1, 1);
	alloc_sync_heard(&sync, 1, 1);
	uint32_t size = alloc_sync_due(&sync, 1);
	assert_true(size > 0);
	assert_int_equal(wire_header_decode(sync.frame, size, &h), WIRE_OK);
	assert_true(wire_alloc_update_decode(sync.frame, &h, &update));
	return &update;
}

static void a_whole_life_is_told(void **unused)
{
	static const char *const types[] = {
		"Received", "Task Setup", "Started", "Terminated", "Not Restarting"};
	stage_run(&id, "batch", "",
		"{\"Name\":\"t\",\"Driver\":\"mock\",\"Config\":{\"run_for\":\"1s\",\"exit_code\":"
		"2}}");
	stage_pass_ms(1000);
	const struct wire_alloc_update *update = report();
	assert_int_equal(update->tasks[0].event_count, sizeof types / sizeof types[0]);
	for (uint32_t i = 0; i < update->event_count; i++)
		assert_true(text_equal(update->events[i].type, text_of(types[i])));
	alloc_sync_stop(&sync);
}

// A frame has its size: of many tasks the newest events are told.
static void what_does_not_fit_is_told_in_part(void **unused)
{
	char tasks[4096] = "";
	for (uint32_t i = 0, at = 0; i < TASKS; i++)
		at += (uint32_t)snprintf(tasks + at, sizeof tasks - at,
			"%s{\"Name\":\"task-%u\",\"Driver\":\"mock\",\"Config\":{\"run_for\":"
			"\"1s\","
			"\"exit_code\":2}}",
			i ? "," : "", i);
	stage_run(&id, "batch", "", tasks);
	stage_pass_ms(1000);
	const struct wire_alloc_update *update = report();
	assert_int_equal(update->task_count, TASKS);
	assert_true(update->tasks[0].event_count < 5);
	if (update->tasks[0].event_count > 0)
		assert_false(text_equal(update->events[0].type, TEXT("Received")));
	alloc_sync_stop(&sync);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_whole_life_is_told),
		TEST(what_does_not_fit_is_told_in_part),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
