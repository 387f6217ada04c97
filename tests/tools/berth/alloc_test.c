// Files, logs, restarts and signals of an allocation, by the program, from a node's service.
#include "tests/tools/agent/service/rig.h"
#include "tests/tools/berth/node_way.h"
#include "tests/tools/berth/run.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ALLOC "a10c00"

static int open_all(void **state)
{
	if (rig_open(state) != 0)
		return -1;
	run_begin(way_open());
	rig_run("service",
		RIG_SH("t",
			"trap 'echo hup' HUP; echo begun; echo wrong >&2; while :; do sleep 0.05; "
			"done",
			",\"KillTimeout\":1000000000"));
	RIG_WAIT(
		strstr(rig_get("/v1/client/fs/logs/" RIG_ID "?task=t&type=stderr&plain=true")->body,
			"wrong"));
	return 0;
}

static int close_all(void **state)
{
	way_close();
	run_end();
	return rig_close(state);
}

static void logs_are_shown(void **state)
{
	expect_run("alloc logs " ALLOC, 0, "begun\n", "");
	assert_string_equal(run.out, "begun\n");
	expect_run("alloc logs -stderr " ALLOC " t", 0, "wrong\n", "");
	assert_string_equal(run.out, "wrong\n");
	expect_run("alloc logs --job j", 0, "begun\n", "");
	expect_run("alloc logs " ALLOC " nosuch", 4, "", "unknown task name \"nosuch\"");
	expect_run("alloc logs", 2, "", "name an allocation, or a job with --job");
	way_tasks = "{\"a\":{},\"b\":{}}";
	expect_run("alloc logs " ALLOC, 2, "", "has several tasks, name one: a, b");
	way_tasks = "{\"t\":{}}";
}

static void last_lines_and_bytes(void **state)
{
	char text[4000] = "";
	size_t size = 0;
	for (int i = 1; i <= 100; i++)
		size += (size_t)snprintf(text + size, sizeof text - size, "line %d\n", i);
	rig_write("t/local/lines", "w", text);
	expect_run("alloc fs cat " ALLOC " t/local/lines", 0, "line 1\nline 2\n", "");
	assert_string_equal(run.out, text);
	expect_run("alloc fs -tail " ALLOC " t/local/lines", 0, "line 91\n", "");
	assert_string_equal(run.out, strstr(text, "line 91"));
	expect_run("alloc fs cat -n 1 " ALLOC " t/local/lines", 0, "", "");
	assert_string_equal(run.out, "line 100\n");
	expect_run("alloc fs cat -n 1000 " ALLOC " t/local/lines", 0, "", "");
	assert_string_equal(run.out, text);
	expect_run("alloc fs cat -tail -c 5 " ALLOC " t/local/lines", 0, "", "");
	assert_string_equal(run.out, " 100\n");
	rig_write("t/local/lines", "a", "no end");
	expect_run("alloc fs cat -n 2 " ALLOC " t/local/lines", 0, "", "");
	assert_string_equal(run.out, "line 100\nno end");
	expect_run("alloc fs cat " ALLOC " breaks", 5, "half", "the answer broke off");
	expect_run("alloc fs cat -n 0 " ALLOC " t/local/lines", 2, "", "lines");
}

static void files_are_shown(void **state)
{
	rig_write("t/local/a file", "w", "text");
	rig_write("t/secrets/key", "w", "secret");
	expect_run("alloc fs " ALLOC, 0, "alloc/\n", "");
	expect_run("alloc fs " ALLOC " t/local", 0, "a file\n", "");
	expect_run("alloc fs ls " ALLOC " t/local/", 0, "-rw", "");
	expect_run("alloc fs ls -json " ALLOC " t/local", 0, "\"FileMode\"", "");
	expect_run("alloc fs stat " ALLOC " t/local/lines", 0, "text/plain", "");
	expect_run("alloc fs -stat " ALLOC " t", 0, "application/octet-stream", "");
	expect_run("alloc fs " ALLOC " nosuch", 3, "", "no such file or directory");
	expect_run("alloc fs ls " ALLOC " ../..", 4, "", "Path escapes the alloc directory");
	expect_run("alloc fs cat " ALLOC " t", 4, "", "is a directory");
	expect_run("alloc fs cat " ALLOC " t/secrets/key", 4, "", "Reading secret file prohibited");
}

static void *write_later(void *unused)
{
	rig_nap_ms(3000); // behind the first heartbeat, what comes is new
	rig_write("t/local/grows", "a", "more\n");
	rig_nap_ms(400);
	char path[300];
	rig_path("t/local/grows", path);
	(void)unlink(path);
	return NULL;
}

// Its end is that the file is removed.
static void a_file_is_followed(void **state)
{
	pthread_t writer;
	rig_write("t/local/grows", "w", "one\ntwo\nthree\n");
	assert_int_equal(pthread_create(&writer, NULL, write_later, NULL), 0);
	expect_run("alloc fs cat -f -n 2 " ALLOC " t/local/grows", 0, "", "file deleted");
	assert_string_equal(run.out, "two\nthree\nmore\n");
	pthread_join(writer, NULL);
}

