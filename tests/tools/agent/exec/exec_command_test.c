// Commands beside a task's process: as whom and where they run, how they end, and that nothing is left of them.
#include "tests/support/descriptors.h"
#include "tests/tools/agent/exec/exec_stage.h"
#include "tools/agent/confine/cgroup.h"
#include "tools/agent/confine/filter.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MANY_GROUPS 2000u

static struct exec_stage stage;
static char output[8192];

static int open_plain(void **unused)
{
	stage_open(&stage, NULL, "");
	return 0;
}

static int close_stage(void **unused)
{
	stage_close(&stage);
	return 0;
}

static void exit_codes_and_outputs(void **unused)
{
	assert_int_equal(stage_run(&stage, "echo $WHO; exit 7", output, sizeof output), 7);
	assert_string_equal(output, "task\n");
	assert_int_equal(stage_run(&stage, "kill -9 $$", output, sizeof output), 137);
	assert_int_equal(stage_run(&stage, "pwd", output, sizeof output), 0);
	assert_memory_equal(output, stage.folder, strlen(stage.folder));
	assert_int_equal(
		stage_run(&stage, "cat; ls -l /proc/self/fd | wc -l", output, sizeof output), 0);
	assert_string_equal(output, "5\n"); // a headline, three, and that of ls itself
}

static void a_command_that_cannot_start(void **unused)
{
	char message[300], *environment[] = {(char[]){"PATH=/usr/bin:/bin"}, NULL};
	char *missing[] = {(char[]){"/no/such/bin"}, NULL}, *unknown[] = {(char[]){"nosuch"}, NULL};
	struct exec_command c;
	struct exec_command_start start = {missing, environment, "/", &stage.place, false};
	assert_int_equal(exec_command_start(&start, &c, message, sizeof message), -ENOENT);
	assert_string_equal(message, "fork/exec /no/such/bin: no such file or directory");
	start.arguments = unknown;
	assert_int_equal(exec_command_start(&start, &c, message, sizeof message), -ENOENT);
	assert_string_equal(message, "exec: \"nosuch\": executable file not found in $PATH");
	missing[0] = stage.folder;
	start.arguments = missing;
	assert_int_equal(exec_command_start(&start, &c, message, sizeof message), -EACCES);
	assert_int_equal(c.keeper, 0);
	assert_int_equal(c.keeper_fd, -1);
}

// Starts it with ever more descriptors, until there are enough. Returns how often there were not.
static uint32_t starts_refused(const struct exec_command_start *start)
{
	struct rlimit whole, few;
	struct exec_command c;
	char message[300];
	uint32_t refused = 0, before = descriptors_open();
	int error = -1;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &whole), 0);
	for (few = whole, few.rlim_cur = 3; error < 0; few.rlim_cur++, refused += error < 0) {
		*message = '\0';
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		error = exec_command_start(start, &c, message, sizeof message);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &whole), 0);
		assert_true(error == 0 || strncmp(message, "cannot ", 7) == 0);
		assert_true(error == 0 || descriptors_open() == before);
	}
	assert_int_equal(stage_finish(&c, output, sizeof output), 0);
	assert_int_equal(descriptors_open(), before);
	return refused;
}

static void a_command_without_descriptors_is_refused_and_keeps_none(void **unused)
{
	char *environment[] = {(char[]){"PATH=/usr/bin:/bin"}, NULL};
	char *arguments[] = {(char[]){"true"}, NULL};
	struct exec_command_start start = {arguments, environment, "/", &stage.place, false};
	assert_true(starts_refused(&start) > 8);
	start.has_terminal = true;
	assert_true(starts_refused(&start) > 8);
}

static void a_terminal_has_a_size(void **unused)
{
	struct exec_command c;
	stage_start(&stage, &c, true,
		(char *const[]){(char[]){"sh"}, (char[]){"-c"},
			(char[]){"read x; stty size; tty >/dev/null && test -t 2 && exit 3"},
			NULL});
	exec_command_resize(&c, 50, 132);
	assert_int_equal(write(c.input, "\n", 1), 1);
	assert_int_equal(stage_finish(&c, output, sizeof output), 3);
	assert_string_equal(output, "\r\n50 132\r\n");
}

static uint32_t lines_of_output(void)
{
	uint32_t lines = 0;
	for (const char *at = output; (at = strchr(at, '\n')) != NULL; at++)
		lines++;
	return lines;
}

