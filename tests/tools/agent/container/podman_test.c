// Containers of a real podman, with a service and a storage of their own.
#include "tests/tools/agent/container/podman_stage.h"
#include "tools/agent/container/engine_watch.h"
#include "tools/agent/script/script.h"
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SKIPPED 77

static void expect_output(const struct alloc_run *a, const char *which, const char *expected)
{
	char text[2000];
	podman_read(a, which, text);
	assert_string_equal(text, expected);
}

static void a_container_runs_to_its_end(void **unused)
{
	struct alloc_run *a =
		podman_run("batch", "", SHELL("echo out; echo err >&2; echo more; exit 7"));
	const struct task *t = &a->tasks[0];
	assert_int_equal(a->status, WIRE_CLIENT_PENDING); // until it runs
	podman_pass_until(podman_has_ended);
	assert_true(t->failed);
	assert_string_equal(podman_noted(t, "Started"), "Task started by client");
	assert_string_equal(podman_noted(t, "Terminated"), "Exit Code: 7");
	expect_output(a, "stdout", "out\nmore\n");
	expect_output(a, "stderr", "err\n");
	podman_expect_none();
}

static void it_sees_its_folders_and_nothing_of_the_agent(void **unused)
{
	setenv("SECRET_OF_THE_AGENT", "x", 1);
	struct alloc_run *a = podman_run("batch",
		"\"Env\":{\"GREETING\":\"hi ${NOMAD_TASK_NAME}\"},\"Meta\":{\"k\":\"v\"},",
		SHELL("echo $GREETING $NOMAD_META_k $NOMAD_ALLOC_DIR $NOMAD_TASK_DIR "
		      "$NOMAD_SECRETS_DIR $SECRET_OF_THE_AGENT; touch /alloc/data/x /local/y "
		      "/secrets/z"));
	char path[700];
	struct task_folders folders;
	podman_pass_until(podman_has_ended);
	expect_output(a, "stdout", "hi a v /alloc /local /secrets\n");
	alloc_run_task_folders(a, &a->tasks[0], stage_folder, &folders);
	snprintf(path, sizeof path, "%s/data/x", folders.alloc);
	assert_int_equal(access(path, F_OK), 0);
	snprintf(path, sizeof path, "%s/y", folders.local);
	assert_int_equal(access(path, F_OK), 0);
	snprintf(path, sizeof path, "%s/z", folders.secrets);
	assert_int_equal(access(path, F_OK), 0);
	unsetenv("SECRET_OF_THE_AGENT");
}

static void it_runs_as_its_user_where_it_is_to(void **unused)
{
	struct alloc_run *a = podman_run("batch", "\"User\":\"worker\",",
		SHELL("id -u; pwd; cat /proc/self/limits > /dev/null") ",\"work_dir\":\"/tmp\"");
	podman_pass_until(podman_has_ended);
	expect_output(a, "stdout", "1234\n/tmp\n");
}

