// berth alloc exec as people type it, with a real agent's service behind a port and a real terminal before it.
#include "tests/tools/agent/service/exec_agent.h"
#include "tests/tools/berth/inside/inside.h"
#include "tools/agent/service/service_routes.h"
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#define ALLOC EXEC_AGENT_ALLOC

static struct MHD_Response *say_allocations(struct service_request *request, unsigned *status)
{
	return service_say(status, 200,
		"[{\"ID\":\"" ALLOC "\",\"Name\":\"j.g[0]\",\"ClientStatus\":\"running\"}]");
}

static struct MHD_Response *say_allocation(struct service_request *request, unsigned *status)
{
	return service_say(status, 200,
		"{\"ID\":\"" ALLOC "\",\"TaskStates\":{\"main\":{},\"pre\":{},\"pretended\":{}}}");
}

static struct MHD_Response *say_jobs(struct service_request *request, unsigned *status)
{
	return service_say(status, 200, "[{\"ID\":\"j\",\"Name\":\"j\"}]");
}

static const struct service_route routes[] = {
	{NULL, "/v1/allocations", say_allocations},
	{NULL, "/v1/allocation/:id", say_allocation},
	{NULL, "/v1/jobs", say_jobs},
	{NULL, "/v1/job/:id/allocations", say_allocations},
	{NULL, "/v1/client/allocation/:id/exec", alloc_exec},
	{NULL, NULL, NULL},
};

static int set_up(void **unused)
{
	return inside_start(routes);
}

static int tear_down(void **unused)
{
	return inside_stop();
}

static void outputs_and_exit_codes(void **unused)
{
	expect_run("alloc exec --task main " ALLOC " echo hi", 0, "hi\n", "");
	assert_string_equal(run.out, "hi\n");
	assert_string_equal(run.error, "");
	expect_run("alloc exec -task=main f6343442 ls -d /", 0, "/\n", "");
	expect_run("alloc exec --task main --job j printenv GREETING", 0, "hello\n", "");
	expect_run("alloc exec --task main " ALLOC " ls /no/such/file", 2, "", "No such file");
	assert_string_equal(run.out, "");
	expect_run("alloc exec --task main " ALLOC " -- false", 1, "", "");
	expect_run("alloc exec -i=false -t=false -task main " ALLOC " cat", 0, "", "");
	expect_run("alloc exec --task main " ALLOC " seq 10000", 0, "\n9999\n10000\n", "");
}

static void what_goes_wrong_is_told(void **unused)
{
	expect_run("alloc exec " ALLOC " ls", 2, "",
		"has several tasks, name one: main, pre, pretended");
	expect_run("alloc exec " ALLOC, 2, "", "the command is missing");
	expect_run("alloc exec --escape ab --task main " ALLOC " ls", 2, "",
		"--escape is one character or none");
	expect_run("alloc exec --task nosuch " ALLOC " ls", 3, "", "task not found");
	expect_run("alloc exec --task pre " ALLOC " ls", 4, "", "task \"pre\" is not running.");
	expect_run("alloc exec --task main " ALLOC " /no/such/bin", 4, "",
		"failed to start command: fork/exec /no/such/bin: no such file or directory");
	expect_run("alloc exec --task main " ALLOC " -- -x", 4, "",
		"executable file not found in $PATH");
}

// berth with a terminal of 24 lines of 80 characters.
static int begin_in_terminal(const char *shell_line, pid_t *pid)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	char address[64], task[] = "--task=main", alloc[] = ALLOC, line[300];
	int fd;
	snprintf(address, sizeof address, "http://127.0.0.1:%u", inside_port);
	snprintf(line, sizeof line, "%s", shell_line);
	*pid = forkpty(&fd, NULL, NULL, &size);
	assert_true(*pid >= 0);
	if (*pid == 0) {
		setenv("BERTH_ADDR", address, 1);
		execl(BERTH_PROGRAM, "berth", "alloc", "exec", task, alloc, "sh", "-c", line, NULL);
		_exit(99);
	}
	return fd;
}

static void await_terminal(int fd, char text[static 4096], const char *wanted)
{
	size_t size = strlen(text);
	while (!strstr(text, wanted)) {
		struct pollfd polled = {.fd = fd, .events = POLLIN};
		assert_int_equal(poll(&polled, 1, 60000), 1);
		ssize_t n = read(fd, text + size, 4095 - size);
		if (n <= 0)
			fail_msg("the terminal ends with \"%s\", without \"%s\"", text, wanted);
		size += (size_t)n;
		text[size] = '\0';
	}
}

