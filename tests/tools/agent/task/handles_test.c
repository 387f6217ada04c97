// Tasks that run away from their node: what the mock driver reports them by, and how it goes on with one of another
// node. The clock stands still unless told.
#include "state/base/base64.h"
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/alloc_sync.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct node_facts facts = {
	.name = "node-a", .datacenter = "dc1", .class_name = "", .pool = "default"};
static const struct uuid first = {{0xa1}}, second = {{0xa2}};

static int set_up(void **unused)
{
	stage_open(&facts);
	return 0;
}

static int tear_down(void **unused)
{
	return stage_close();
}

// rest: members of the task's JSON.
static const struct task *run(const struct uuid *id, const char *job_type, const char *rest)
{
	char task[3000];
	snprintf(task, sizeof task, "{\"Name\":\"t\",%s}", rest);
	return &stage_run(id, job_type, "", task)->tasks[0];
}

static bool noted(const struct task *t, const char *type)
{
	for (uint32_t i = 0; i < t->note_count; i++)
		if (strcmp(t->notes[i].type, type) == 0)
			return true;
	return false;
}

// What the next report says of the task of an allocation; its handle as the controller gives it to another one.
static bool report(const struct uuid *id, char handle[static 1000])
{
	struct node_session session = {.slot = 3, .generation = 1};
	struct alloc_sync sync;
	struct readiness readiness;
	struct wire_header h;
	struct wire_alloc_update update;
	bool found = false;

	*handle = '\0';
	runner_report_all(&runner);
	struct probe_settings no_probe = {NULL, 1, 1};
	readiness_open(&readiness, &runner, &no_probe);
	alloc_sync_start(&sync, &runner, &readiness, &session, 1, 1);
	alloc_sync_heard(&sync, 1, 1);
	uint32_t size = alloc_sync_due(&sync, 1);
	assert_true(size > 0);
	assert_int_equal(wire_header_decode(sync.frame, size, &h), WIRE_OK);
	assert_true(wire_alloc_update_decode(sync.frame, &h, &update));
	for (uint32_t i = 0, task = 0; i < update.count; task += update.items[i++].task_count) {
		const struct wire_task *t = &update.tasks[task];
		if (!uuid_equal(&update.items[i].allocation, id) || !t->has_handle)
			continue;
		char *text = base64_encode(t->handle);
		snprintf(handle, 1000, "\"TaskHandle\":{\"Version\":%u,\"DriverState\":\"%s\"},",
			t->handle_version, text);
		free(text);
		found = true;
	}
	alloc_sync_stop(&sync);
	return found;
}

#define MOCK "\"Driver\":\"mock\","
#define REMOTE_10S MOCK "\"Config\":{\"remote\":true,\"run_for\":\"10s\",\"exit_code\":3}"

static void only_what_runs_elsewhere_has_a_handle(void **unused)
{
	char handle[1000];
	const struct task *t = run(&first, "batch", MOCK "\"Config\":{\"run_for\":\"10s\"}");
	assert_int_equal(t->phase, PHASE_RUNNING);
	assert_false(report(&first, handle));
	t = run(&second, "batch", REMOTE_10S);
	assert_true(report(&second, handle));
	assert_false(report(&first, handle));
	stage_pass_ms(10000);
	assert_int_equal(t->phase, PHASE_ENDED);
	assert_false(report(&second, handle));
}

// With the end it had, though its configuration says ten seconds.
static void another_goes_on_where_it_was(void **unused)
{
	char handle[1000], rest[1500];
	run(&first, "batch", REMOTE_10S);
	stage_pass_ms(7000);
	assert_true(report(&first, handle));
	snprintf(rest, sizeof rest, "%s" REMOTE_10S, handle);
	const struct task *t = run(&second, "batch", rest);
	assert_int_equal(t->phase, PHASE_RUNNING);
	assert_true(noted(t, "Started"));
	assert_false(noted(t, "Failed Restoring Task"));
	char again[1000];
	assert_true(report(&second, again)); // as its own
	assert_string_equal(again, handle);
	stage_pass_ms(2900);
	assert_int_equal(t->phase, PHASE_RUNNING);
	stage_pass_ms(100);
	assert_int_equal(t->phase, PHASE_ENDED);
	assert_true(t->failed);
	assert_int_equal(t->notes[t->note_count - 2].exit_code, 3);
}

static void one_without_an_end_goes_on_without(void **unused)
{
	char handle[1000], rest[1500];
	run(&first, "service", MOCK "\"Config\":{\"remote\":true}");
	assert_true(report(&first, handle));
	snprintf(rest, sizeof rest, "%s" REMOTE_10S, handle);
	const struct task *t = run(&second, "service", rest);
	stage_pass_ms(60000);
	assert_int_equal(t->phase, PHASE_RUNNING);
	assert_int_equal(t->restarts, 0);
}

