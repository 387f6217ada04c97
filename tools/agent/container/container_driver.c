#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/agent/container/container_news.h"
#include "tools/agent/container/container_plan.h"
#include "tools/agent/container/container_run.h"
#include "tools/agent/task/spec.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEWS_POLL_NS (100 * (int64_t)NS_PER_MS)

static const struct container_settings *settings;

void container_configure(const struct container_settings *given)
{
	settings = given;
}

static enum container_engine engine_of(const struct task *t)
{
	return t->driver == &driver_docker ? ENGINE_DOCKER : ENGINE_PODMAN;
}

// The plan in memory, as it holds secrets. A descriptor above the standard ones, or -errno.
static int hand_over(const json_t *plan)
{
	char *text = spec_dump(plan);
	int fd = memfd_create("container", MFD_CLOEXEC);
	size_t size = strlen(text);
	int error = fd < 0 ? -errno : 0;
	if (!error && write(fd, text, size) != (ssize_t)size)
		error = -ENOMEM;
	if (error && fd >= 0)
		close(fd);
	free(text);
	return error ? error : fd;
}

static int run_plan(const json_t *plan, struct task *t, const struct task_start *start,
	char *message, uint32_t message_size)
{
	char number[16], run[] = CONTAINER_RUN, path[] = "PATH=/usr/bin:/bin";
	char *program = text_copy(text_of(settings->program));
	char *const arguments[] = {program, run, number, NULL};
	char *const environment[] = {path, NULL};
	int fd = hand_over(plan);
	snprintf(number, sizeof number, "%d", fd);
	struct process_start process = {.arguments = arguments,
		.environment = environment,
		.folder = "/",
		.output_path = start->output_path,
		.error_path = start->error_path,
		.output_rule = t->spec->output_rule,
		.exit_path = start->exit_path,
		.user = "",
		.kept_fd = fd,
		.started = start->started,
		.context = start->context};
	int error = fd;
	if (fd < 0)
		snprintf(message, message_size, "the container's plan: %s", strerror(-fd));
	else
		error = process_start(&process, &t->process, message, message_size);
	if (fd >= 0)
		close(fd);
	free(program);
	return error;
}

bool container_is_of(const struct driver *driver)
{
	return driver == &driver_docker || driver == &driver_podman;
}

const char *container_find(
	const struct task *t, const struct uuid *alloc, char *name, size_t name_size)
{
	char full[CONTAINER_NAME_BYTES];
	container_name(full, t->spec->name, alloc);
	snprintf(name, name_size, "%s", full);
	return settings ? settings->sockets[engine_of(t)] : "";
}

static int start_container_task(struct task *t, const struct task_start *start, char *message,
	uint32_t message_size, bool *recoverable)
{
	*recoverable = false;
	if (!settings || !*settings->sockets[engine_of(t)]) {
		snprintf(message, message_size, "this agent was not given the socket of %s",
			t->driver->name);
		return -EINVAL;
	}
	json_t *plan = container_plan(settings, engine_of(t), t, start, message, message_size);
	if (!plan)
		return -EINVAL;
	container_news_forget(start->exit_path);
	t->news = 0;
	t->is_starting = true;
	int error = run_plan(plan, t, start, message, message_size);
	json_decref(plan);
	*recoverable = error == -EAGAIN || error == -ENOMEM || error == -EMFILE;
	t->is_starting = error == 0;
	t->poll_ns = start->now_ns + NEWS_POLL_NS;
	return error;
}

static void signal_container(struct task *t, int number, int64_t now_ns)
{
	(void)now_ns;
	process_signal(&t->process, container_signal_coded(number));
}

// Whether a line of news counts only once the task's process has ended.
static bool is_of_the_end(enum container_news kind)
{
	return kind != NEWS_STARTED && kind != NEWS_NOTE;
}

static void take_news(struct task *t, enum container_news kind, const char *text, int64_t now_ns)
{
	if (kind == NEWS_STARTED)
		task_has_started(t, now_ns);
	else if (kind == NEWS_NOTE)
		task_note(t, now_ns, 0, "Driver", "%s", text);
}

static bool read_news(struct task *t, const struct task_start *start)
{
	enum container_news kind;
	char text[NEWS_TEXT_BYTES];
	t->poll_ns = t->is_starting ? start->now_ns + NEWS_POLL_NS : 0;
	if (!t->is_starting || !container_news_read(start->exit_path, t->news, &kind, text) ||
		is_of_the_end(kind))
		return false;
	t->news++;
	take_news(t, kind, text, start->now_ns);
	return true;
}

// The process of a container that it no longer follows, because that process was killed, is followed by one that only
// removes it. Nobody waits for it: the process between is over at once. False: it cannot be begun.
static bool remove_orphan(const struct task *t, const char *name)
{
	char number[16], run[] = CONTAINER_RUN, title[] = "berth-container";
	char *const arguments[] = {title, run, number, NULL};
	char *const environment[] = {NULL};
	json_t *plan = json_pack("{s:s s:s s:b}", "Socket", settings->sockets[engine_of(t)], "Name",
		name, "Removes", true);
	int fd = hand_over(plan);
	json_decref(plan);
	if (fd < 0)
		return false;
	snprintf(number, sizeof number, "%d", fd);
	pid_t between = fork();
	if (between == 0) {
		if (fork() == 0 && setsid() > 0 && fcntl(fd, F_SETFD, 0) == 0)
			execve(settings->program, arguments, environment);
		_exit(0);
	}
	if (between > 0)
		waitpid(between, NULL, 0);
	close(fd);
	return between > 0;
}

static void remove_if_left(
	const struct task *t, const char *exit_path, const struct process_end *how)
{
	enum container_news kind;
	char text[NEWS_TEXT_BYTES];
	if (!settings || (how->is_known && how->signal == 0))
		return; // it has removed its container itself
	for (uint32_t i = 0; container_news_read(exit_path, i, &kind, text); i++)
		if (kind == NEWS_STARTED && !remove_orphan(t, text))
			log_warn("container-not-removed", "name=%s", text);
}

// Reads what is left of the news.
static void judge_container(
	struct task *t, const char *exit_path, struct process_end *how, int64_t now_ns)
{
	enum container_news kind;
	char text[NEWS_TEXT_BYTES];
	for (; container_news_read(exit_path, t->news, &kind, text); t->news++) {
		take_news(t, kind, text, now_ns);
		how->is_oom |= kind == NEWS_OOM;
		how->is_nodes_fault |= kind == NEWS_LOST;
		if (kind != NEWS_FAILED && kind != NEWS_REFUSED && kind != NEWS_LOST)
			continue;
		task_note(t, now_ns, 0, "Driver Failure", "%s", text);
		how->beginning = kind == NEWS_REFUSED ? TASK_NEVER_BEGINS : TASK_NOT_BEGUN;
	}
	remove_if_left(t, exit_path, how);
	container_news_forget(exit_path);
}

#define CONTAINER_DRIVER(engine)                                                           \
	{                                                                                  \
		.name = engine, .start = start_container_task, .signal = signal_container, \
		.turn = read_news, .judge = judge_container,                               \
	}
const struct driver driver_docker = CONTAINER_DRIVER("docker");
const struct driver driver_podman = CONTAINER_DRIVER("podman");