static void await_lines(const struct exec_command *c, uint32_t wanted)
{
	size_t at = 0;
	output[0] = '\0';
	for (int i = 0; i < 2000 && lines_of_output() < wanted; i++) {
		struct pollfd polled = {.fd = c->output, .events = POLLIN};
		poll(&polled, 1, 10);
		ssize_t n = read(c->output, output + at, sizeof output - 1 - at);
		at += n > 0 ? (size_t)n : 0;
		output[at] = '\0';
	}
	assert_int_equal(lines_of_output(), wanted);
}

// A command, a child of its group and one that left its session, each of which would live on; the last one also
// ignores SIGHUP.
#define FAMILY                                                                \
	"trap 'echo hup; exit 1' HUP; sleep 1000 & echo $!; "                 \
	"setsid sh -c 'trap \"\" HUP; echo $$; sleep 1000; true' & echo $$; " \
	"while :; do sleep 0.05; done"

static void start_family(struct exec_command *c, bool has_terminal, pid_t pids[3])
{
	stage_start(&stage, c, has_terminal,
		(char *const[]){(char[]){"sh"}, (char[]){"-c"}, (char[]){FAMILY}, NULL});
	await_lines(c, 3);
	char *at = output;
	for (int i = 0; i < 3; i++) {
		pids[i] = (pid_t)strtol(at, &at, 10);
		assert_true(stage_is_alive(pids[i]));
	}
}

static void nothing_is_left_when_the_agent_lets_go(void **unused)
{
	for (int has_terminal = 0; has_terminal < 2; has_terminal++) {
		struct exec_command c;
		pid_t pids[3];
		start_family(&c, has_terminal, pids);
		exec_command_finish(&c);
		for (int i = 0; i < 3; i++)
			stage_await_end(pids[i]);
	}
}

static void a_command_ends_with_its_task(void **unused)
{
	struct exec_command c;
	pid_t pids[3];
	start_family(&c, false, pids);
	stage_end_task(&stage);
	assert_int_equal(stage_finish(&c, output, sizeof output), 137);
	assert_non_null(strstr(output, "hup\n"));
	for (int i = 0; i < 3; i++)
		stage_await_end(pids[i]);
}

// As when the agent dies: its descriptors close, and nobody waits for the keeper.
static void a_command_ends_with_the_agent(void **unused)
{
	int report[2];
	pid_t pids[3];
	assert_int_equal(pipe(report), 0);
	pid_t agent = fork();
	if (agent == 0) {
		struct exec_command c;
		start_family(&c, false, pids);
		_exit(write(report[1], pids, sizeof pids) != sizeof pids);
	}
	assert_int_equal(read(report[0], pids, sizeof pids), sizeof pids);
	waitpid(agent, NULL, 0);
	for (int i = 0; i < 3; i++)
		stage_await_end(pids[i]);
	close(report[0]);
	close(report[1]);
}

static void a_group_ends_with_its_command(void **unused)
{
	assert_int_equal(stage_run(&stage, "sleep 1000 & echo $!", output, sizeof output), 0);
	stage_await_end((pid_t)strtol(output, NULL, 10));
}

