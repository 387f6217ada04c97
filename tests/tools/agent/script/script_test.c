// Scripts beside real tasks: where they run, what of them is kept, and how they end.
#include "tests/tools/agent/confine/slice.h"
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/check/checks.h"
#include "tools/agent/confine/confine.h"
#include "tools/agent/script/script.h"
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

static const struct node_facts facts = {
	.name = "n", .datacenter = "dc1", .class_name = "", .pool = "default"};
static const struct uuid id = {{0xa1}};
static struct confine confine;
static int wake_fd;

static int set_up(void **unused)
{
	wake_fd = eventfd(0, EFD_CLOEXEC);
	stage_confine = NULL;
	stage_open(&facts);
	return 0;
}

static int set_up_confined(void **unused)
{
	struct confine_settings settings = {.group_parent = slice_name(),
		.users_denied = "root",
		.capabilities = CAPABILITIES_DEFAULT};
	char message[300];
	wake_fd = eventfd(0, EFD_CLOEXEC);
	if (confine_open(&confine, &settings, message, sizeof message) < 0)
		fail_msg("%s", message);
	stage_confine = &confine;
	stage_open(&facts);
	return 0;
}

static bool all_are_over(void)
{
	for (uint32_t i = 0; i < runner.allocs->task_count; i++)
		if (!task_is_over(&runner.allocs->tasks[i]))
			return false;
	return true;
}

static int tear_down(void **unused)
{
	runner_stop_all(&runner);
	STAGE_AWAIT(all_are_over(), stage_pass_ms(100));
	int result = stage_close();
	close(wake_fd);
	if (!stage_confine)
		return result;
	result += stage_close_confine(&confine);
	return result;
}

#define TASK(driver, more)                                                                 \
	"{\"Name\":\"t\",\"Driver\":\"" driver "\",\"CPU\":100,\"MemoryMB\":64,"           \
	"\"KillTimeout\":100000000,\"Env\":{\"GREETING\":\"hi\"},\"Config\":{\"command\":" \
	"\"/bin/sleep\",\"args\":[\"1000\"]}" more "}"

static struct script *begin(char *const *arguments, uint32_t timeout_ms)
{
	const struct alloc_run *a = runner_find(&runner, &id);
	struct task_folders folders;
	char message[300] = "";
	struct script_start start = {.task = &a->tasks[0],
		.alloc = a->spec,
		.node = &facts,
		.folders = &folders,
		.confine = stage_confine,
		.arguments = arguments,
		.timeout_ns = timeout_ms * 1000000ll,
		.wake_fd = wake_fd};
	alloc_run_task_folders(a, &a->tasks[0], stage_folder, &folders);
	struct script *s = script_begin(&start, message, sizeof message);
	assert_string_equal(message, "");
	assert_non_null(s);
	return s;
}

static struct script *begin_line(const char *line, uint32_t timeout_ms)
{
	char shell[] = "sh", option[] = "-c";
	char *const arguments[] = {shell, option, (char *)line, NULL};
	return begin(arguments, timeout_ms);
}

static struct script_end end_of(struct script *s)
{
	struct script_end end;
	uint64_t count;
	assert_int_equal(read(wake_fd, &count, sizeof count), sizeof count);
	assert_true(script_is_over(s));
	script_finish(s, &end);
	return end;
}

static void it_runs_beside_its_task(void **unused)
{
	char expected[800];
	struct task_folders folders;
	const struct alloc_run *a = stage_run(&id, "service", "", TASK("raw_exec", ""));
	struct script_end end =
		end_of(begin_line("pwd; echo $GREETING $NOMAD_TASK_NAME; cat; exit 3", 30000));
	alloc_run_task_folders(a, &a->tasks[0], stage_folder, &folders);
	snprintf(expected, sizeof expected, "%s\nhi t\n", folders.task);
	assert_true(end.is_known);
	assert_int_equal(end.exit_code, 3);
	assert_string_equal(end.output, expected);
}

static void it_runs_as_the_tasks_user(void **unused)
{
	stage_run(&id, "service", "", TASK("raw_exec", ",\"User\":\"nobody\""));
	assert_string_equal(end_of(begin_line("id -un", 30000)).output, "nobody\n");
}

static void a_pretended_task_has_scripts(void **unused)
{
	stage_run(&id, "service", "", "{\"Name\":\"t\",\"Driver\":\"mock\",\"Config\":{}}");
	assert_string_equal(end_of(begin_line("echo $NOMAD_TASK_NAME", 30000)).output, "t\n");
}

// What it writes never stops it.
static void what_has_no_room_is_thrown_away(void **unused)
{
	stage_run(&id, "service", "", TASK("raw_exec", ""));
	struct script_end end =
		end_of(begin_line("head -c 3000000 /dev/zero | tr '\\0' x; exit 1", 60000));
	assert_true(end.is_known);
	assert_int_equal(end.exit_code, 1);
	assert_int_equal(end.size, SCRIPT_OUTPUT_BYTES);
	assert_int_equal(strspn(end.output, "x"), SCRIPT_OUTPUT_BYTES);
}

