// Tasks in control groups that limit them: memory, processes, time of processors, cores, and what they leave behind.
// Needs root and cgroup v2 with its controllers; guest of tests/integration/cgroup.sh has both.
#include "tests/tools/agent/task/stage.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct wire_pair pairs[] = {
	{WIRE_PAIR_ATTRIBUTE, {"cpu.totalcompute", 16}, {"4000", 4}},
	{WIRE_PAIR_ATTRIBUTE, {"cpu.numcores", 12}, {"2", 1}}};
static const struct node_facts facts = {
	.id = {{7}}, .name = "n", .datacenter = "dc1", .pairs = pairs, .pair_count = 2};
static const struct uuid id = {{0xa1}}, other_id = {{0xa2}};
static struct confine confine;

static int set_up(void **unused)
{
	stage_open(&facts);
	return 0;
}

static int tear_down(void **unused)
{
	return stage_close();
}

static const char *file_of(const char *partition, const struct uuid *alloc, const char *file)
{
	static char text[4096];
	char group[700], id_text[UUID_TEXT_BYTES];
	snprintf(group, sizeof group, "%s/%s/%s/t.scope", confine.groups.parent, partition,
		uuid_format(alloc, id_text));
	cgroup_read(group, file, text, sizeof text);
	return text;
}

#define SHARED(file) file_of("share", &id, file)

static struct alloc_run *start_as(const struct uuid *alloc, const char *driver, const char *script,
	const char *more_config, const char *more)
{
	char task[3000];
	snprintf(task, sizeof task,
		"{\"Name\":\"t\",\"Driver\":\"%s\",\"CPU\":200,\"MemoryMB\":16,"
		"\"Config\":{\"command\":\"/bin/sh\",\"args\":[\"-c\",\"%s\"]%s}%s}",
		driver, script, more_config, more);
	return stage_run(alloc, "batch", "", task);
}

static struct alloc_run *start(const char *script, const char *more_config, const char *more)
{
	return start_as(&id, "raw_exec", script, more_config, more);
}

static void step_once(void)
{
	poll(&(struct pollfd){.fd = runner.epoll_fd, .events = POLLIN}, 1, 5);
	runner_step(&runner);
}

