#include "tools/agent/task/process.h"
#include "state/base/bytes.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "tools/agent/task/shim.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int signal_number(const char *name)
{
	char full[32];
	snprintf(full, sizeof full, "%s", strncmp(name, "SIG", 3) == 0 ? name + 3 : name);
	for (int i = 1; i < NSIG; i++) {
		const char *known = sigabbrev_np(i);
		if (known && strcmp(known, full) == 0)
			return i;
	}
	return 0;
}

uint64_t process_started(pid_t pid)
{
	char path[64], text[1024];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	int error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	if (n <= 0)
		return 0;
	text[n] = '\0';
	// The 20th field behind the name, which may hold any character.
	char *at = strrchr(text, ')');
	for (int i = 0; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

int process_is_there(pid_t pid, uint64_t started)
{
	uint64_t its = pid > 0 ? process_started(pid) : 0;

	if (pid > 0 && its == 0 && errno != ENOENT && errno != ESRCH)
		return -errno;
	return its > 0 && its == started;
}

static const char *const stage_texts[] = {"", "fork", "change to the task's folder",
	"open its output", "become its user", "run", "make room for its exit status",
	"enter its control group", "make its file system", "give up privileges"};

static int find_user(const char *name, struct child *c, char *message, uint32_t message_size)
{
	if (!*name)
		return 0;
	int error = user_find_with_groups(name, &c->user, message, message_size);
	c->changes_user = c->user.uid != geteuid();
	return error;
}

int process_give_file(int folder, const char *name, const char *user)
{
	char message[200];
	struct user owner;
	if (!*user || geteuid() != 0)
		return 0;
	int error = user_find(user, &owner, message, sizeof message);
	if (error)
		return error == -ENOENT ? 0 : error; // of who is none the start tells
	error = fchownat(folder, name, owner.uid, owner.gid, AT_SYMLINK_NOFOLLOW);
	return error < 0 ? -errno : 0;
}

static const char *path_of(char *const *environment)
{
	for (; *environment; environment++)
		if (strncmp(*environment, "PATH=", 5) == 0)
			return *environment + 5;
	return "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
}

// Searches PATH as execvp does, but before the fork. Names with a slash are taken as they are.
static char **find_candidates(const struct process_start *start)
{
	const char *name = start->arguments[0], *path = path_of(start->environment);
	uint32_t count = 0, most = 2;
	for (const char *at = path; *at; at++)
		most += *at == ':';
	char **candidates = memory_take_array(most + 1, sizeof candidates[0]);
	if (strchr(name, '/')) {
		candidates[0] = text_copy(text_of(name));
		return candidates;
	}
	while (*path) {
		size_t size = strcspn(path, ":");
		struct bytes_writer w = bytes_writer_growing(64);
		bytes_put(&w, size ? path : ".", size ? size : 1);
		bytes_put_u8(&w, '/');
		bytes_put(&w, name, strlen(name) + 1);
		candidates[count++] = (char *)w.data;
		path += size + (path[size] == ':');
	}
	return candidates;
}

static void child_free(struct child *c)
{
	for (char **at = c->candidates; at && *at; at++)
		free(*at);
	free(c->candidates);
	user_free(&c->user);
}

static void close_pipe(const int pipe[2])
{
	for (int i = 0; i < 2; i++)
		if (pipe[i] >= 0)
			close(pipe[i]);
}

// Without the byte the child ends. Its shim is not to write how: the file may still hold an earlier run's end, which
// could not be stored either.
static int let_go(const struct child *c, struct process *p, char *message, uint32_t message_size)
{
	const char *what = "look at";
	int error;

	p->task_started = process_started(p->task);
	error = p->task_started ? 0 : -errno;
	if (!error && c->start->started) {
		what = "store";
		error = c->start->started(c->start->context);
	}
	if (!error) {
		what = "begin";
		unlink(c->start->exit_path); // of an earlier run, which is stored now
		error = write(c->go[1], "", 1) == 1 ? 0 : -errno;
	}
	if (error)
		snprintf(message, message_size, "cannot %s what was started: %s", what,
			strerror(-error));
	return error;
}

// Waits until the task runs its program or failed to: then the other ends of the pipe are closed.
static int await_start(
	const struct child *c, int fd, struct process *p, char *message, uint32_t message_size)
{
	struct news news;
	int error = 0, not_begun = 0;
	ssize_t n;
	p->task = 0;
	while ((n = read(fd, &news, sizeof news)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof news)
			break;
		if (news.stage == STAGE_STARTED) {
			p->task = news.value;
			if (error)
				continue; // it failed before its shim could tell of it
			not_begun = let_go(c, p, message, message_size);
			if (not_begun)
				kill(p->shim, SIGKILL);
			if (not_begun && not_begun != -ENOENT && not_begun != -ESRCH)
				return not_begun;
			continue; // who is not there any more has told why
		}
		error = -news.value;
		snprintf(message, message_size, "cannot %s%s%.200s: %s", stage_texts[news.stage],
			news.stage == STAGE_EXEC || news.row >= 0 ? " " : "",
			news.stage == STAGE_EXEC ? c->start->arguments[0]
						 : sandbox_row_target(c->start->sandbox, news.row),
			strerror(news.value));
	}
	if (!error)
		error = not_begun;
	if (!error && p->task == 0) {
		snprintf(message, message_size, "the task's shim died");
		error = -ECHILD;
	}
	return error;
}

// Of a shim that nobody watches, or finds again, the end would not be seen: it is killed, and the task that waits for
// the byte ends.
static int watch_shim(struct process *p, char *message, uint32_t message_size)
{
	p->shim_started = process_started(p->shim);
	if (p->shim_started)
		p->fd = CAN_FAIL(EXEC_WATCH, (int)syscall(SYS_pidfd_open, p->shim, 0));
	if (p->fd >= 0)
		return 0;
	int error = -errno;
	snprintf(message, message_size, "cannot watch the task's shim: %m");
	kill(p->shim, SIGKILL);
	return error;
}

// Where the task's output goes on.
static int find_outputs(
	const struct process_start *start, struct child *c, char *message, uint32_t message_size)
{
	int error = output_find(&c->outputs[0], start->output_path, &start->output_rule);
	if (!error)
		error = output_find(&c->outputs[1], start->error_path, &start->output_rule);
	if (error)
		snprintf(message, message_size, "cannot list the files of the task's output: %s",
			strerror(-error));
	return error;
}

int process_start(
	const struct process_start *start, struct process *p, char *message, uint32_t message_size)
{
	struct child c = {.start = start, .go = {-1, -1}};
	int pipes[2] = {-1, -1};
	*p = (struct process){.fd = -1};
	snprintf(c.temporary, sizeof c.temporary, "%s.new", start->exit_path);
	int error = find_user(start->user, &c, message, message_size);
	if (!error)
		error = find_outputs(start, &c, message, message_size);
	if (error) {
		child_free(&c);
		return error;
	}
	if (CAN_FAIL(EXEC_PIPE, pipe2(pipes, O_CLOEXEC)) < 0 ||
		CAN_FAIL(EXEC_PIPE, pipe2(c.go, O_CLOEXEC)) < 0) {
		error = -errno;
		snprintf(message, message_size, "pipe: %m");
		close_pipe(pipes);
		child_free(&c);
		return error;
	}
	c.candidates = find_candidates(start);
	c.news_fd = pipes[1];
	pid_t shim = CAN_FAIL(EXEC_FORK, fork());
	if (shim == 0)
		shim_run(&c);
	close(pipes[1]);
	if (shim < 0) {
		error = -errno;
		snprintf(message, message_size, "fork: %m");
	} else {
		p->shim = shim;
		p->is_child = true;
		error = watch_shim(p, message, message_size);
		if (!error)
			error = await_start(&c, pipes[0], p, message, message_size);
	}
	close(pipes[0]);
	close_pipe(c.go);
	child_free(&c);
	if (error && shim > 0) { // the shim ends by itself
		(void)process_end_of(p, start->exit_path);
		unlink(c.temporary);
	}
	return error;
}

static bool is_over(const struct process *p)
{
	struct pollfd polled = {.fd = p->fd, .events = POLLIN};
	return p->fd < 0 || poll(&polled, 1, 0) != 0;
}

static int attach_shim(struct process *p)
{
	int is_there = process_is_there(p->shim, p->shim_started);

	if (is_there <= 0)
		return is_there;
	p->fd = (int)syscall(SYS_pidfd_open, p->shim, 0);
	if (p->fd < 0)
		return errno == ESRCH ? 0 : -errno;
	// Another process may have had the number by then.
	is_there = process_is_there(p->shim, p->shim_started);
	if (is_there <= 0) {
		close(p->fd);
		p->fd = -1;
	}
	return is_there;
}

int process_attach(struct process *p)
{
	p->is_child = false;
	p->fd = -1;
	int is_there = attach_shim(p);
	if (is_there == 0 && process_is_there(p->task, p->task_started) > 0)
		kill(-p->task, SIGKILL);
	return is_there;
}

void process_signal(const struct process *p, int number)
{
	if (p->task > 0 && !is_over(p))
		kill(-p->task, number);
}

struct process_end process_end_of(struct process *p, const char *exit_path)
{
	struct process_end end = {0};
	siginfo_t info;
	if (p->is_child && p->shim > 0)
		while (waitid(P_PID, (id_t)p->shim, &info, WEXITED) < 0 && errno == EINTR)
			;
	if (p->fd >= 0)
		close(p->fd); // so that there is one for the file
	FILE *file = fopen(exit_path, "re");
	if (file) {
		end.is_known = fscanf(file, "%d %d", &end.exit_code, &end.signal) == 2;
		fclose(file);
	} else if (p->is_child && process_is_there(p->task, p->task_started) > 0) {
		// The shim was killed; its task must not run on without it.
		kill(-p->task, SIGKILL);
	}
	*p = (struct process){.fd = -1};
	return end;
}
