#include "tools/agent/confine/orphans.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

int orphans_adopt(void)
{
	// Where it was ignored, children would be gone before anybody waits for them.
	if (signal(SIGCHLD, SIG_DFL) == SIG_ERR)
		return -1;
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int orphans_watch(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

// Reaps one child that has ended. False: there is none, or it is the task.
static bool reap_one(pid_t task, bool *task_ended)
{
	siginfo_t info = {.si_pid = 0};

	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
		return false;
	if (info.si_pid == task) {
		*task_ended = true;
		return false;
	}
	return waitid(P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG) == 0;
}

bool orphans_reap(int fd, pid_t task)
{
	struct signalfd_siginfo unused;
	bool task_ended = false;

	while (fd >= 0 && read(fd, &unused, sizeof unused) > 0)
		;
	while (reap_one(task, &task_ended))
		;
	return task_ended;
}

// Kills and reaps the children in the kernel's list. Returns how many there were.
static unsigned kill_children(pid_t task)
{
	char text[4096];
	siginfo_t info;
	unsigned count = 0;
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (char *at = text; *at >= '0' && *at <= '9';) {
		long pid = strtol(at, &at, 10);
		if (*at != ' ')
			break; // the text was cut within a number
		at++;
		if (pid <= 1 || pid == task)
			continue;
		count++;
		kill((pid_t)pid, SIGKILL);
		(void)waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG); // else in the next round
	}
	return count;
}

bool orphans_kill(pid_t task, uint32_t wait_ms)
{
	for (uint32_t waited_ms = 0;; waited_ms += 2) {
		if (kill_children(task) == 0)
			return true;
		if (waited_ms >= wait_ms)
			return false;
		(void)poll(NULL, 0, 2);
	}
}