static void tasks_are_restarted_and_signaled(void **state)
{
	expect_run("alloc signal -s SIGHUP " ALLOC " t", 0, "", "");
	RIG_WAIT(
		strstr(rig_get("/v1/client/fs/logs/" RIG_ID "?task=t&type=stdout&plain=true")->body,
			"hup"));
	expect_run("alloc signal -s SIGHUP " ALLOC " nosuch", 4, "", "Task not found");
	expect_run("alloc restart " ALLOC " t", 0, "", "");
	RIG_WAIT(rig_task("t").restarts == 1 && rig_task("t").phase == PHASE_RUNNING);
	expect_run("alloc restart -all-tasks -json " ALLOC, 0, "\"Index\": 0", "");
	RIG_WAIT(rig_task("t").restarts == 2 && rig_task("t").phase == PHASE_RUNNING);
	expect_run("alloc restart -all-tasks " ALLOC " t", 2, "", "do not go together");
	expect_run("alloc restart -task nosuch " ALLOC, 4, "", "Could not find task runner");
}

static void what_it_uses_is_shown(void **state)
{
	expect_run("alloc stats " ALLOC, 0, "MiB", "");
	assert_non_null(strstr(run.out, "\nt  "));
	expect_run("alloc stats -json " ALLOC " t", 0, "\"ResourceUsage\"", "");
}

static void a_job_is_restarted(void **state)
{
	uint32_t before = rig_task("t").restarts;
	expect_run(
		"job restart -yes j", 0, "Restarting allocation a10c0000 on node-a (1 of 1)", "");
	assert_non_null(strstr(run.out, "Job j: 1 allocation restarted."));
	RIG_WAIT(rig_task("t").restarts == before + 1 && rig_task("t").phase == PHASE_RUNNING);
	expect_run("job restart -verbose -task t -group g -batch-size 50% -batch-wait 1s j", 0,
		RIG_ID, "");
	RIG_WAIT(rig_task("t").restarts == before + 2 && rig_task("t").phase == PHASE_RUNNING);
	expect_run("job restart -all-tasks -on-error fail j", 0, "restarted", "");
	RIG_WAIT(rig_task("t").restarts == before + 3 && rig_task("t").phase == PHASE_RUNNING);
	expect_run("job restart -task nosuch j", 3, "", "no running allocations that are meant");
	expect_run("job restart -group other j", 3, "", "no running allocations");
	expect_run("job restart -batch-size 0 j", 2, "", "--batch-size");
	expect_run("job restart -batch-size 5x j", 2, "", "--batch-size");
	expect_run("job restart -batch-size 101% j", 2, "", "--batch-size");
	expect_run("job restart -batch-wait soon j", 2, "", "--batch-wait");
	expect_run("job restart -on-error maybe j", 2, "", "--on-error");
	expect_run("job restart -task t -all-tasks j", 2, "", "do not go together");
	expect_run("job restart -reschedule -task t j", 2, "", "--reschedule");
	expect_run("job restart -yes -batch-wait ask j", 2, "", "--yes");
	assert_int_equal(rig_task("t").restarts, before + 3);
}

static void a_job_is_rescheduled(void **state)
{
	expect_run("job restart -reschedule j", 0, "Stopping allocation a10c0000", "");
	assert_non_null(strstr(run.out, "Allocation b0b00000 runs in place of a10c0000."));
	assert_non_null(strstr(run.out, "Job j: 1 allocation rescheduled."));
	way_next_status = "failed";
	expect_run("job restart -reschedule -on-error fail j", 1, "",
		"allocation b0b00000, in place of a10c0000, is failed");
	assert_non_null(strstr(run.error, "ended early: 0 of 1"));
}

static void a_failure_ends_the_restart(void **state)
{
	rig_stop();
	RIG_WAIT(rig_status() == WIRE_CLIENT_COMPLETE);
	expect_run(
		"job restart -on-error fail j", 4, "", "restart of an alloc that should not run");
	// Nobody answers the question.
	expect_run("job restart -on-error ask j", 4, "", "Go on with the others? [y/N]");
	expect_run("alloc restart " ALLOC, 4, "", "restart of an alloc that should not run");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(logs_are_shown),
		cmocka_unit_test(last_lines_and_bytes),
		cmocka_unit_test(files_are_shown),
		cmocka_unit_test(a_file_is_followed),
		cmocka_unit_test(what_it_uses_is_shown),
		cmocka_unit_test(tasks_are_restarted_and_signaled),
		cmocka_unit_test(a_job_is_restarted),
		cmocka_unit_test(a_job_is_rescheduled),
		cmocka_unit_test(a_failure_ends_the_restart),
	};
	return cmocka_run_group_tests(tests, open_all, close_all);
}