// A folder in that of the allocation, for which its container waits.
static void make_in_alloc(const struct alloc_run *a, const char *name)
{
	char path[700];
	struct task_folders folders;
	alloc_run_task_folders(a, &a->tasks[0], stage_folder, &folders);
	snprintf(path, sizeof path, "%s/%s", folders.alloc, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

static bool has_begun_to_run(const struct task *t)
{
	return task_runs(t);
}

static void a_signal_ends_it_or_the_time_does(void **unused)
{
	static const struct {
		const char *more, *command, *end;
		uint32_t least_ms;
	} table[] = {
		// The runner's hour is over later than that of anybody who tells the container.
		{"\"KillSignal\":\"SIGUSR1\",\"KillTimeout\":3600000000000,",
			SHELL("trap 'echo told; exit 3' USR1; echo up; while true; do sleep 0.1; "
			      "done"),
			"Exit Code: 3", 0},
		{"\"KillSignal\":\"SIGUSR1\",\"KillTimeout\":4000000000,",
			SHELL("trap '' USR1; echo up; while true; do sleep 0.1; done"),
			"Exit Code: 137", 3000},
	};
	for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct alloc_run *a = podman_run("service", table[i].more, table[i].command);
		const struct task *t = &a->tasks[0];
		podman_pass_until(podman_has_written); // it has set its trap by then
		assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
		runner_stop(&runner, a);
		int64_t before_ns = (int64_t)manual.wall_ns;
		podman_pass_until(podman_has_ended);
		assert_string_equal(podman_noted(t, "Terminated"), table[i].end);
		assert_true((int64_t)manual.wall_ns - before_ns >= table[i].least_ms * 1000000ll);
		assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
		runner_forget(&runner, a);
		runner_step(&runner);
		podman_expect_none();
	}
}

static void the_next_agent_takes_it_up(void **unused)
{
	struct alloc_run *a = podman_run("batch", "",
		SHELL("echo one; until test -e /alloc/go; do sleep 0.1; done; echo two; exit 4"));
	podman_pass_until(has_begun_to_run);
	runner_close(&runner);
	stage_reopen();
	a = runner_find(&runner, &podman_id);
	assert_string_equal(podman_noted(&a->tasks[0], "Restored"), "Task was taken up again");
	assert_true(task_runs(&a->tasks[0]));
	make_in_alloc(a, "go");
	podman_pass_until(podman_has_ended);
	assert_string_equal(podman_noted(&a->tasks[0], "Terminated"), "Exit Code: 4");
	expect_output(a, "stdout", "one\ntwo\n");
}

// Also an agent that ended while the container was still being started learns that it runs.
static void the_next_agent_learns_that_it_started(void **unused)
{
	struct alloc_run *a = podman_run("batch", "", SHELL("sleep 1; exit 5"));
	assert_true(a->tasks[0].is_starting);
	runner_close(&runner);
	poll(NULL, 0, 500);
	stage_reopen();
	a = runner_find(&runner, &podman_id);
	assert_true(a->tasks[0].is_starting);
	podman_pass_until(podman_has_ended);
	assert_string_equal(podman_noted(&a->tasks[0], "Started"), "Task started by client");
	assert_string_equal(podman_noted(&a->tasks[0], "Terminated"), "Exit Code: 5");
}

static void the_engine_may_begin_anew_meanwhile(void **unused)
{
	struct alloc_run *a = podman_run("batch", "", SHELL("echo one; sleep 3; echo two; exit 6"));
	podman_pass_until(podman_has_written);
	podman_stop_service();
	podman_start_service();
	podman_pass_until(podman_has_ended);
	assert_string_equal(podman_noted(&a->tasks[0], "Terminated"), "Exit Code: 6");
	expect_output(a, "stdout", "one\ntwo\n");
}

static bool has_said_that_it_ends(const struct task *t)
{
	(void)t;
	return *stage_content(&podman_id, "alloc/ends") != '\0';
}

// Nobody was there to tell that it wrote, and ended.
static void it_may_end_while_the_engine_is_away(void **unused)
{
	struct alloc_run *a = podman_run("batch", "",
		SHELL("echo one; until test -e /alloc/away; do sleep 0.1; done; echo two; echo x "
		      ">/alloc/ends; exit 6"));
	podman_pass_until(podman_has_written);
	podman_stop_service();
	make_in_alloc(a, "away");
	podman_pass_until(has_said_that_it_ends);
	poll(NULL, 0, 300);
	podman_start_service();
	podman_pass_until(podman_has_ended);
	assert_string_equal(podman_noted(&a->tasks[0], "Terminated"), "Exit Code: 6");
	expect_output(a, "stdout", "one\ntwo\n");
}

static bool is_gone(const struct task *t)
{
	(void)t;
	return podman_count() == 0;
}

// Nothing runs on that is told to have failed.
static void a_container_does_not_outlive_its_process(void **unused)
{
	struct alloc_run *a = podman_run("batch", "", SHELL("echo up; sleep 1000"));
	podman_pass_until(podman_has_written);
	assert_int_equal(podman_count(), 1);
	assert_int_equal(kill(a->tasks[0].process.task, SIGKILL), 0);
	podman_pass_until(podman_has_ended);
	assert_string_equal(podman_noted(&a->tasks[0], "Terminated"), "Exit Code: 137, Signal: 9");
	podman_pass_until(is_gone);
}

static void what_cannot_start_says_why(void **unused)
{
	static const struct {
		const char *config, *note, *part;
	} table[] = {
		{IMAGE ",\"command\":\"/no/such\"", "Driver Failure",
			"Failed to start container: "},
		{"\"image\":\"none:1\"", "Driver Failure", "Failed to pull `none:1`: "},
		{IMAGE ",\"privileged\":true", "Driver Failure",
			"a privileged container is allowed on this node only with "
			"--container-privileged"},
	};
	for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct alloc_run *a = podman_run("batch", "", table[i].config);
		podman_pass_until(podman_has_ended);
		assert_true(a->tasks[0].failed);
		if (!strstr(podman_noted(&a->tasks[0], table[i].note), table[i].part))
			fail_msg("row %u: %s", i, podman_noted(&a->tasks[0], table[i].note));
		assert_string_equal(podman_noted(&a->tasks[0], "Terminated"), "");
		assert_string_equal(podman_noted(&a->tasks[0], "Driver"),
			strstr(table[i].config, "none") ? "Downloading image" : "");
		runner_forget(&runner, a);
		runner_step(&runner);
	}
	podman_expect_none();
}

