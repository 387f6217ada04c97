// Restarts, signals and clean-ups that people ask of the service, with processes.
#include "tests/tools/agent/service/rig.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define RESTART "/v1/client/allocation/" RIG_ID "/restart"
#define SIGNAL "/v1/client/allocation/" RIG_ID "/signal"
#define GC "/v1/client/allocation/" RIG_ID "/gc"
#define UNKNOWN "12345678-1234-1234-1234-123456789abc"

static void assert_answer(
	const char *method, const char *path, const char *body, int status, const char *text)
{
	const struct answer *answer = rig_ask(method, path, body);
	if (answer->status != status || strcmp(answer->body, text) != 0)
		fail_msg("%s %s: %d %s", path, body ? body : "", answer->status, answer->body);
}

#define DONE "{\"Index\":0}"

static int open_tasks(void **state)
{
	if (rig_open(state) != 0)
		return -1;
	rig_run("service",
		RIG_SH("pre", "true", ",\"Lifecycle\":{\"Hook\":\"prestart\"}") "," RIG_SH("main",
			"trap 'echo hup' HUP; trap 'echo usr' USR1; echo up; while :; do sleep "
			"0.1; "
			"done",
			",\"KillTimeout\":3000000000") "," RIG_SH("other", "exec sleep 1000", ""));
	RIG_WAIT(rig_task("other").has_run);
	RIG_WAIT(strstr(
		rig_get("/v1/client/fs/logs/" RIG_ID "?task=main&type=stdout&plain=true")->body,
		"up"));
	return 0;
}

static void restarts_are_answered_as_recorded(void **state)
{
	pid_t before = rig_task("main").process.task;
	assert_answer("PUT", RESTART, "{\"TaskName\":\"main\"}", 200, DONE);
	RIG_WAIT(rig_task("main").restarts == 1 && rig_task("main").phase == PHASE_RUNNING);
	assert_int_not_equal(rig_task("main").process.task, before);
	assert_int_equal(rig_task("other").restarts, 0);
	assert_true(rig_has_event("main", "Restart Signaled", "User requested task to restart"));
	// Without a body, and whatever the method: all that run.
	assert_answer("GET", RESTART, NULL, 200, DONE);
	RIG_WAIT(rig_task("other").restarts == 1 && rig_task("main").restarts == 2);
	assert_true(rig_has_event("main", "Restart Signaled", "User requested running tasks"));
	assert_int_equal(rig_task("pre").restarts, 0);
	RIG_WAIT(rig_task("main").phase == PHASE_RUNNING);
	assert_answer("PUT", RESTART, "{}", 200, DONE);
	RIG_WAIT(rig_task("main").restarts == 3 && rig_task("main").phase == PHASE_RUNNING);
	assert_answer("PUT", RESTART, "{\"AllTasks\":true}", 200, DONE);
	RIG_WAIT(rig_task("pre").restarts == 1);
	RIG_WAIT(rig_task("main").restarts == 4 && rig_task("main").phase == PHASE_RUNNING);
	assert_answer("PUT", RESTART, "{\"TaskName\":\"main\",\"AllTasks\":true}", 500,
		"task name cannot be set when restarting all tasks");
	assert_answer("PUT", RESTART, "{\"taskname\":\"pre\"}", 500, "Task not running");
	assert_answer("PUT", RESTART, "{\"TaskName\":\"zz\"}", 500,
		"Could not find task runner for task: zz");
	assert_answer("PUT", "/v1/client/allocation/" UNKNOWN "/restart", "{}", 404,
		"Unknown allocation \"" UNKNOWN "\"");
	assert_int_equal(rig_ask("PUT", RESTART, "[]")->status, 400);
	assert_int_equal(rig_ask("PUT", RESTART, "{\"TaskName\":7}")->status, 400);
	assert_int_equal(rig_ask("PUT", RESTART, "{\"AllTasks\":\"x\"}")->status, 400);
	assert_int_equal(rig_ask("PUT", RESTART, "{")->status, 400);
}

static bool main_has_said(const char *text)
{
	return strstr(
		rig_get("/v1/client/fs/logs/" RIG_ID "?task=main&type=stdout&plain=true")->body,
		text);
}

static void signals_are_answered_as_recorded(void **state)
{
	assert_answer("PUT", SIGNAL, "{\"Task\":\"main\",\"Signal\":\"SIGHUP\"}", 200, DONE);
	RIG_WAIT(main_has_said("hup"));
	assert_true(rig_has_event("main", "Signaling", "Task being sent a signal"));
	assert_int_equal(rig_task("main").restarts, 0);
	assert_answer(
		"PUT", SIGNAL, "{\"Task\":\"zz\",\"Signal\":\"SIGHUP\"}", 500, "Task not found");
	assert_answer(
		"PUT", SIGNAL, "{\"Task\":\"pre\",\"Signal\":\"SIGHUP\"}", 500, "Task not running");
	assert_answer("PUT", SIGNAL, NULL, 400, "Failed to decode body: Request body is empty");
	assert_answer("PUT", "/v1/client/allocation/" UNKNOWN "/signal", "{\"Signal\":\"SIGHUP\"}",
		404, "Unknown allocation \"" UNKNOWN "\"");
	assert_answer("PUT", SIGNAL, "{\"Signal\":\"SIGCONT\"}", 500,
		"1 error occurred:\n\t* Failed to signal task: pre, err: Task not running\n\n");
	assert_true(rig_has_event("other", "Signaling", ""));
	// Only the first process of a task gets it.
	assert_answer("PUT", SIGNAL, "{\"Task\":\"main\",\"Signal\":\"USR1\"}", 200, DONE);
	RIG_WAIT(main_has_said("usr"));
	assert_int_equal(rig_task("main").phase, PHASE_RUNNING);
	// A name that is none is SIGINT.
	assert_answer("PUT", SIGNAL, "{\"Task\":\"other\",\"Signal\":\"SIGFOO\"}", 200, DONE);
	RIG_WAIT(rig_has_event("other", "Terminated", "Signal: 2"));
}

static void what_is_over_is_cleaned_up(void **state)
{
	char path[300];
	assert_answer("GET", GC, NULL, 500,
		"No such allocation on client, or allocation not eligible for GC");
	assert_answer("GET", "/v1/client/gc", NULL, 200, "");
	rig_path("alloc", path);
	assert_int_equal(access(path, F_OK), 0);
	assert_answer("GET", "/v1/client/allocation/" UNKNOWN "/gc", NULL, 404,
		"Unknown allocation \"" UNKNOWN "\"");
	rig_stop();
	RIG_WAIT(rig_status() == WIRE_CLIENT_COMPLETE);
	assert_answer("PUT", RESTART, "{}", 500, "restart of an alloc that should not run");
	assert_answer("PUT", SIGNAL, "{\"Task\":\"main\",\"Signal\":\"SIGHUP\"}", 500,
		"Task not running");
	assert_answer("GET", GC, NULL, 200, "");
	assert_int_equal(access(path, F_OK), -1);
	assert_answer("GET", GC, NULL, 200, "");
	assert_answer("PUT", "/v1/client/gc", NULL, 200, "");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, open_tasks, rig_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(restarts_are_answered_as_recorded),
		TEST(signals_are_answered_as_recorded),
		TEST(what_is_over_is_cleaned_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
