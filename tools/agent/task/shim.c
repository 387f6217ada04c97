#include "tools/agent/task/shim.h"
#include "state/base/check.h"
#include "state/base/failpoint/failpoint.h"
#include "tools/agent/confine/cgroup.h"
#include "tools/agent/confine/orphans.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Length of the file with an exit status, which is there before it is known.
#define EXIT_TEXT_BYTES 32
// What remains of a task that cannot be killed, as one that waits for a disk, is left.
#define REST_WAIT_MS 5000u
#define LOOK_MS 100
// The shim's descriptors: two pipes, then these.
enum kept { KEPT_EXIT = 2, KEPT_GROUP };
#define KEPT_LEAST 10 // of those that are on their way there

static bool tell_stage(const struct child *c, enum stage stage, int value, int row)
{
	struct news news = {stage, value, row};
	return write(c->news_fd, &news, sizeof news) == sizeof news;
}

static _Noreturn void give_up(const struct child *c, enum stage stage)
{
	(void)tell_stage(c, stage, errno, -1); // nobody is there to hear it
	_exit(127);
}

static void enter_sandbox(const struct child *c)
{
	const struct sandbox *sandbox = c->start->sandbox;
	int row = -1;

	if (!sandbox)
		return;
	if (sandbox_enter_group(sandbox) < 0)
		give_up(c, STAGE_GROUP);
	if (sandbox_enter_root(sandbox, &row) < 0) {
		(void)tell_stage(c, STAGE_ROOT, errno, row);
		_exit(127);
	}
	if (sandbox_bound(sandbox) < 0)
		give_up(c, STAGE_RIGHTS);
}

