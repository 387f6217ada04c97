#include "tools/agent/script/script.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/agent/base/quiet_thread.h"
#include "tools/agent/confine/confine.h"
#include "tools/agent/container/container.h"
#include "tools/agent/script/script_inner.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

bool script_may_run_in(const struct driver *driver)
{
	return driver == &driver_raw_exec || driver == &driver_exec || driver == &driver_mock ||
	       container_is_of(driver);
}

void script_keep_output(struct script *s, const char *bytes, size_t size)
{
	struct script_end *end = &s->end;
	size_t room = SCRIPT_OUTPUT_BYTES - end->size, taken = size < room ? size : room;
	memcpy(end->output + end->size, bytes, taken);
	end->size += (uint32_t)taken;
}

uint64_t script_left_ms(const struct script *s)
{
	uint64_t now_ns = time_monotonic_ns(&time_source_real);
	return now_ns < s->deadline_ns ? (s->deadline_ns - now_ns) / NS_PER_MS + 1 : 0;
}

static void add_one_to(int fd)
{
	uint64_t one = 1;
	while (write(fd, &one, sizeof one) < 0 && errno == EINTR)
		;
}

static void *script_thread(void *context)
{
	struct script *s = context;
	int wake_fd = s->wake_fd;
	if (s->socket)
		script_run_in_container(s);
	else
		script_run_beside_process(s);
	s->end.output[s->end.size] = '\0';
	atomic_store(&s->is_over, true);
	add_one_to(wake_fd);
	return NULL;
}

// A pretended task has no process: its scripts run beside the agent's.
static struct process process_of(const struct task *t)
{
	pid_t pid = t->driver == &driver_mock ? getpid() : t->process.task;
	uint64_t started =
		t->driver == &driver_mock ? process_started(pid) : t->process.task_started;
	return (struct process){.task = pid, .task_started = started, .fd = -1};
}

void script_folders(
	const struct task *t, const struct task_folders *on_node, struct task_folders *folders)
{
	*folders = *on_node;
	if (t->driver == &driver_exec || container_is_of(t->driver))
		*folders = (struct task_folders){
			.alloc = "/alloc", .local = "/local", .secrets = "/secrets", .task = "/"};
	folders->variables = t->variables;
}

static bool take_place(
	struct script *s, const struct script_start *start, char *message, uint32_t message_size)
{
	const struct task *t = start->task;
	struct task_folders folders;
	script_folders(t, start->folders, &folders);
	snprintf(s->user, sizeof s->user, "%s", t->spec->user);
	snprintf(s->folder, sizeof s->folder, "%s", folders.task);
	s->process = process_of(t);
	s->filter = start->confine ? &start->confine->filter : NULL;
	return environment_build(&s->environment, start->node, start->alloc, t->spec, &folders,
		message, message_size);
}

static char **copy_arguments(char *const *arguments)
{
	size_t count = 0;
	while (arguments[count])
		count++;
	char **copy = memory_take_array(count + 1, sizeof copy[0]);
	for (size_t i = 0; i < count; i++)
		copy[i] = text_copy(text_of(arguments[i]));
	copy[count] = NULL;
	return copy;
}

static void script_free(struct script *s)
{
	for (char **at = s->arguments; *at; at++)
		free(*at);
	free(s->arguments);
	environment_free(&s->environment);
	if (s->stop_fd >= 0)
		close(s->stop_fd);
	free(s);
}

struct script *script_begin(const struct script_start *start, char *message, uint32_t message_size)
{
	struct script *s = memory_take(sizeof *s);
	*s = (struct script){.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.wake_fd = start->wake_fd,
		.arguments = copy_arguments(start->arguments),
		.deadline_ns = time_monotonic_ns(&time_source_real) + (uint64_t)start->timeout_ns};
	bool is_ready = true;
	if (container_is_of(start->task->driver))
		s->socket = container_find(
			start->task, &start->alloc->id, s->container, sizeof s->container);
	else
		is_ready = take_place(s, start, message, message_size);
	int error = !is_ready        ? 0
		    : s->stop_fd < 0 ? EMFILE
				     : quiet_thread_begin(&s->thread, script_thread, s);
	if (error)
		snprintf(message, message_size, "cannot begin a thread: %s", strerror(error));
	if (is_ready && !error)
		return s;
	script_free(s);
	return NULL;
}

void script_stop(struct script *s)
{
	add_one_to(s->stop_fd);
}

bool script_is_over(const struct script *s)
{
	return atomic_load(&s->is_over);
}

void script_finish(struct script *s, struct script_end *end)
{
	pthread_join(s->thread, NULL);
	if (end)
		*end = s->end;
	script_free(s);
}