// As that of a command in a container may, whose terminal gets another size just then.
static void a_keeper_that_leaves_a_size_behind_has_told_the_end(void **unused)
{
	const struct exec_command_end told = {.exit_code = 3, .is_known = true};
	int ends[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(send(ends[0], "size", 4, 0), 4);
	assert_int_equal(send(ends[1], &told, sizeof told, 0), sizeof told);
	close(ends[1]);
	const struct exec_command c = {.keeper_fd = ends[0]};
	struct exec_command_end end = exec_command_ended(&c);
	assert_true(end.is_known);
	assert_int_equal(end.exit_code, 3);
	assert_false(exec_command_ended(&c).is_known); // there is no more
	close(ends[0]);
}

static void another_process_of_that_number(void **unused)
{
	struct exec_place place;
	struct process other = stage.task;
	char message[300];
	other.task_started++;
	assert_int_equal(exec_place_find(&place, &other, "", message, sizeof message), -ESRCH);
	exec_place_close(&place);
	stage_end_task(&stage);
	assert_int_equal(exec_place_find(&place, &stage.task, "", message, sizeof message), -ESRCH);
	exec_place_close(&place);
}

static void an_unknown_user(void **unused)
{
	struct exec_place place;
	char message[300];
	assert_int_equal(
		exec_place_find(&place, &stage.task, "nobody-at-all", message, sizeof message),
		-ENOENT);
	assert_string_equal(message, "there is no user \"nobody-at-all\" on this node");
	exec_place_close(&place);
}

static void live_apart(void)
{
	if (unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWNET) < 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("none", "/mnt", "tmpfs", 0, NULL) < 0 || sethostname("apart", 5) < 0 ||
		prctl(PR_CAPBSET_DROP, 21, 0, 0, 0) < 0 || // CAP_SYS_ADMIN
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		_exit(1);
	int fd = open("/mnt/mark", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	if (fd < 0)
		_exit(1);
	close(fd);
}

static bool is_root(void)
{
	if (geteuid() == 0)
		return true;
	print_message("only root can give a task another place\n");
	return false;
}

static void a_command_is_where_its_task_is(void **unused)
{
	if (!is_root())
		return;
	stage_open(&stage, live_apart, "");
	assert_int_equal(stage.place.namespaces, CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWNET);
	assert_int_equal(stage_run(&stage,
				 "uname -n; ls /mnt; ls /sys/class/net | wc -l; pwd; grep -E "
				 "'^(CapBnd|NoNewPrivs)' /proc/self/status",
				 output, sizeof output),
		0);
	char wanted[300];
	uint64_t all = 0;
	for (int i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
		all |= (uint64_t)prctl(PR_CAPBSET_READ, i, 0, 0, 0) << i;
	assert_non_null(strstr(output, "apart\nmark\n"));
	snprintf(wanted, sizeof wanted, "%s\nCapBnd:\t%016lx\nNoNewPrivs:\t1\n", stage.folder,
		(unsigned long)(all & ~(1ull << 21)));
	assert_non_null(strstr(output, wanted));
	stage_close(&stage);
}

static void live_in_another_root(void)
{
	if (chroot("/usr") < 0 || chdir("/") < 0)
		_exit(1);
}

static void a_root_of_its_own(void **unused)
{
	if (!is_root())
		return;
	stage_open(&stage, live_in_another_root, "");
	assert_int_equal(stage.place.namespaces, 0);
	assert_int_equal(stage_run(&stage, "pwd; test -e /share && test ! -e /usr && echo inside",
				 output, sizeof output),
		0);
	assert_string_equal(output, "/\ninside\n");
	stage_close(&stage);
}

static void live_as_nobody(void)
{
	if (setgid(65534) < 0 || setuid(65534) < 0)
		_exit(1);
}

static char group[600];

static void live_in_a_group(void)
{
	char path[700];
	if (mkdir(group, 0755) < 0)
		return;
	snprintf(path, sizeof path, "%s/cgroup.procs", group);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0)
		(void)!write(fd, "0", 1); // where it is then is seen from outside
	close(fd);
}

static void live_in_a_group_and_root(void)
{
	live_in_a_group();
	live_in_another_root();
}

static void name_group(void)
{
	char mount[500];
	cgroup_find_mount("/proc/self/mounts", mount, sizeof mount);
	snprintf(group, sizeof group, "%s/berth-exec-%d", mount, (int)getpid());
}

// Nothing runs where not all is known of the task.
static void a_task_that_cannot_be_looked_at(void **unused)
{
	struct rlimit whole, few;
	struct exec_place place;
	char message[300];
	uint32_t refused = 0;
	int error = -1;
	if (!is_root())
		return;
	name_group();
	stage_open(&stage, live_in_a_group_and_root, "");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &whole), 0);
	for (few = whole, few.rlim_cur = 3; error < 0; few.rlim_cur++, refused += error < 0) {
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		error = exec_place_find(&place, &stage.task, "", message, sizeof message);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &whole), 0);
		exec_place_close(&place);
		if (error < 0)
			assert_string_equal(
				message, "cannot look at the task's process: Too many open files");
	}
	assert_true(refused > 2);
	stage_close(&stage);
	rmdir(group);
}

// Puts a socket, which nobody can open, over what says in which group the process is.
static void hide_group_of(pid_t pid)
{
	char path[64], there[80];
	snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
	snprintf(there, sizeof there, "%s/socket", stage.folder);
	if (mknod(there, S_IFSOCK | 0600, 0) < 0 || unshare(CLONE_NEWNS) < 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount(there, path, NULL, MS_BIND, NULL) < 0)
		_exit(2);
}

static void a_group_that_nobody_can_read_is_not_taken_for_none(void **unused)
{
	char message[300];
	struct exec_place place;
	int status;
	if (!is_root())
		return;
	stage_open(&stage, NULL, "");
	pid_t other = fork();
	if (other == 0) {
		hide_group_of(stage.task.task);
		_exit(exec_place_find(&place, &stage.task, "", message, sizeof message) != -ENXIO);
	}
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(status, 0);
	snprintf(output, sizeof output, "%s/socket", stage.folder);
	assert_int_equal(unlink(output), 0);
	stage_close(&stage);
}

