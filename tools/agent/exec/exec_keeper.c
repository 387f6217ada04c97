#include "tools/agent/exec/exec_keeper.h"
#include "state/base/check.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_MS 500
#define SWEEPS_MAX 100
#define SWEEP_MS 10

const char *const keeper_stage_texts[KEEPER_STAGES] = {"fork", "enter the task's place",
	"take the terminal", "give the command the rights of the task", "run"};

extern char **environ;

// Descriptors that a keeper has, in this order; all others are closed.
enum kept {
	KEPT_STANDARD, // three
	KEPT_CHANNEL = 3,
	KEPT_FAILURE,
	KEPT_CHILDREN,
	KEPT_TASK,
	KEPT_ROOT,
	KEPT_GROUP,
	KEPT,
};

static _Noreturn void keeper_say(int fd, enum keeper_stage stage)
{
	struct keeper_failure failure = {stage, errno};
	// Whoever waits for it takes an empty answer for success: this one fits a pipe.
	if (write(fd, &failure, sizeof failure) != sizeof failure)
		_exit(126);
	_exit(127);
}

static _Noreturn void keeper_fail(enum keeper_stage stage)
{
	keeper_say(KEPT_FAILURE, stage);
}

// Moves descriptors to their places, of which the standard ones are the command's, too; -1 leaves a place empty. False:
// there is no room for so many; all are where they were.
static bool keep_descriptors(const int fds[KEPT])
{
	int above[KEPT];
	for (int i = 0; i < KEPT; i++) {
		above[i] = fds[i] < 0 ? -1 : fcntl(fds[i], F_DUPFD_CLOEXEC, KEPT);
		if (fds[i] >= 0 && above[i] < 0)
			return false;
	}
	for (int i = 0; i < KEPT; i++)
		if (above[i] >= 0)
			CHECK(dup3(above[i], i, i < KEPT_CHANNEL ? 0 : O_CLOEXEC) == i);
		else
			close(i);
	CHECK(syscall(SYS_close_range, KEPT, ~0u, 0u) == 0);
	return true;
}

static void restore_signals(void)
{
	sigset_t none;
	sigemptyset(&none);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void run_program(const struct keeper *k)
{
	restore_signals();
	CHECK(setsid() > 0); // a child leads no group yet
	if (k->has_terminal && ioctl(0, TIOCSCTTY, 0) < 0)
		keeper_fail(KEEPER_TERMINAL);
	if (chdir(k->folder) < 0 && chdir("/") < 0) // the task has removed its own
		keeper_fail(KEEPER_PLACE);
	if (exec_place_become(k->place) < 0)
		keeper_fail(KEEPER_USER);
	umask(022);
	environ = (char **)k->environment;
	execvp(k->arguments[0], k->arguments);
	keeper_fail(KEEPER_EXEC);
}

// Kills whatever this process has become the parent of: the command's orphans, too, unless they are in a process
// namespace of the task's, where they end with it.
static void kill_children(void)
{
	char text[4096];
	for (int sweep = 0; sweep < SWEEPS_MAX; sweep++) {
		ssize_t n = pread(KEPT_CHILDREN, text, sizeof text, 0);
		pid_t pid = 0, reaped;
		for (ssize_t i = 0; i < n; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				pid = pid * 10 + (text[i] - '0');
				continue;
			}
			if (pid > 0)
				kill(pid, SIGKILL);
			pid = 0;
		}
		while ((reaped = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		// The list may leave out some while others end.
		if (reaped < 0)
			return;
		poll(NULL, 0, SWEEP_MS);
	}
}

static void end_command(pid_t command, int pidfd)
{
	struct pollfd polled = {.fd = pidfd, .events = POLLIN};
	kill(-command, SIGHUP);
	kill(-command, SIGCONT);
	(void)poll(&polled, 1, GRACE_MS);
	kill(-command, SIGKILL);
	kill_children();
}

// Until then it is not reaped, so that nobody else has its number.
static void tell_end(pid_t command)
{
	siginfo_t info;
	CHECK(waitid(P_PID, (id_t)command, &info, WEXITED | WNOWAIT) == 0); // no signal comes here
	kill(-command, SIGKILL);
	struct exec_command_end end = {
		.exit_code = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status,
		.is_known = true};
	// An agent that is gone does not want to know.
	(void)send(KEPT_CHANNEL, &end, sizeof end, MSG_NOSIGNAL);
}

static void watch_command(pid_t command)
{
	int pidfd = (int)syscall(SYS_pidfd_open, command, 0);
	struct exec_command_end end = {.exit_code = 128 + SIGKILL, .is_known = pidfd >= 0};
	if (pidfd < 0)
		snprintf(end.reason, sizeof end.reason,
			"the command was ended, as it could not be watched: %s",
			strerrordesc_np(errno));
	struct pollfd polled[3] = {{.fd = pidfd, .events = POLLIN},
		{.fd = KEPT_CHANNEL, .events = POLLIN}, {.fd = KEPT_TASK, .events = POLLIN}};
	while (pidfd >= 0 && poll(polled, 3, -1) < 0 && errno == EINTR)
		;
	bool is_wanted = polled[1].revents == 0;
	if (pidfd >= 0 && polled[0].revents && is_wanted) {
		tell_end(command);
		return;
	}
	end_command(command, pidfd);
	if (is_wanted)
		(void)send(KEPT_CHANNEL, &end, sizeof end, MSG_NOSIGNAL);
}

_Noreturn void keeper_run(struct keeper *k)
{
	sigset_t all;
	struct exec_place place = *k->place;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	int children = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	const int fds[KEPT] = {k->standard[0], k->standard[1], k->standard[2], k->channel,
		k->failure, children, place.task_fd, place.root_fd, place.group_fd};
	if (!keep_descriptors(fds))
		keeper_say(k->failure, KEEPER_FORK);
	place.task_fd = KEPT_TASK;
	place.root_fd = place.root_fd < 0 ? -1 : KEPT_ROOT;
	place.group_fd = place.group_fd < 0 ? -1 : KEPT_GROUP;
	k->place = &place;
	prctl(PR_SET_NAME, "berth-exec");
	CHECK(setsid() > 0 && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
	if (exec_place_enter(&place) < 0)
		keeper_fail(KEEPER_PLACE);
	pid_t command = fork();
	if (command < 0)
		keeper_fail(KEEPER_FORK);
	if (command == 0)
		run_program(k);
	for (int i = 0; i < 3; i++)
		close(i);
	close(KEPT_FAILURE);
	watch_command(command);
	_exit(0);
}