static void one_that_takes_too_long_is_killed(void **unused)
{
	stage_run(&id, "service", "", TASK("raw_exec", ""));
	pid_t pid = 0;
	// As long as this machine takes until it says something.
	for (uint32_t timeout_ms = 100; pid == 0 && timeout_ms < 20000; timeout_ms *= 2) {
		struct script_end end = end_of(begin_line("echo $$; exec yes", timeout_ms));
		assert_false(end.is_known);
		assert_true(end.is_late);
		pid = (pid_t)strtol(end.output, NULL, 10);
	}
	assert_true(pid > 1);
	STAGE_AWAIT(kill(pid, 0) < 0, 0); // it may be reaped by the machine's first process
	assert_int_equal(kill(pid, 0), -1);
}

static void one_that_is_stopped_is_killed(void **unused)
{
	stage_run(&id, "service", "", TASK("raw_exec", ""));
	struct script *s = begin_line("exec sleep 1000", 60000);
	assert_false(script_is_over(s));
	script_stop(s);
	struct script_end end = end_of(s);
	assert_false(end.is_known);
	assert_false(end.is_late);
}

static void what_is_not_there_is_named(void **unused)
{
	char program[] = "/no/such";
	char *const arguments[] = {program, NULL};
	stage_run(&id, "service", "", TASK("raw_exec", ""));
	struct script_end end = end_of(begin(arguments, 30000));
	assert_false(end.is_known);
	assert_string_equal(end.message, "fork/exec /no/such: no such file or directory");
}

static void it_ends_with_its_task(void **unused)
{
	const struct alloc_run *a = stage_run(&id, "service", "", TASK("raw_exec", ""));
	struct script *s = begin_line("echo up; exec sleep 1000", 60000);
	poll(NULL, 0, 100);
	kill(a->tasks[0].process.task, SIGKILL);
	struct script_end end = end_of(s);
	assert_true(!end.is_known || end.exit_code == 128 + SIGKILL);
	assert_true(end.is_task_over);
}

// In the namespaces, the root, the group, and with the user, the rights and the filter of the task; and with no more.
static void of_a_confined_task_it_is_confined(void **unused)
{
	stage_run(&id, "service", "", TASK("exec", ""));
	struct script_end end = end_of(begin_line(
		"id -un; pwd; echo $NOMAD_ALLOC_DIR $NOMAD_TASK_DIR $NOMAD_SECRETS_DIR $GREETING; "
		"tr '\\0' ' ' </proc/1/cmdline; echo; "
		"grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status; "
		"cmp /proc/self/cgroup /proc/1/cgroup && echo same; "
		"touch /local/made; touch /etc/x /usr/x /x 2>/dev/null || echo kept; "
		"unshare -m true 2>/dev/null || echo refused",
		30000));
	assert_string_equal(end.message + (end.is_known ? strlen(end.message) : 0), "");
	assert_string_equal(end.output, "nobody\n/\n/alloc /local /secrets hi\n/bin/sleep 1000 \n"
					"CapEff:\t0000000000000000\nCapBnd:"
					"\t00000000a80405fb\nNoNewPrivs:\t1\nSeccomp:\t2\n"
					"same\nkept\nrefused\n");
}

static const char *shown_status(const struct alloc_run *a)
{
	static char status[32];
	json_t *all = checks_json(a);
	snprintf(status, sizeof status, "%s",
		spec_text(json_object_iter_value(json_object_iter(all)), "Status"));
	json_decref(all);
	return status;
}

static void checks_of_confined_tasks_run(void **unused)
{
	const struct alloc_run *a = stage_run(&id, "service", "",
		TASK("exec", ",\"Services\":[{\"Name\":\"w\",\"Checks\":[{\"Name\":\"c\",\"Type\":"
			     "\"script\",\"Command\":\"sh\",\"Args\":[\"-c\",\"test $(id -un) = "
			     "nobody && test -d /local && exit 1\"],\"Interval\":1000000000,"
			     "\"Timeout\":20000000000}]}]"));
	STAGE_AWAIT(strcmp(shown_status(a), "pending") != 0, runner_step(&runner));
	assert_string_equal(shown_status(a), "warning");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define CONFINED(name) cmocka_unit_test_setup_teardown(name, set_up_confined, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(it_runs_beside_its_task),
		TEST(a_pretended_task_has_scripts),
		TEST(what_has_no_room_is_thrown_away),
		TEST(one_that_takes_too_long_is_killed),
		TEST(one_that_is_stopped_is_killed),
		TEST(what_is_not_there_is_named),
		TEST(it_ends_with_its_task),
	};
	const struct CMUnitTest as_root[] = {
		TEST(it_runs_as_the_tasks_user),
		CONFINED(of_a_confined_task_it_is_confined),
		CONFINED(checks_of_confined_tasks_run),
	};
	int result = cmocka_run_group_tests(tests, NULL, NULL);
	if (geteuid() == 0)
		result += cmocka_run_group_tests(as_root, NULL, NULL);
	else
		printf("skipped: confined tasks need root\n");
	return result;
}
