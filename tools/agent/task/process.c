#include "tools/agent/task/process.h"
#include "state/base/bytes.h"
#include "state/base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
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
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	// The 20th field behind the name, which may hold any character.
	char *at = strrchr(text, ')');
	for (int i = 0; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

// What the shim sends the agent through a pipe before it goes on alone.
struct news {
	int32_t stage; // enum stage
	int32_t value; // pid, or errno
};
enum stage { STAGE_STARTED, STAGE_FORK, STAGE_FOLDER, STAGE_OUTPUT, STAGE_USER, STAGE_EXEC };
static const char *const stage_texts[] = {
	"", "fork", "change to the task's folder", "open its output", "become its user", "run"};

struct child {
	const struct process_start *start;
	char **candidates; // paths of the program, NULL-ended
	char temporary[600];
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int group_count; // -1: keep the agent's user
	int news_fd;
	struct output outputs[2]; // standard output and error
	int pipes[2][2];          // from the task to the shim, unless outputs are disabled
	int go[2];                // the agent sends a byte once it has stored what was started
};

static void tell_stage(const struct child *c, enum stage stage, int value)
{
	struct news news = {stage, value};
	while (write(c->news_fd, &news, sizeof news) < 0 && errno == EINTR)
		;
}

static _Noreturn void give_up(const struct child *c, enum stage stage)
{
	tell_stage(c, stage, errno);
	_exit(127);
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
		if (!c->start->output_rule.is_disabled && pipe2(c->pipes[i], O_CLOEXEC) < 0)
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
	if (setsid() < 0)
		give_up(c, STAGE_FORK);
	if (input < 0 || dup2(input, 0) < 0)
		give_up(c, STAGE_OUTPUT);
	open_output(c, 0);
	open_output(c, 1);
	if (chdir(c->start->folder) < 0)
		give_up(c, STAGE_FOLDER);
	if (c->group_count >= 0 && (setgroups((size_t)c->group_count, c->groups) < 0 ||
					   setgid(c->gid) < 0 || setuid(c->uid) < 0))
		give_up(c, STAGE_USER);
	char go;
	close(c->go[1]);
	if (read(c->go[0], &go, 1) != 1)
		_exit(127); // nobody knows this process
	if (c->start->kept_fd > 0 && fcntl(c->start->kept_fd, F_SETFD, 0) < 0)
		give_up(c, STAGE_OUTPUT);
	umask(022);
	int error = ENOENT;
	for (char **path = c->candidates; *path; path++) {
		execve(*path, c->start->arguments, c->start->environment);
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
	char text[40], *at = text;
	at = put_number(at, info->si_code == CLD_EXITED ? info->si_status : 0);
	*at++ = ' ';
	at = put_number(at, info->si_code == CLD_EXITED ? 0 : info->si_status);
	*at++ = '\n';
	int fd = open(c->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, (size_t)(at - text)) != at - text)
		_exit(1);
	close(fd);
	if (rename(c->temporary, c->start->exit_path) < 0)
		_exit(1);
}

// Keeps the ends of the pipes from which it reads, as descriptors 0 and 1, and nothing else.
static void keep_pipes(const struct child *c)
{
	unsigned kept = c->start->output_rule.is_disabled ? 0 : 2;

	for (unsigned i = 0; i < kept; i++)
		if (dup2(c->pipes[i][0], (int)i) < 0 || fcntl((int)i, F_SETFL, O_NONBLOCK) < 0)
			_exit(1);
	syscall(SYS_close_range, kept, ~0u, 0u);
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

// Until the task is over, and then once more for what it wrote last. A process that it left behind may keep the pipe.
static void take_outputs(struct child *c, pid_t task)
{
	int pidfd = (int)syscall(SYS_pidfd_open, task, 0);
	struct pollfd polled[3] = {{.fd = 0, .events = POLLIN}, {.fd = 1, .events = POLLIN},
		{.fd = pidfd, .events = POLLIN}};

	while (pidfd >= 0 && polled[2].revents == 0) {
		if (poll(polled, 3, -1) < 0 && errno != EINTR)
			break;
		for (int i = 0; i < 2; i++)
			if (polled[i].revents && !take_output(&c->outputs[i], i))
				polled[i].fd = -1;
	}
	close(pidfd);
}

static _Noreturn void run_shim(struct child *c)
{
	siginfo_t info;
	sigset_t all;
	prctl(PR_SET_NAME, "berth-shim");
	sigfillset(&all); // only SIGKILL ends the shim before the task
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	make_pipes(c);
	pid_t task = fork();
	if (task < 0)
		give_up(c, STAGE_FORK);
	if (task == 0)
		run_task(c);
	tell_stage(c, STAGE_STARTED, task);
	keep_pipes(c);
	if (!c->start->output_rule.is_disabled)
		take_outputs(c, task);
	// Kills the group before it reaps the task: until then no other process gets its number.
	while (waitid(P_PID, (id_t)task, &info, WEXITED | WNOWAIT) < 0)
		if (errno != EINTR)
			_exit(1);
	kill(-task, SIGKILL);
	for (int i = 0; i < 2 && !c->start->output_rule.is_disabled; i++)
		(void)take_output(&c->outputs[i], i);
	write_end(c, &info);
	waitid(P_PID, (id_t)task, &info, WEXITED);
	_exit(0);
}

static int find_user(const char *name, struct child *c, char *message, uint32_t message_size)
{
	char buffer[4096];
	struct passwd entry, *found;
	c->group_count = -1;
	if (!*name)
		return 0;
	if (getpwnam_r(name, &entry, buffer, sizeof buffer, &found) != 0 || !found) {
		snprintf(message, message_size, "there is no user \"%.64s\" on this node", name);
		return -ENOENT;
	}
	if (entry.pw_uid == geteuid())
		return 0;
	c->uid = entry.pw_uid;
	c->gid = entry.pw_gid;
	c->group_count = 64;
	c->groups = memory_take_array(64, sizeof c->groups[0]);
	if (getgrouplist(name, c->gid, c->groups, &c->group_count) < 0)
		c->group_count = 1;
	return 0;
}

int process_give_file(int folder, const char *name, const char *user)
{
	char buffer[4096];
	struct passwd entry, *found;
	if (!*user || geteuid() != 0 ||
		getpwnam_r(user, &entry, buffer, sizeof buffer, &found) != 0 || !found)
		return 0; // the start will report the error
	int error = fchownat(folder, name, entry.pw_uid, entry.pw_gid, AT_SYMLINK_NOFOLLOW);
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
	free(c->groups);
}

static void let_go(const struct child *c)
{
	if (c->start->started)
		c->start->started(c->start->context);
	while (write(c->go[1], "", 1) < 0 && errno == EINTR)
		;
}

// Waits until the task runs its program or failed to: then the other ends of the pipe are closed.
static int await_start(
	const struct child *c, int fd, struct process *p, char *message, uint32_t message_size)
{
	struct news news;
	int error = 0;
	ssize_t n;
	p->task = 0;
	while ((n = read(fd, &news, sizeof news)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof news)
			break;
		if (news.stage == STAGE_STARTED) {
			p->task = news.value;
			p->task_started = process_started(p->task);
			let_go(c);
			continue;
		}
		error = -news.value;
		snprintf(message, message_size, "cannot %s %.200s: %s", stage_texts[news.stage],
			news.stage == STAGE_EXEC ? c->start->arguments[0] : "",
			strerror(news.value));
	}
	if (!error && p->task == 0) {
		snprintf(message, message_size, "the task's shim died");
		error = -ECHILD;
	}
	return error;
}

int process_start(
	const struct process_start *start, struct process *p, char *message, uint32_t message_size)
{
	struct child c = {.start = start};
	int pipes[2];
	*p = (struct process){.fd = -1};
	snprintf(c.temporary, sizeof c.temporary, "%s.new", start->exit_path);
	int error = find_user(start->user, &c, message, message_size);
	if (error)
		return error;
	if (pipe2(pipes, O_CLOEXEC) < 0 || pipe2(c.go, O_CLOEXEC) < 0) {
		snprintf(message, message_size, "pipe: %m");
		child_free(&c);
		return -EMFILE;
	}
	unlink(start->exit_path);
	output_find(&c.outputs[0], start->output_path, &start->output_rule);
	output_find(&c.outputs[1], start->error_path, &start->output_rule);
	c.candidates = find_candidates(start);
	c.news_fd = pipes[1];
	pid_t shim = fork();
	if (shim == 0)
		run_shim(&c);
	close(pipes[1]);
	if (shim < 0) {
		error = -errno;
		snprintf(message, message_size, "fork: %m");
	} else {
		p->shim = shim;
		p->is_child = true;
		p->shim_started = process_started(shim);
		p->fd = (int)syscall(SYS_pidfd_open, shim, 0);
		error = await_start(&c, pipes[0], p, message, message_size);
	}
	close(pipes[0]);
	close(c.go[0]);
	close(c.go[1]);
	child_free(&c);
	if (error && shim > 0) // the shim ends by itself
		(void)process_end_of(p, start->exit_path);
	return error;
}

static bool is_over(const struct process *p)
{
	struct pollfd polled = {.fd = p->fd, .events = POLLIN};
	return p->fd < 0 || poll(&polled, 1, 0) != 0;
}

bool process_attach(struct process *p)
{
	p->is_child = false;
	p->fd = -1;
	if (p->shim > 0 && process_started(p->shim) == p->shim_started)
		p->fd = (int)syscall(SYS_pidfd_open, p->shim, 0);
	// Another process may have had the number by then.
	if (p->fd >= 0 && process_started(p->shim) != p->shim_started) {
		close(p->fd);
		p->fd = -1;
	}
	if (p->fd >= 0)
		return true;
	if (p->task > 0 && p->task_started > 0 && process_started(p->task) == p->task_started)
		kill(-p->task, SIGKILL);
	return false;
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
		close(p->fd);
	FILE *file = fopen(exit_path, "re");
	if (file) {
		end.is_known = fscanf(file, "%d %d", &end.exit_code, &end.signal) == 2;
		fclose(file);
	} else if (p->is_child && p->task > 0) {
		// The shim was killed; its task must not run on without it.
		if (process_started(p->task) == p->task_started)
			kill(-p->task, SIGKILL);
	}
	*p = (struct process){.fd = -1};
	return end;
}