#define WAIT_FOR(condition)                                                        \
	do {                                                                       \
		for (uint32_t tries_ = 0; tries_ < 4000 && !(condition); tries_++) \
			step_once();                                               \
		if (!(condition))                                                  \
			fail_msg("never: %s", #condition);                         \
	} while (0)

static bool has_note(const struct alloc_run *a, const char *type, const char *part)
{
	for (uint32_t i = 0; i < a->tasks[0].note_count; i++)
		if (strcmp(a->tasks[0].notes[i].type, type) == 0 &&
			strstr(a->tasks[0].notes[i].message, part))
			return true;
	return false;
}

static void end(struct alloc_run *a)
{
	runner_stop(&runner, a);
	runner_step(&runner);
	a->tasks[0].due_ns = 1; // its kill timeout is over
	WAIT_FOR(alloc_run_is_over(a));
}

static const char *content(const char *name)
{
	return stage_content(&id, name);
}

static void limits_are_in_its_group(void **unused)
{
	struct alloc_run *a = start("sleep 1000", "", ",\"MemoryMaxMB\":64");
	assert_string_equal(SHARED("memory.max"), "67108864\n");
	assert_string_equal(SHARED("memory.low"), "16777216\n");
	assert_string_equal(SHARED("cpu.weight"), "8\n");
	assert_string_equal(SHARED("pids.max"), "500\n");
	assert_false(has_note(a, "Driver", ""));
	end(a);
	assert_string_equal(SHARED("memory.max"), ""); // removed
}

static void too_much_memory_is_said(void **unused)
{
	struct alloc_run *a = start("exec tail /dev/zero", "", "");
	WAIT_FOR(alloc_run_is_over(a));
	assert_true(has_note(
		a, "Terminated", "Exit Code: 137, Signal: 9, Exit Message: \"OOM Killed\""));
}

static void memory_of_a_child_is_the_tasks(void **unused)
{
	struct alloc_run *a = start("tail /dev/zero; exit 3", "", "");
	WAIT_FOR(alloc_run_is_over(a));
	assert_true(has_note(a, "Terminated", "Exit Code: 3"));
	assert_true(has_note(a, "Terminated", "OOM Killed"));
}

static void another_run_counts_anew(void **unused)
{
	struct alloc_run *a = start("test -e b && exit 0; touch b; exec tail /dev/zero", "",
		",\"RestartPolicy\":{\"Attempts\":1,\"Interval\":60000000000,\"Delay\":1000,"
		"\"Mode\":\"fail\"}");
	WAIT_FOR(a->tasks[0].phase == PHASE_RESTARTING);
	stage_pass_ms(1000);
	WAIT_FOR(alloc_run_is_over(a));
	assert_false(a->tasks[0].failed);
	assert_true(has_note(a, "Terminated", "OOM Killed"));
	assert_string_equal(a->tasks[0].notes[a->tasks[0].note_count - 1].message, "Exit Code: 0");
}

static void processes_are_counted(void **unused)
{
	struct alloc_run *a = start("i=0; while test $i -lt 60; do setsid sleep 1000 & i=$((i+1)); "
				    "echo $i; done",
		",\"pids_limit\":20", "");
	WAIT_FOR(alloc_run_is_over(a));
	assert_true(a->tasks[0].failed);
	assert_null(strstr(content("alloc/logs/t.stdout.0"), "\n20\n"));
	assert_non_null(strstr(content("alloc/logs/t.stdout.0"), "\n10\n"));
	assert_string_equal(SHARED("cgroup.procs"), "");
}

static void a_hard_limit_holds_it_back(void **unused)
{
	struct alloc_run *a = start("while :; do :; done", ",\"cpu_hard_limit\":true", "");
	assert_string_equal(SHARED("cpu.max"), "10000 100000\n"); // 200 of 4000 MHz, of two cores
	WAIT_FOR(cgroup_event_count(SHARED("cpu.stat"), "nr_throttled") > 0);
	end(a);
}

static void cores_of_its_own_are_nobody_elses(void **unused)
{
	char group[500], shared[64];
	snprintf(group, sizeof group, "%s/share", confine.groups.parent);
	struct alloc_run *own = start("sleep 1000", "", ",\"Cores\":[1]");
	struct alloc_run *other = start_as(&other_id, "raw_exec", "sleep 1000", "", "");
	assert_string_equal(file_of("reserve", &id, "cpuset.cpus"), "1\n");
	cgroup_read(group, "cpuset.cpus.effective", shared, sizeof shared);
	assert_string_equal(shared, "0\n");
	assert_string_equal(file_of("share", &other_id, "cpuset.cpus.effective"), "0\n");
	end(own);
	cgroup_read(group, "cpuset.cpus.effective", shared, sizeof shared);
	assert_string_equal(shared, "0-1\n");
	end(other);
}

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

// Nobody else could find what left its session once its shim is dead.
static void what_left_its_session_ends_with_it(void **unused)
{
	struct alloc_run *a = start("setsid sh -c 'echo $$ >pid; sleep 1000' & sleep 1000", "", "");
	WAIT_FOR(strchr(content("t/pid"), '\n'));
	long pid = strtol(content("t/pid"), NULL, 10);
	assert_true(pid > 1 && !is_gone((pid_t)pid));
	kill(a->tasks[0].process.shim, SIGKILL);
	WAIT_FOR(a->tasks[0].phase != PHASE_RUNNING);
	WAIT_FOR(is_gone((pid_t)pid));
	assert_string_equal(SHARED("cgroup.procs"), "");
}

// As of a run whose end nobody saw.
static void what_is_left_in_its_group_ends_before_it_begins(void **unused)
{
	char alloc_group[600], group[700], text[24], id_text[UUID_TEXT_BYTES];
	int status = 0;
	snprintf(alloc_group, sizeof alloc_group, "%s/share/%s", confine.groups.parent,
		uuid_format(&id, id_text));
	snprintf(group, sizeof group, "%s/t.scope", alloc_group);
	assert_int_equal(cgroup_make(alloc_group), 0);
	assert_int_equal(cgroup_make(group), 0);
	pid_t left = fork();
	if (left == 0)
		for (;;)
			pause();
	snprintf(text, sizeof text, "%d", (int)left);
	assert_int_equal(cgroup_write(group, "cgroup.procs", text), 0);
	struct alloc_run *a = start("exit 0", "", "");
	pid_t reaped = 0;
	STAGE_AWAIT((reaped = waitpid(left, &status, WNOHANG)) != 0,
		0); // out of its group it is before
	assert_int_equal(reaped, left);
	assert_true(WIFSIGNALED(status));
	WAIT_FOR(alloc_run_is_over(a));
	assert_false(a->tasks[0].failed);
}

static void the_next_agent_takes_its_group_over(void **unused)
{
	static struct runner died;
	struct alloc_run *a = start("setsid sleep 1000 & sleep 1000", "", "");
	pid_t task = a->tasks[0].process.task;
	died = runner; // as one that was killed: nothing is saved on its way out
	stage_reopen();
	runner_step(&runner);
	a = runner_find(&runner, &id);
	assert_non_null(a);
	assert_int_equal(a->tasks[0].phase, PHASE_RUNNING);
	assert_int_equal(a->tasks[0].process.task, task);
	assert_string_equal(SHARED("memory.max"), "16777216\n");
	end(a);
	assert_string_equal(SHARED("memory.max"), "");
	assert_true(has_note(a, "Killed", ""));
	alloc_run_free(died.allocs);
	contact_close(&died.contact);
	close(died.epoll_fd);
}

static void the_driver_exec_is_healthy_and_held(void **unused)
{
	assert_string_equal(confine.fault, "");
	struct alloc_run *a = start_as(&id, "exec",
		"echo $$; ls -A /sys/fs/cgroup; while read l; do echo $l; done </proc/self/cgroup; "
		"exec tail /dev/zero",
		"", "");
	WAIT_FOR(alloc_run_is_over(a));
	assert_non_null(strstr(content("alloc/logs/t.stdout.0"),
		"1\n0::/berth-held.slice/share/a1000000-0000-0000-0000-000000000000/t.scope\n"));
	assert_true(has_note(a, "Terminated", "OOM Killed"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(limits_are_in_its_group),
		TEST(too_much_memory_is_said),
		TEST(memory_of_a_child_is_the_tasks),
		TEST(another_run_counts_anew),
		TEST(processes_are_counted),
		TEST(a_hard_limit_holds_it_back),
		TEST(cores_of_its_own_are_nobody_elses),
		TEST(what_left_its_session_ends_with_it),
		TEST(what_is_left_in_its_group_ends_before_it_begins),
		TEST(the_next_agent_takes_its_group_over),
		TEST(the_driver_exec_is_healthy_and_held),
	};
	struct confine_settings settings = {.group_parent = "berth-held.slice",
		.users_denied = "root",
		.capabilities = CAPABILITIES_DEFAULT,
		.pids = 500};
	char message[300] = "";
	if (geteuid() != 0 || confine_open(&confine, &settings, message, sizeof message) < 0 ||
		confine.groups.controllers !=
			(CGROUP_CPU | CGROUP_CPUSET | CGROUP_MEMORY | CGROUP_PIDS)) {
		printf("skipped: this needs root, and cgroup v2 with its controllers %s\n",
			message);
		return 77; // what meson takes for skipped
	}
	stage_confine = &confine;
	int result = cmocka_run_group_tests_name("held", tests, NULL, NULL);
	result += stage_close_confine(&confine);
	return result;
}