static void type(int fd, const char *keys)
{
	assert_int_equal(write(fd, keys, strlen(keys)), strlen(keys));
}

static int end_in_terminal(int fd, pid_t pid)
{
	int status;
	char rest[256];
	while (read(fd, rest, sizeof rest) > 0)
		;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void a_terminal_follows_the_window(void **unused)
{
	struct winsize size = {.ws_row = 50, .ws_col = 132};
	char text[4096] = "";
	pid_t pid;
	// What the window was at first may be told as late as when the command is ready.
	int fd = begin_in_terminal(
		"trap 'is=$(stty size); [ \"$is\" = \"24 80\" ] || { echo $is; exit 7; }' WINCH; "
		"echo ready; while :; do sleep 0.05; done",
		&pid);
	await_terminal(fd, text, "ready\r\n");
	ioctl(fd, TIOCSWINSZ, &size);
	await_terminal(fd, text, "50 132\r\n");
	assert_int_equal(end_in_terminal(fd, pid), 7);
}

static void keys_reach_the_command(void **unused)
{
	char text[4096] = "";
	pid_t pid;
	int fd = begin_in_terminal("stty -echo; echo ready; read a; echo [$a]; trap 'exit 5' INT; "
				   "echo more; while :; do sleep 0.05; done",
		&pid);
	await_terminal(fd, text, "ready");
	type(fd, "one~.two\r");
	await_terminal(fd, text, "[one~.two]\r\nmore");
	type(fd, "\003"); // Ctrl-C is the command's
	assert_int_equal(end_in_terminal(fd, pid), 5);
}

static void the_escape_leaves(void **unused)
{
	char text[4096] = "", *end;
	struct termios before, after;
	pid_t pid;
	int fd = begin_in_terminal("echo =$$=; exec sleep 1000", &pid);
	await_terminal(fd, text, "=\r\n");
	pid_t command = (pid_t)strtol(strchr(text, '=') + 1, &end, 10);
	assert_int_equal(kill(command, 0), 0);
	assert_int_equal(tcgetattr(fd, &before), 0);
	assert_false(before.c_lflag & ICANON);
	int held = open(ptsname(fd), O_RDWR | O_NOCTTY | O_CLOEXEC); // keeps what berth restores
	type(fd, "x\r~.");
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(tcgetattr(fd, &after), 0);
	assert_true(after.c_lflag & ICANON);
	for (int i = 0; i < 6000 && kill(command, 0) == 0; i++)
		poll(NULL, 0, 10);
	assert_int_equal(kill(command, 0), -1);
	close(held);
	close(fd);
}

static void a_signal_ends_it_cleanly(void **unused)
{
	char text[4096] = "";
	struct termios after;
	pid_t pid;
	int status, fd = begin_in_terminal("echo ready; exec sleep 1000", &pid);
	await_terminal(fd, text, "ready\r\n");
	int held = open(ptsname(fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
	kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
	assert_int_equal(tcgetattr(fd, &after), 0);
	assert_true(after.c_lflag & ICANON);
	close(held);
	close(fd);
}

// Through pipes, as in scripts.
static void input_is_passed_on(void **unused)
{
	char line[500], text[64] = "";
	snprintf(line, sizeof line,
		"head -c 1000000 /dev/zero | " BERTH_PROGRAM " alloc exec --task main " ALLOC
		" wc -c");
	assert_int_equal(inside_shell(line, text, sizeof text), 0);
	assert_string_equal(text, "1000000\n");
}

// The command has one; there is nothing here that could be made raw and then be restored.
static void a_terminal_without_one_here(void **unused)
{
	char text[64] = "";
	assert_int_equal(inside_shell(BERTH_PROGRAM " alloc exec --tty --task main " ALLOC
						    " test -t 0 </dev/null",
				 text, sizeof text),
		0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outputs_and_exit_codes),
		cmocka_unit_test(what_goes_wrong_is_told),
		cmocka_unit_test(a_terminal_follows_the_window),
		cmocka_unit_test(keys_reach_the_command),
		cmocka_unit_test(the_escape_leaves),
		cmocka_unit_test(a_signal_ends_it_cleanly),
		cmocka_unit_test(input_is_passed_on),
		cmocka_unit_test(a_terminal_without_one_here),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
