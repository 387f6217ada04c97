// What a task leaves behind comes to its shim, is reaped, and ends with the task, without any control group.
#include "tools/agent/confine/orphans.h"
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static bool is_there(pid_t pid)
{
	return kill(pid, 0) == 0 || errno != ESRCH;
}

// A process whose parent is gone, in a session of its own.
static void leave_behind(int pipe, bool stays)
{
	if (fork() != 0)
		return;
	setsid();
	pid_t left = fork();
	while (left == 0 && stays)
		pause();
	// Who is left may be killed before it could say its number.
	_exit(left > 0 && write(pipe, &left, sizeof left) != sizeof left);
}

static int shim(int pipe)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	int fd = orphans_adopt() < 0 ? -1 : orphans_watch();
	pid_t task = fork();
	if (task == 0) {
		leave_behind(pipe, true);
		leave_behind(pipe, true);
		leave_behind(pipe, false);
		while (waitpid(-1, NULL, 0) > 0)
			;
		_exit(0);
	}
	while (!orphans_reap(fd, task))
		poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1);
	bool is_done = orphans_kill(task, 5000);
	siginfo_t info = {.si_pid = 0};
	// The task is the shim's to reap, and nothing else is left.
	return is_done && waitid(P_ALL, 0, &info, WEXITED) == 0 && info.si_pid == task &&
			       waitid(P_ALL, 0, &info, WEXITED) < 0 && errno == ECHILD
		       ? 0
		       : 1;
}

static void nothing_outlives_its_task(void **unused)
{
	pid_t left[3];
	int pipes[2], status;
	assert_int_equal(pipe(pipes), 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(shim(pipes[1]));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(read(pipes[0], &left[i], sizeof left[i]), sizeof left[i]);
	for (uint32_t i = 0; i < 3; i++)
		assert_false(is_there(left[i]));
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_outlives_its_task),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