static void folders_of_the_node_are_mounted_where_that_is_allowed(void **unused)
{
	podman_settings.allows_volumes = true;
	struct alloc_run *a = podman_run("batch", "",
		SHELL("cat /node/hostname > /dev/null && echo seen; touch /node/x || echo "
		      "kept") ","
			      "\"volumes\":[\"/etc:/node:ro\"],\"tmpfs\":[\"/"
			      "scratch:size=1m\"],"
			      "\"cap_drop\":[\"all\"]");
	podman_pass_until(podman_has_ended);
	expect_output(a, "stdout", "seen\nkept\n");
}

static unsigned port_of_registry(bool is_locked)
{
	char path[64];
	unsigned ports[2] = {0};
	snprintf(path, sizeof path, "%s/registry", podman_folder);
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%u %u", &ports[0], &ports[1]), 2);
	fclose(file);
	return ports[is_locked];
}

static void an_image_is_pulled(void **unused)
{
	static const struct {
		bool is_locked;
		const char *more, *output, *failure;
	} table[] = {
		{false, "", "hi\n", ""},
		{true, "", "", "Failed to pull `127.0.0.1:"},
		{true, ",\"auth\":[{\"username\":\"ann\",\"password\":\"wrong\"}]", "",
			"Failed to pull `127.0.0.1:"},
		{true, ",\"auth\":[{\"username\":\"ann\",\"password\":\"secret\"}]", "hi\n", ""},
	};
	for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		char config[400];
		snprintf(config, sizeof config,
			"\"image\":\"127.0.0.1:%u/"
			"tiny:1\",\"command\":\"echo\",\"args\":[\"hi\"]%s",
			port_of_registry(table[i].is_locked), table[i].more);
		struct alloc_run *a = podman_run("batch", "", config);
		podman_pass_until(podman_has_ended);
		assert_string_equal(podman_noted(&a->tasks[0], "Driver"), "Downloading image");
		if (strncmp(podman_noted(&a->tasks[0], "Driver Failure"), table[i].failure,
			    strlen(table[i].failure)) != 0)
			fail_msg("row %u: %s", i, podman_noted(&a->tasks[0], "Driver Failure"));
		assert_int_equal(a->tasks[0].failed, *table[i].failure != '\0');
		expect_output(a, "stdout", table[i].output);
		runner_forget(&runner, a);
		runner_step(&runner);
	}
}

// Without leave for other folders of the node.
static void volumes_of_the_node_are_mounted(void **unused)
{
	struct alloc_run *a = podman_run("batch",
		"\"VolumeMounts\":[{\"Volume\":\"v\",\"Destination\":\"/node/etc\","
		"\"PropagationMode\":\"host-to-task\"}],",
		SHELL("cat /node/etc/hostname > /dev/null && echo seen; touch /node/etc/x || echo "
		      "kept"));
	podman_pass_until(podman_has_ended);
	expect_output(a, "stdout", "seen\nkept\n");
}

static struct script_end run_script(
	const struct alloc_run *a, const char *line, uint32_t timeout_ms)
{
	char shell[] = "/bin/sh", option[] = "-c", message[300] = "";
	char *const arguments[] = {shell, option, (char *)line, NULL};
	struct task_folders folders;
	struct script_end end;
	uint64_t count;
	struct script_start start = {.task = &a->tasks[0],
		.alloc = a->spec,
		.node = &podman_facts,
		.folders = &folders,
		.arguments = arguments,
		.timeout_ns = timeout_ms * 1000000ll,
		.wake_fd = eventfd(0, EFD_CLOEXEC)};
	alloc_run_task_folders(a, &a->tasks[0], stage_folder, &folders);
	struct script *s = script_begin(&start, message, sizeof message);
	assert_string_equal(message, "");
	assert_int_equal(read(start.wake_fd, &count, sizeof count), sizeof count);
	script_finish(s, &end);
	close(start.wake_fd);
	return end;
}

