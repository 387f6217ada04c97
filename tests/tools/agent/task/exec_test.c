// The driver exec with real processes: what a confined task sees, may do and leaves behind. Needs root.
#include "tests/tools/agent/confine/slice.h"
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/base/folders.h"
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
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct node_facts facts = {
	.id = {{7}}, .name = "node-a", .datacenter = "dc1", .class_name = "big", .pool = "default"};
static const struct uuid id = {{0xa1}};
static struct confine confine;
static char secret[] = "/usr/lib/berth-secret-XXXXXX";

static void open_with(const char *denied, const char *allowed)
{
	struct confine_settings settings = {.group_parent = slice_name(),
		.users_denied = denied,
		.capabilities = allowed,
		.hidden = {secret}};
	char message[300];
	if (confine_open(&confine, &settings, message, sizeof message) < 0)
		fail_msg("%s", message);
	stage_confine = &confine;
	stage_open(&facts);
}

static int set_up(void **unused)
{
	open_with("root", CAPABILITIES_DEFAULT);
	return 0;
}

static int tear_down(void **unused)
{
	int result = stage_close();
	result += stage_close_confine(&confine);
	return result;
}

static const char *content(const char *name)
{
	return stage_content(&id, name);
}

static bool ends(struct alloc_run *a)
{
	STAGE_AWAIT(alloc_run_is_over(a), runner_step(&runner));
	return alloc_run_is_over(a);
}

// Starts one task. more: further members of its configuration, and of the task, each with its comma.
static struct alloc_run *start(const char *script, const char *more_config, const char *more)
{
	char task[3000];
	snprintf(task, sizeof task,
		"{\"Name\":\"t\",\"Driver\":\"exec\",\"CPU\":100,\"MemoryMB\":64,\"KillTimeout\":"
		"100000000,\"Config\":{\"command\":\"/bin/sh\",\"args\":[\"-c\",\"%s\"]%s}%s}",
		script, more_config, more);
	return stage_run(&id, "batch", "", task);
}

static const char *output_of(const char *script, const char *more_config, const char *more)
{
	struct alloc_run *a = start(script, more_config, more);
	assert_true(ends(a));
	if (a->tasks[0].failed)
		fail_msg("%s: %s", a->tasks[0].notes[a->tasks[0].note_count - 2].message,
			content("alloc/logs/t.stderr.0"));
	return content("alloc/logs/t.stdout.0");
}

static const char *refusal(const char *more_config, const char *more)
{
	struct alloc_run *a = start("true", more_config, more);
	assert_true(ends(a));
	assert_true(a->tasks[0].failed);
	for (uint32_t i = 0; i < a->tasks[0].note_count; i++)
		if (strcmp(a->tasks[0].notes[i].type, "Driver Failure") == 0)
			return a->tasks[0].notes[i].message;
	return "";
}

static void it_is_nobody_alone(void **unused)
{
	assert_string_equal(output_of("id -un; echo $$; pwd; set -- /proc/[0-9]*; echo $#; "
				      "echo $NOMAD_ALLOC_DIR $NOMAD_TASK_DIR $NOMAD_SECRETS_DIR; "
				      "ls -A /var /home /root 2>/dev/null | wc -l",
				    "", ""),
		"nobody\n1\n/\n1\n/alloc /local /secrets\n0\n");
}

static void it_has_no_privileges(void **unused)
{
	const char *status = output_of("cat /proc/self/status", "", "");
	assert_non_null(strstr(status, "NoNewPrivs:\t1\n"));
	assert_non_null(strstr(status, "Seccomp:\t2\n"));
	assert_non_null(strstr(status, "CapEff:\t0000000000000000\n"));
	assert_non_null(strstr(status, "CapAmb:\t0000000000000000\n"));
	assert_non_null(strstr(status, "CapBnd:\t00000000a80405fb\n"));
	assert_non_null(strstr(status, "Uid:\t65534\t65534\t65534\t65534\n"));
}

static void it_writes_to_its_own_folders_alone(void **unused)
{
	assert_string_equal(
		output_of(
			"for f in /alloc/data /alloc/tmp /local /tmp /secrets / /dev/shm /etc /usr "
			"/bin "
			"/lib /dev /proc/sys/kernel /sys /alloc/logs; do touch $f/x 2>/dev/null && "
			"echo $f; done; true",
			"", ""),
		"/alloc/data\n/alloc/tmp\n/local\n/tmp\n/secrets\n/\n/dev/shm\n");
	assert_string_equal(content("t/local/x"), "");
}