static void it_may_have_ended_while_nobody_looked(void **unused)
{
	char handle[1000], rest[1500];
	run(&first, "batch", REMOTE_10S);
	assert_true(report(&first, handle));
	stage_pass_ms(20000);
	snprintf(rest, sizeof rest, "%s" REMOTE_10S, handle);
	const struct task *t = run(&second, "batch", rest);
	assert_int_equal(t->phase, PHASE_ENDED);
	assert_true(t->failed);
}

static void what_is_restarted_begins_anew(void **unused)
{
	char handle[1000], rest[1500], again[1000];
	run(&first, "batch", REMOTE_10S);
	stage_pass_ms(7000);
	assert_true(report(&first, handle));
	snprintf(rest, sizeof rest,
		"%s" REMOTE_10S ",\"RestartPolicy\":{\"Attempts\":1,\"Interval\":60000000000,"
		"\"Delay\":1000000000,\"Mode\":\"fail\"}",
		handle);
	const struct task *t = run(&second, "batch", rest);
	stage_pass_ms(3000);
	assert_int_equal(t->phase, PHASE_RESTARTING);
	assert_false(report(&second, again));
	stage_pass_ms(1250);
	assert_int_equal(t->phase, PHASE_RUNNING);
	assert_true(report(&second, again));
	assert_string_not_equal(again, handle);
	stage_pass_ms(9900);
	assert_int_equal(t->phase, PHASE_RUNNING);
	stage_pass_ms(100);
	assert_int_equal(t->phase, PHASE_ENDED);
}

static void a_restarted_agent_still_has_it(void **unused)
{
	char handle[1000], again[1000];
	run(&first, "batch", REMOTE_10S);
	assert_true(report(&first, handle));
	runner_close(&runner);
	stage_reopen();
	runner_step(&runner);
	assert_true(report(&first, again));
	assert_string_equal(again, handle);
}

#define HANDLE(version, state) \
	"\"TaskHandle\":{\"Version\":" version ",\"DriverState\":\"" state "\"},"

// {"Ends":1} in the version it has not, no base64, no JSON, no end, one below zero; and nothing at all.
static void what_cannot_go_on_begins_anew(void **unused)
{
	static const char *const handles[] = {HANDLE("2", "eyJFbmRzIjoxfQ=="),
		HANDLE("-1", "eyJFbmRzIjoxfQ=="), HANDLE("4294967297", "eyJFbmRzIjoxfQ=="),
		HANDLE("1", "eyJFbmRzIjoxfQ"), HANDLE("1", "e30="), HANDLE("1", "AAAA"),
		HANDLE("1", "eyJFbmRzIjotMX0="),
		"\"TaskHandle\":{\"Version\":1,\"DriverState\":null},", "\"TaskHandle\":{},"};
	for (uint32_t i = 0; i < sizeof handles / sizeof handles[0]; i++) {
		char rest[500];
		struct uuid id = {{0xb0, (uint8_t)i}};
		snprintf(rest, sizeof rest, "%s" REMOTE_10S, handles[i]);
		const struct task *t = run(&id, "batch", rest);
		assert_int_equal(t->phase, PHASE_RUNNING);
		assert_true(noted(t, "Failed Restoring Task"));
		assert_int_equal(t->mock.ends_ns, t->started_ns + 10000000000);
	}
}

// With so many triples of spaces before its ten bytes.
static const struct task *padded(const struct uuid *id, uint32_t triples)
{
	char state[800] = "", rest[1500];
	for (uint32_t i = 0; i < triples; i++)
		memcpy(state + 4 * (size_t)i, "ICAg", 5);
	snprintf(rest, sizeof rest, HANDLE("1", "%seyJFbmRzIjoxfQ==") REMOTE_10S, state);
	return run(id, "batch", rest);
}

static void one_that_is_too_long_begins_anew(void **unused)
{
	assert_false(noted(padded(&first, 167), "Failed Restoring Task")); // 511 bytes
	assert_true(noted(padded(&second, 168), "Failed Restoring Task")); // 514
}

// A newer version of the job may not run it elsewhere any more.
static void one_that_is_to_run_here_begins_here(void **unused)
{
	const struct task *t = run(&first, "batch",
		HANDLE("1", "eyJFbmRzIjoxfQ==") MOCK "\"Config\":{\"run_for\":\"10s\"}");
	assert_int_equal(t->phase, PHASE_RUNNING);
	assert_true(noted(t, "Failed Restoring Task"));
	t = run(&second, "batch", "\"TaskHandle\":null," REMOTE_10S);
	assert_false(noted(t, "Failed Restoring Task"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_what_runs_elsewhere_has_a_handle),
		TEST(another_goes_on_where_it_was),
		TEST(one_without_an_end_goes_on_without),
		TEST(it_may_have_ended_while_nobody_looked),
		TEST(what_is_restarted_begins_anew),
		TEST(a_restarted_agent_still_has_it),
		TEST(what_cannot_go_on_begins_anew),
		TEST(one_that_is_too_long_begins_anew),
		TEST(one_that_is_to_run_here_begins_here),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