static void scripts_run_within_it(void **unused)
{
	struct alloc_run *a = podman_run("service",
		"\"User\":\"worker\",\"Env\":{\"GREETING\":\"hi\"},\"KillTimeout\":1000000000,",
		SHELL("echo up; exec sleep 1000") ",\"work_dir\":\"/tmp\"");
	podman_pass_until(podman_has_written);
	struct script_end end =
		run_script(a, "id -u; pwd; echo $GREETING; cat /proc/1/cmdline >&2; exit 1", 60000);
	assert_string_equal(end.is_known ? "" : end.message, "");
	assert_int_equal(end.exit_code, 1);
	assert_non_null(strstr(end.output, "1234\n/tmp\nhi\n"));
	assert_non_null(memmem(end.output, end.size, "sleep\0001000", 10));
	end = run_script(a, "head -c 3000000 /dev/zero | tr '\\0' y; exit 0", 60000);
	assert_true(end.is_known);
	assert_int_equal(end.exit_code, 0);
	assert_int_equal(end.size, SCRIPT_OUTPUT_BYTES);
	podman_end(a);
}

static void a_script_that_hangs_is_killed(void **unused)
{
	struct alloc_run *a = podman_run(
		"service", "\"KillTimeout\":1000000000,", SHELL("echo up; exec sleep 1000"));
	podman_pass_until(podman_has_written);
	struct script_end end = run_script(a, "exec sleep 4321", 3000);
	assert_false(end.is_known);
	assert_true(end.is_late);
	end = run_script(a, "for p in /proc/[0-9]*; do cat $p/cmdline; done", 60000);
	assert_true(end.is_known);
	assert_non_null(memmem(end.output, end.size, "sleep\0001000", 10));
	assert_null(memmem(end.output, end.size, "sleep\0004321", 10));
	podman_end(a);
	end = run_script(a, "true", 60000);
	assert_false(end.is_known);
	assert_true(end.is_task_over);
	assert_non_null(strstr(end.message, "no such container"));
}

static void an_engine_is_watched(void **unused)
{
	struct engine_watch watch;
	uint64_t now_ns = 1;
	struct pollfd polled = {.fd = epoll_create1(EPOLL_CLOEXEC), .events = POLLIN};
	engine_watch_open(&watch, podman_socket);
	for (uint32_t i = 0; i < 600 && !watch.is_healthy; i++) {
		(void)engine_watch_step(&watch, polled.fd, now_ns);
		poll(&polled, 1, 50);
	}
	assert_true(watch.is_healthy);
	assert_in_range(watch.version[0], '0', '9');
	podman_stop_service();
	assert_false(engine_watch_step(&watch, polled.fd, now_ns)); // it is not due
	now_ns = engine_watch_due_ns(&watch);
	assert_true(engine_watch_step(&watch, polled.fd, now_ns));
	assert_false(watch.is_healthy);
	assert_true(watch.is_seen);
	podman_start_service();
	for (uint32_t i = 0; i < 600 && !watch.is_healthy; i++) {
		now_ns = watch.fd >= 0 ? now_ns : engine_watch_due_ns(&watch);
		(void)engine_watch_step(&watch, polled.fd, now_ns);
		poll(&polled, 1, 50);
	}
	assert_true(watch.is_healthy);
	engine_watch_close(&watch);
	close(polled.fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, podman_open, podman_close)
	const struct CMUnitTest tests[] = {
		TEST(a_container_runs_to_its_end),
		TEST(it_sees_its_folders_and_nothing_of_the_agent),
		TEST(it_runs_as_its_user_where_it_is_to),
		TEST(a_signal_ends_it_or_the_time_does),
		TEST(the_next_agent_takes_it_up),
		TEST(the_next_agent_learns_that_it_started),
		TEST(the_engine_may_begin_anew_meanwhile),
		TEST(it_may_end_while_the_engine_is_away),
		TEST(a_container_does_not_outlive_its_process),
		TEST(what_cannot_start_says_why),
		TEST(folders_of_the_node_are_mounted_where_that_is_allowed),
		TEST(an_image_is_pulled),
		TEST(volumes_of_the_node_are_mounted),
		TEST(scripts_run_within_it),
		TEST(a_script_that_hangs_is_killed),
		TEST(an_engine_is_watched),
	};
	if (geteuid() != 0) // the service needs a mount namespace
		return SKIPPED;
	return cmocka_run_group_tests(tests, podman_begin, podman_end_all);
}
