#include "tools/agent/prepare/helper.h"
#include "tools/agent/base/user.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY_BYTES_MAX (2ull << 30)
#define FILES_OPEN_MAX 64u
#define PROGRAM_NAME "berth-agent"

// What the child does before it becomes the program: nothing that takes a lock, for other threads may hold one.
struct birth {
	int program, request_fd, result_fd, folder;
	bool changes_user;
	struct user user;
	struct rlimit file_size, cpu;
	pid_t parent;
	char *environment[8];
};

static void limit(int resource, rlim_t most)
{
	struct rlimit rule = {most, most};
	if (setrlimit(resource, &rule) < 0)
		_exit(126);
}

static _Noreturn void become_helper(const struct birth *b)
{
	static char name[] = PROGRAM_NAME, argument[] = FETCH_ARGUMENT;
	char *arguments[] = {name, argument, NULL};
	sigset_t none;

	sigemptyset(&none);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (setsid() < 0)
		_exit(126);
	// The descriptors may be among those that they become.
	int request = fcntl(b->request_fd, F_DUPFD_CLOEXEC, 10);
	int result = fcntl(b->result_fd, F_DUPFD_CLOEXEC, 10);
	int folder = fcntl(b->folder, F_DUPFD_CLOEXEC, 10);
	int program = fcntl(b->program, F_DUPFD_CLOEXEC, 10);
	if (dup2(request, FETCH_REQUEST_FD) < 0 || dup2(result, FETCH_RESULT_FD) < 0 ||
		dup2(folder, FETCH_FOLDER_FD) < 0)
		_exit(126);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, FILES_OPEN_MAX);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
	limit(RLIMIT_AS, MEMORY_BYTES_MAX);
#endif
	limit(RLIMIT_FSIZE, b->file_size.rlim_cur);
	limit(RLIMIT_CPU, b->cpu.rlim_cur);
	if (b->changes_user &&
		(setgroups(0, NULL) < 0 || setgid(b->user.gid) < 0 || setuid(b->user.uid) < 0))
		_exit(126);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
		getppid() != b->parent)
		_exit(126);
	syscall(SYS_execveat, program, "", arguments, b->environment, AT_EMPTY_PATH);
	_exit(126);
}

static int find_owner(const char *name, struct birth *b, char *message, uint32_t message_size)
{
	if (!*name)
		return 0;
	int error = user_find(name, &b->user, message, message_size);
	b->changes_user = b->user.uid != geteuid();
	return error;
}

// Of the agent's environment it has what says how to reach servers.
static void choose_environment(struct birth *b)
{
	static const char *const names[] = {"http_proxy=", "https_proxy=", "HTTPS_PROXY=",
		"no_proxy=", "NO_PROXY=", "SSL_CERT_FILE="};
	extern char **environ;
	uint32_t count = 0;

	for (char **at = environ; at && *at; at++)
		for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
			if (strncmp(*at, names[i], strlen(names[i])) == 0 &&
				count + 1 < sizeof b->environment / sizeof b->environment[0])
				b->environment[count++] = *at;
}

// The request in memory, from its beginning.
static int write_request(const struct fetch_request *request)
{
	json_t *json = fetch_request_write(request);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	int fd = text ? memfd_create("fetch-request", MFD_CLOEXEC) : -1;

	if (fd >= 0 && (write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
			       lseek(fd, 0, SEEK_SET) < 0)) {
		close(fd);
		fd = -1;
	}
	free(text);
	json_decref(json);
	return fd;
}

static int give_birth(struct helper *h, struct birth *b, char *message, uint32_t message_size)
{
	int pipes[2];

	if (b->request_fd < 0 || pipe2(pipes, O_CLOEXEC) < 0) {
		snprintf(message, message_size, "cannot make a pipe: %m");
		return -EMFILE;
	}
	b->result_fd = pipes[1];
	b->parent = getpid();
	pid_t pid = fork();
	if (pid == 0)
		become_helper(b);
	close(pipes[1]);
	h->pid = pid > 0 ? pid : 0;
	h->result_fd = pipes[0];
	h->fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (h->fd >= 0)
		return 0;
	snprintf(message, message_size, "cannot begin a process: %m");
	helper_stop(h);
	return -EAGAIN;
}

int helper_start(struct helper *h, int program, const struct fetch_request *request, int folder,
	const char *user, char *message, uint32_t message_size)
{
	struct birth b = {.program = program,
		.folder = folder,
		.file_size = {.rlim_cur = request->bytes_max},
		.cpu = {.rlim_cur = request->timeout_s}};

	*h = HELPER_NONE;
	int error = find_owner(user, &b, message, message_size);
	if (error)
		return error;
	choose_environment(&b);
	b.request_fd = write_request(request);
	error = give_birth(h, &b, message, message_size);
	if (b.request_fd >= 0)
		close(b.request_fd);
	return error;
}

static void read_result(struct helper *h, int status, struct fetch_result *result)
{
	char text[FETCH_RESULT_BYTES_MAX + 1];
	ssize_t size = read(h->result_fd, text, sizeof text - 1);
	json_t *json = size > 0 ? json_loadb(text, (size_t)size, 0, NULL) : NULL;
	const char *message = json_string_value(json_object_get(json, "Message"));

	*result = (struct fetch_result){.is_done = json_is_true(json_object_get(json, "Done")),
		.may_help = json_is_true(json_object_get(json, "MayHelp"))};
	snprintf(result->message, sizeof result->message, "%s", message ? message : "");
	if (!json && WIFSIGNALED(status)) {
		result->may_help = true;
		snprintf(result->message, sizeof result->message,
			"what fetches it was ended by signal %d, having taken too much time or "
			"room",
			WTERMSIG(status));
	} else if (!json) {
		result->may_help = true;
		snprintf(result->message, sizeof result->message,
			"what fetches it could not begin (exit code %d)", WEXITSTATUS(status));
	}
	json_decref(json);
}

static void close_helper(struct helper *h)
{
	if (h->fd >= 0)
		close(h->fd);
	if (h->result_fd >= 0)
		close(h->result_fd);
	*h = HELPER_NONE;
}

bool helper_ended(struct helper *h, struct fetch_result *result)
{
	struct pollfd polled = {.fd = h->fd, .events = POLLIN};
	int status = 0;

	if (h->pid == 0 || poll(&polled, 1, 0) <= 0)
		return false;
	while (waitpid(h->pid, &status, 0) < 0 && errno == EINTR)
		;
	read_result(h, status, result);
	close_helper(h);
	return true;
}

void helper_stop(struct helper *h)
{
	if (h->pid > 0) {
		kill(h->pid, SIGKILL);
		while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close_helper(h);
}