// Nor does the superuser put something in the place of what the agent writes to.
static void outputs_are_the_agents(void **unused)
{
	tear_down(NULL);
	open_with("", CAPABILITIES_DEFAULT);
	assert_string_equal(output_of("mv /alloc/logs /alloc/old 2>/dev/null && echo moved; "
				      "ln -s /etc /alloc/logs/x 2>/dev/null && echo linked; "
				      "true",
				    "", ",\"User\":\"root\""),
		"");
}

// As root, so that only the file system keeps it from them.
static void secrets_of_the_node_are_not_there(void **unused)
{
	tear_down(NULL);
	open_with("", CAPABILITIES_DEFAULT);
	char script[500];
	snprintf(script, sizeof script,
		"cat /etc/shadow /proc/kcore | wc -c; ls -A %s /etc/ssh /etc/ssl/private "
		"2>/dev/null | "
		"grep -c key; ls %s/../../etc/hostname /proc/1/root/%s/allocs 2>&1 | grep -c "
		"allocs; "
		"test -e %s && echo visible; true",
		secret, stage_folder, stage_folder, stage_folder);
	assert_string_equal(output_of(script, "", ",\"User\":\"root\""), "0\n0\n1\n");
}

static void the_machine_cannot_be_changed(void **unused)
{
	tear_down(NULL);
	open_with("", "all");
	assert_string_equal(
		output_of("mount -t tmpfs none /tmp 2>/dev/null && echo mounted; "
			  "unshare -U true 2>/dev/null && echo unshared; "
			  "unshare -m true 2>/dev/null && echo unshared; "
			  "hostname other 2>/dev/null && echo renamed; "
			  "echo 1 2>/dev/null >/proc/sys/kernel/panic && echo set; "
			  "for d in /tmp /alloc/data /dev; do mknod $d/m c 1 5 2>/dev/null && "
			  "head -c 1 $d/m >/dev/null 2>&1 && echo read; done; "
			  "dmesg >/dev/null 2>&1 && echo log; true",
			",\"cap_add\":[\"all\"]", ",\"User\":\"root\""),
		"");
}

static void capabilities_are_added_and_dropped(void **unused)
{
	tear_down(NULL);
	open_with("root", CAPABILITIES_DEFAULT ",net_raw");
	const char *status = output_of("cat /proc/self/status",
		",\"cap_add\":[\"net_bind_service\",\"net_raw\"],\"cap_drop\":[\"all\"]", "");
	assert_non_null(strstr(status, "CapBnd:\t0000000000002400\n"));
	assert_non_null(strstr(status, "CapEff:\t0000000000002400\n"));
}

static void what_it_may_not_have_is_refused_by_name(void **unused)
{
	assert_string_equal(refusal(",\"cap_add\":[\"sys_admin\"]", ""),
		"driver does not allow the following capabilities: sys_admin");
}

static void users_are_refused(void **unused)
{
	assert_string_equal(
		refusal("", ",\"User\":\"root\""), "running as user \"root\" is disallowed");
}

static void what_is_in_the_way_of_its_file_system_is_told(void **unused)
{
	char path[100], text[UUID_TEXT_BYTES];
	snprintf(path, sizeof path, "alloc/%s/t", uuid_format(&id, text));
	int top = folder_open(stage_folder), folder = folder_make(top, path, 0711);
	assert_int_equal(folder_write(folder, "usr", 0600, "x", 1), 0);
	assert_string_equal(
		refusal("", ""), "cannot prepare the task's file system: Not a directory");
	close(folder);
	close(top);
}

// Without what confines it no task runs.
static void an_agent_that_confines_nothing_refuses(void **unused)
{
	runner_close(&runner);
	stage_confine = NULL;
	stage_reopen();
	assert_string_equal(refusal("", ""), "Driver must run as root");
}

static void an_unknown_user_is_named(void **unused)
{
	assert_string_equal(refusal("", ",\"User\":\"nobody-at-all\""),
		"there is no user \"nobody-at-all\" on this node");
}

static void options_are_known_or_refused(void **unused)
{
	assert_string_equal(refusal(",\"pid_mode\":\"shared\"", ""),
		"pid_mode is \"private\" or \"host\", not \"shared\"");
}

static void limits_that_are_none_are_refused(void **unused)
{
	assert_string_equal(refusal(",\"pids_limit\":-1", ""),
		"pids_limit is a number from 0 to 2147483647, not -1");
}