static void reset_signals(void)
{
	sigset_t none;
	sigemptyset(&none);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void make_pipes(struct child *c)
{
	for (int i = 0; i < 2; i++)
		if (!c->start->output_rule.is_disabled &&
			(CAN_FAIL(EXEC_OUTPUT, pipe2(c->pipes[i], O_CLOEXEC)) < 0 ||
				fcntl(c->pipes[i][0], F_SETFL, O_NONBLOCK) < 0))
			give_up(c, STAGE_OUTPUT);
}

// The task's standard output or error.
static void open_output(const struct child *c, int i)
{
	int fd = c->start->output_rule.is_disabled ? open("/dev/null", O_WRONLY | O_CLOEXEC)
						   : c->pipes[i][1];
	if (fd < 0 || dup2(fd, i + 1) < 0)
		give_up(c, STAGE_OUTPUT);
}

static _Noreturn void run_task(const struct child *c)
{
	int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	reset_signals();
	CHECK(setsid() > 0); // a child leads no group yet
	if (input < 0 || dup2(input, 0) < 0)
		give_up(c, STAGE_OUTPUT);
	open_output(c, 0);
	open_output(c, 1);
	enter_sandbox(c);
	if (CAN_FAIL(EXEC_FOLDER, chdir(c->start->folder)) < 0)
		give_up(c, STAGE_FOLDER);
	if (FAILPOINT(EXEC_USER) ||
		(c->changes_user && (setgroups((size_t)c->user.group_count, c->user.groups) < 0 ||
					    setgid(c->user.gid) < 0 || setuid(c->user.uid) < 0)))
		give_up(c, STAGE_USER);
	char go;
	close(c->go[1]);
	if (read(c->go[0], &go, 1) != 1)
		_exit(127); // nobody knows this process
	if (c->start->kept_fd > 0)
		CHECK(fcntl(c->start->kept_fd, F_SETFD, 0) == 0);
	umask(022);
	if (c->start->sandbox && sandbox_finish(c->start->sandbox, geteuid() == 0) < 0)
		give_up(c, STAGE_RIGHTS);
	int error = ENOENT;
	for (char **path = c->candidates; *path; path++) {
		(void)CAN_FAIL(
			EXEC_PROGRAM, execve(*path, c->start->arguments, c->start->environment));
		if (errno != ENOENT && errno != ENOTDIR)
			error = errno;
	}
	errno = error;
	give_up(c, STAGE_EXEC);
}

static char *put_number(char *at, int number)
{
	char digits[12];
	int count = 0;
	do
		digits[count++] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	while (count > 0)
		*at++ = digits[--count];
	return at;
}

static void write_end(const struct child *c, const siginfo_t *info)
{
	char text[EXIT_TEXT_BYTES], *at = text;
	memset(text, '\n', sizeof text);
	at = put_number(at, info->si_code == CLD_EXITED ? info->si_status : 0);
	*at++ = ' ';
	put_number(at, info->si_code == CLD_EXITED ? 0 : info->si_status);
	if (pwrite(KEPT_EXIT, text, sizeof text, 0) != sizeof text ||
		rename(c->temporary, c->start->exit_path) < 0)
		_exit(1);
}

// A disk that is full when the task ends must not keep its exit status.
static void make_exit_file(struct child *c)
{
	char text[EXIT_TEXT_BYTES];
	int fd = CAN_FAIL(
		EXEC_END_FILE, open(c->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));

	memset(text, '\n', sizeof text);
	errno = fd < 0 ? errno : ENOSPC;
	bool has_room = fd >= 0 && write(fd, text, sizeof text) == sizeof text;
	c->exit_fd = has_room ? fcntl(fd, F_DUPFD_CLOEXEC, KEPT_LEAST) : -1;
	if (c->exit_fd < 0)
		give_up(c, STAGE_EXIT_FILE);
	close(fd);
}

// Keeps the ends of the pipes from which it reads, as descriptors 0 and 1, the exit file, the task's control group, and
// nothing else.
static void keep_descriptors(struct child *c)
{
	const struct sandbox *sandbox = c->start->sandbox;
	bool has_group = sandbox && sandbox->group >= 0;

	for (int i = 0; i < 2 && !c->start->output_rule.is_disabled; i++)
		CHECK(dup2(c->pipes[i][0], i) == i);
	CHECK(dup2(c->exit_fd, KEPT_EXIT) == KEPT_EXIT);
	CHECK(!has_group || dup2(sandbox->group, KEPT_GROUP) == KEPT_GROUP);
	syscall(SYS_close_range, has_group ? KEPT_GROUP + 1u : KEPT_EXIT + 1u, ~0u, 0u);
	c->ends_fd = orphans_watch();
}

// Takes what there is of an output. False: nobody can write to it any more.
static bool take_output(struct output *o, int pipe)
{
	static char bytes[64 * 1024];
	ssize_t n;

	while ((n = read(pipe, bytes, sizeof bytes)) > 0)
		output_write(o, bytes, (size_t)n);
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

// Until the task is over. A process that it left behind may keep the pipes. Without a descriptor that tells of children
// it is looked for ten times a second: somebody has to take what the task writes.
static void tend_task(struct child *c, pid_t task)
{
	bool is_disabled = c->start->output_rule.is_disabled;
	struct pollfd polled[3] = {{.fd = is_disabled ? -1 : 0, .events = POLLIN},
		{.fd = is_disabled ? -1 : 1, .events = POLLIN},
		{.fd = c->ends_fd, .events = POLLIN}};

	while (!orphans_reap(c->ends_fd, task)) {
		if (poll(polled, 3, c->ends_fd < 0 ? LOOK_MS : -1) < 0 && errno != EINTR)
			break;
		for (int i = 0; i < 2; i++)
			if (polled[i].revents && !take_output(&c->outputs[i], i))
				polled[i].fd = -1;
	}
}

// Kills what the task left: its process group, whatever is in its control group, and what has come to this shim.
static void kill_rest(const struct child *c, pid_t task)
{
	kill(-task, SIGKILL);
	if (c->start->sandbox && c->start->sandbox->group >= 0)
		(void)cgroup_kill(KEPT_GROUP, REST_WAIT_MS);
	(void)orphans_kill(task, REST_WAIT_MS);
}

_Noreturn void shim_run(struct child *c)
{
	siginfo_t info;
	sigset_t all;
	prctl(PR_SET_NAME, "berth-shim");
	sigfillset(&all); // only SIGKILL ends the shim before the task
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	make_pipes(c);
	make_exit_file(c);
	if (orphans_adopt() < 0 ||
		(c->start->sandbox && sandbox_prepare_fork(c->start->sandbox) < 0))
		give_up(c, STAGE_FORK);
	pid_t task = CAN_FAIL(EXEC_TASK, fork());
	if (task < 0)
		give_up(c, STAGE_FORK);
	if (task == 0)
		run_task(c);
	if (!tell_stage(c, STAGE_STARTED, task, -1))
		kill(task, SIGKILL); // nobody will let it go
	keep_descriptors(c);
	tend_task(c, task);
	// Kills the rest before it reaps the task: until then no other process gets its number.
	CHECK(waitid(P_PID, (id_t)task, &info, WEXITED | WNOWAIT) == 0); // no signal comes
	kill_rest(c, task);
	for (int i = 0; i < 2 && !c->start->output_rule.is_disabled; i++)
		(void)take_output(&c->outputs[i], i);
	write_end(c, &info);
	waitid(P_PID, (id_t)task, &info, WEXITED);
	_exit(0);
}