static void a_command_is_in_its_tasks_group(void **unused)
{
	char message[300];
	int status;
	if (!is_root())
		return;
	name_group();
	stage_open(&stage, live_in_a_group, "");
	if (stage.place.group_fd >= 0) {
		assert_int_equal(
			stage_run(&stage, "grep ^0: /proc/self/cgroup", output, sizeof output), 0);
		assert_non_null(strstr(output, strrchr(group, '/')));
		// Who may not put it there runs nothing.
		pid_t other = fork();
		if (other == 0) {
			live_as_nobody();
			struct exec_place place;
			int error =
				exec_place_find(&place, &stage.task, "", message, sizeof message);
			_exit(error == -EACCES && strstr(message, "cannot look at") ? 0 : 1);
		}
		assert_int_equal(waitpid(other, &status, 0), other);
		assert_int_equal(status, 0);
	}
	stage_close(&stage);
	rmdir(group);
}

// Its number within is not that outside, and the task's first process is the init there.
static void a_process_namespace(void **unused)
{
	struct exec_stage inner = {0};
	char message[300];
	if (!is_root())
		return;
	int report[2];
	assert_int_equal(pipe(report), 0);
	pid_t outer = fork();
	if (outer == 0) {
		if (unshare(CLONE_NEWPID) < 0)
			_exit(1);
		pid_t task = fork();
		if (task == 0)
			for (;;)
				pause();
		if (write(report[1], &task, sizeof task) != sizeof task)
			_exit(1);
		waitpid(task, NULL, 0);
		_exit(0);
	}
	assert_int_equal(read(report[0], &inner.task.task, sizeof inner.task.task), sizeof(pid_t));
	inner.task.task_started = process_started(inner.task.task);
	snprintf(inner.folder, sizeof inner.folder, "/");
	assert_int_equal(
		exec_place_find(&inner.place, &inner.task, "", message, sizeof message), 0);
	assert_int_equal(inner.place.namespaces, CLONE_NEWPID);
	assert_int_equal(stage_run(&inner, "echo $$; exit 5", output, sizeof output), 5);
	long number = strtol(output, NULL, 10);
	assert_true(number > 1 && number < 10);
	kill(inner.task.task, SIGKILL);
	waitpid(outer, NULL, 0);
	exec_place_close(&inner.place);
	close(report[0]);
	close(report[1]);
}

static void the_tasks_user(void **unused)
{
	if (!is_root())
		return;
	stage_open(&stage, NULL, "nobody");
	assert_int_equal(stage_run(&stage, "id -un; id -Gn", output, sizeof output), 0);
	assert_string_equal(output, "nobody\nnogroup\n");
	struct exec_command c;
	stage_start(&stage, &c, true,
		(char *const[]){(char[]){"sh"}, (char[]){"-c"}, (char[]){"echo x >$(tty)"}, NULL});
	assert_int_equal(stage_finish(&c, output, sizeof output), 0);
	assert_string_equal(output, "x\r\n");
	stage_close(&stage);
	stage_open(&stage, live_as_nobody, "");
	assert_int_equal(stage_run(&stage, "id -un", output, sizeof output), 0);
	assert_string_equal(output, "nobody\n");
	stage_close(&stage);
}

// However the test that began it comes to its end.
static void a_task_of_another_user_ends_with_its_parent(void **unused)
{
	int report[2];
	pid_t task = 0;
	if (!is_root())
		return;
	assert_int_equal(pipe(report), 0);
	pid_t parent = fork();
	if (parent == 0) {
		stage_open(&stage, live_as_nobody, "");
		rmdir(stage.folder);
		_exit(write(report[1], &stage.task.task, sizeof task) != sizeof task);
	}
	assert_int_equal(read(report[0], &task, sizeof task), sizeof task);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	stage_await_end(task);
	close(report[0]);
	close(report[1]);
}

static void live_with_a_right(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {
		{1u << 10, 1u << 10, 1u << 10}}; // to bind low ports
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgid(65534) < 0 || setuid(65534) < 0 ||
		syscall(SYS_capset, &header, data) < 0 ||
		prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 10, 0, 0) < 0)
		_exit(1);
}

static void rights_that_a_user_keeps(void **unused)
{
	if (!is_root())
		return;
	stage_open(&stage, live_with_a_right, "nobody");
	assert_int_equal(stage_run(&stage, "grep -E '^Cap(Eff|Prm|Amb)' /proc/self/status", output,
				 sizeof output),
		0);
	assert_string_equal(output, "CapPrm:\t0000000000000400\nCapEff:\t0000000000000400\n"
				    "CapAmb:\t0000000000000400\n");
	stage_close(&stage);
}