// An agent that is not described yet, as one that has just begun, does not know how much of a core that is.
static void a_hard_limit_waits_for_what_the_node_has(void **unused)
{
	static const struct wire_pair pairs[] = {
		{WIRE_PAIR_ATTRIBUTE, {"cpu.totalcompute", 16}, {"4000", 4}},
		{WIRE_PAIR_ATTRIBUTE, {"cpu.numcores", 12}, {"2", 1}}};
	static struct node_facts described;
	described = facts;
	struct alloc_run *a = start("true", ",\"cpu_hard_limit\":true",
		",\"RestartPolicy\":{\"Attempts\":1,\"Interval\":60000000000,\"Delay\":1000,"
		"\"Mode\":\"fail\"}");
	assert_int_equal(a->tasks[0].phase, PHASE_RESTARTING);
	assert_string_equal(a->tasks[0].notes[a->tasks[0].note_count - 2].message,
		"cpu_hard_limit waits until the agent has described this node");
	described.pairs = pairs;
	described.pair_count = 2;
	runner_know_node(&runner, &described);
	stage_pass_ms(1000);
	assert_true(ends(a));
	assert_false(a->tasks[0].failed);
}

static void an_unknown_option_is_refused(void **unused)
{
	assert_string_equal(refusal(",\"privileged\":true", ""),
		"the driver exec has no option \"privileged\"");
}

static void namespaces_may_be_the_nodes(void **unused)
{
	char own[100], expected[200];
	ssize_t n = readlink("/proc/self/ns/ipc", own, sizeof own - 1);
	assert_true(n > 0);
	own[n] = '\0';
	snprintf(expected, sizeof expected, "%s\nmany\n", own);
	assert_string_equal(
		output_of("readlink /proc/self/ns/ipc; test $(ls -d /proc/[0-9]* | wc -l) "
			  "-gt 3 && echo many",
			",\"pid_mode\":\"host\",\"ipc_mode\":\"host\"", ""),
		expected);
}

static bool is_there(pid_t pid)
{
	return kill(pid, 0) == 0 || errno != ESRCH;
}

// What left its session and its parent ends with the task, also where there is no namespace to end with it.
static void nothing_outlives_it(void **unused)
{
	struct alloc_run *a = start("setsid sh -c 'echo $$ >/alloc/data/pid; sleep 1000' & "
				    "while ! test -s /alloc/data/pid; do sleep 0.01; done",
		",\"pid_mode\":\"host\"", "");
	assert_true(ends(a));
	long pid = strtol(content("alloc/data/pid"), NULL, 10);
	assert_true(pid > 1);
	assert_false(is_there((pid_t)pid));
}

static void it_is_told_to_end(void **unused)
{
	struct alloc_run *a = start(
		"trap 'echo bye; exit 0' INT; echo ready; while :; do sleep 0.01; done", "", "");
	STAGE_AWAIT(*content("alloc/logs/t.stdout.0"), 0);
	runner_stop(&runner, a);
	runner_step(&runner);
	assert_true(ends(a));
	assert_string_equal(content("alloc/logs/t.stdout.0"), "ready\nbye\n");
}

static void limits_that_are_not_enforced_are_said(void **unused)
{
	struct alloc_run *a = start("true", "", "");
	assert_true(ends(a));
	bool is_said = false;
	for (uint32_t i = 0; i < a->tasks[0].note_count; i++)
		is_said |= strncmp(a->tasks[0].notes[i].message,
				   "Limits that this node does not enforce", 38) == 0;
	uint32_t all = CGROUP_CPU | CGROUP_MEMORY;
	assert_int_equal(is_said, (confine.groups.controllers & all) != all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(it_is_nobody_alone),
		TEST(it_has_no_privileges),
		TEST(it_writes_to_its_own_folders_alone),
		TEST(outputs_are_the_agents),
		TEST(secrets_of_the_node_are_not_there),
		TEST(the_machine_cannot_be_changed),
		TEST(capabilities_are_added_and_dropped),
		TEST(what_it_may_not_have_is_refused_by_name),
		TEST(users_are_refused),
		TEST(what_is_in_the_way_of_its_file_system_is_told),
		TEST(an_agent_that_confines_nothing_refuses),
		TEST(an_unknown_user_is_named),
		TEST(options_are_known_or_refused),
		TEST(limits_that_are_none_are_refused),
		TEST(a_hard_limit_waits_for_what_the_node_has),
		TEST(an_unknown_option_is_refused),
		TEST(namespaces_may_be_the_nodes),
		TEST(nothing_outlives_it),
		TEST(it_is_told_to_end),
		TEST(limits_that_are_not_enforced_are_said),
	};
	if (geteuid() != 0) {
		printf("skipped: the driver exec needs root\n");
		return 77; // what meson takes for skipped
	}
	if (!mkdtemp(secret))
		return 1;
	int result = cmocka_run_group_tests_name("exec", tests, NULL, NULL);
	rmdir(secret);
	return result;
}