static struct sock_fprog filter;

static void live_filtered(void)
{
	if (filter_take(&filter) < 0)
		_exit(1);
}

// Of the system calls that a confined task cannot make; without knowing which these are, nothing runs beside it.
static void system_calls_that_a_task_has_not(void **unused)
{
	char message[300], *environment[] = {NULL}, *words[] = {(char[]){"/bin/true"}, NULL};
	struct exec_command c;
	assert_int_equal(filter_make(&filter, message, sizeof message), 0);
	stage_open(&stage, live_filtered, "");
	struct exec_command_start start = {words, environment, "/", &stage.place, false};
	assert_true(stage.place.has_filter && stage.place.no_new_rights);
	assert_int_equal(exec_command_start(&start, &c, message, sizeof message), -EPERM);
	assert_string_equal(
		message, "cannot give the command the rights of the task: operation not permitted");
	stage.place.filter = &filter;
	assert_int_equal(stage_run(&stage, "grep ^Seccomp: /proc/self/status; unshare -U true",
				 output, sizeof output),
		1);
	assert_string_equal(output, "Seccomp:\t2\n");
	stage_close(&stage);
	filter_free(&filter);
}

static void live_filtered_in_many_groups(void)
{
	static gid_t groups[MANY_GROUPS];

	for (uint32_t i = 0; i < MANY_GROUPS; i++)
		groups[i] = 1000000000 + i;
	if (setgroups(MANY_GROUPS, groups) < 0)
		_exit(1);
	live_as_nobody();
	live_filtered();
}

// What stands of it behind all its groups is known, too.
static void a_task_in_more_groups_than_anybody_thought_of(void **unused)
{
	char message[300], wanted[64];
	if (!is_root())
		return;
	assert_int_equal(filter_make(&filter, message, sizeof message), 0);
	stage_open(&stage, live_filtered_in_many_groups, "");
	assert_true(stage.place.has_filter && stage.place.no_new_rights);
	assert_true(stage.place.bounding != 0);
	stage.place.filter = &filter;
	assert_int_equal(stage_run(&stage,
				 "grep ^Seccomp: /proc/self/status; tr '\\t' '\\n' "
				 "</proc/self/status | tr ' ' '\\n' | grep -c '^10000'",
				 output, sizeof output),
		0);
	snprintf(wanted, sizeof wanted, "Seccomp:\t2\n%u\n", MANY_GROUPS);
	assert_string_equal(output, wanted);
	stage_close(&stage);
	filter_free(&filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(exit_codes_and_outputs, open_plain, close_stage),
		cmocka_unit_test_setup_teardown(
			a_command_that_cannot_start, open_plain, close_stage),
		cmocka_unit_test_setup_teardown(
			a_command_without_descriptors_is_refused_and_keeps_none, open_plain,
			close_stage),
		cmocka_unit_test_setup_teardown(a_terminal_has_a_size, open_plain, close_stage),
		cmocka_unit_test_setup_teardown(
			nothing_is_left_when_the_agent_lets_go, open_plain, close_stage),
		cmocka_unit_test_setup_teardown(
			a_command_ends_with_its_task, open_plain, close_stage),
		cmocka_unit_test_setup_teardown(
			a_command_ends_with_the_agent, open_plain, close_stage),
		cmocka_unit_test_setup_teardown(
			a_group_ends_with_its_command, open_plain, close_stage),
		cmocka_unit_test_setup_teardown(
			another_process_of_that_number, open_plain, close_stage),
		cmocka_unit_test(a_keeper_that_leaves_a_size_behind_has_told_the_end),
		cmocka_unit_test_setup_teardown(an_unknown_user, open_plain, close_stage),
		cmocka_unit_test(a_command_is_where_its_task_is),
		cmocka_unit_test(a_root_of_its_own),
		cmocka_unit_test(a_task_that_cannot_be_looked_at),
		cmocka_unit_test(a_group_that_nobody_can_read_is_not_taken_for_none),
		cmocka_unit_test(a_command_is_in_its_tasks_group),
		cmocka_unit_test(a_process_namespace),
		cmocka_unit_test(the_tasks_user),
		cmocka_unit_test(a_task_of_another_user_ends_with_its_parent),
		cmocka_unit_test(rights_that_a_user_keeps),
		cmocka_unit_test(system_calls_that_a_task_has_not),
		cmocka_unit_test(a_task_in_more_groups_than_anybody_thought_of),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
