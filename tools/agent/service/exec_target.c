#include "tools/agent/service/exec_target.h"
#include "state/base/uuid.h"
#include "tools/agent/container/container.h"
#include "tools/agent/exec/exec_session.h"
#include "tools/agent/runner.h"
#include "tools/agent/service/ask_runner.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct search {
	struct uuid id;
	const char *alloc, *task;
	struct exec_target *target;
	uint16_t code;
	char *reason;
	size_t reason_size;
};

__attribute__((format(printf, 3, 4))) static void refuse_target(
	struct search *s, uint16_t code, const char *format, ...)
{
	va_list arguments;
	s->code = code;
	va_start(arguments, format);
	vsnprintf(s->reason, s->reason_size, format, arguments);
	va_end(arguments);
}

// As runner_find(), which is above the service.
static struct alloc_run *find_alloc(const struct runner *runner, const struct uuid *id)
{
	struct alloc_run *a = runner->allocs;
	while (a && !uuid_equal(&a->id, id))
		a = a->next;
	return a;
}

static struct task *find_task(struct alloc_run *a, const char *name)
{
	for (uint32_t i = 0; i < a->task_count; i++)
		if (strcmp(a->tasks[i].spec->name, name) == 0)
			return &a->tasks[i];
	return NULL;
}

// As the task sees them: those of the driver exec have a root of their own.
static void folders_of_task(const struct runner *runner, const struct alloc_run *a,
	const struct task *t, struct task_folders *folders)
{
	if (strcmp(t->spec->driver, "exec") == 0)
		*folders = (struct task_folders){
			.alloc = "/alloc", .local = "/local", .secrets = "/secrets", .task = "/"};
	else
		alloc_run_task_folders(a, t, runner->settings.data_folder, folders);
}

static bool has_process_for_commands(const struct task *t)
{
	return t->process.task > 0 && (t->driver == &driver_raw_exec || t->driver == &driver_exec);
}

// What the driver's own start makes of it, once more.
static void copy_target(
	struct search *s, const struct runner *runner, struct alloc_run *a, const struct task *t)
{
	struct task_folders folders;
	char message[200] = "";
	folders_of_task(runner, a, t, &folders);
	snprintf(s->target->user, sizeof s->target->user, "%s", t->spec->user);
	snprintf(s->target->folder, sizeof s->target->folder, "%s", folders.task);
	s->target->filter = runner->settings.confine ? &runner->settings.confine->filter : NULL;
	s->target->process = (struct process){
		.task = t->process.task, .task_started = t->process.task_started, .fd = -1};
	if (!environment_build(&s->target->environment, &runner->node, a->spec, t->spec, &folders,
		    message, sizeof message))
		refuse_target(s, EXEC_FAILED, "%s", message);
}

static void search_runner(struct runner *runner, void *context)
{
	struct search *s = context;
	struct alloc_run *a = find_alloc(runner, &s->id);
	const struct task *t = a && a->spec ? find_task(a, s->task) : NULL;
	if (!a || !a->spec)
		refuse_target(s, EXEC_REFUSED, "Unknown allocation \"%s\"", s->alloc);
	else if (!*s->task)
		refuse_target(s, EXEC_REFUSED, "must provide task name");
	else if (!t)
		refuse_target(s, EXEC_FAILED, "task not found");
	else if (!task_is_up(t))
		refuse_target(s, EXEC_REFUSED, "task \"%s\" is not running.", s->task);
	else if (!a->is_machine && container_is_of(t->driver))
		s->target->socket = container_find(
			t, &a->id, s->target->container, sizeof s->target->container);
	else if (a->is_machine || !has_process_for_commands(t))
		refuse_target(s, EXEC_FAILED,
			"the driver \"%.40s\" runs no commands inside its tasks", t->spec->driver);
	else
		copy_target(s, runner, a, t);
}

uint16_t exec_target_find(const struct agent_service_settings *settings, const char *alloc,
	const char *task, struct exec_target *target, char *reason, size_t reason_size)
{
	struct search s = {.alloc = alloc,
		.task = task,
		.target = target,
		.reason = reason,
		.reason_size = reason_size};
	*target = (struct exec_target){.process = {.fd = -1}};
	if (!uuid_parse(alloc, &s.id)) {
		refuse_target(&s, EXEC_FAILED,
			"alloc lookup failed: index error: UUID must be 36 characters");
		return s.code;
	}
	int error = ask_runner(settings->ask, search_runner, &s, ASK_RUNNER_WAIT_MS);
	if (error)
		refuse_target(&s, EXEC_FAILED, "%s",
			error == -ESHUTDOWN ? "the node's agent stops"
					    : "the node's agent is too busy to answer; try again");
	return s.code;
}

void exec_target_free(struct exec_target *target)
{
	environment_free(&target->environment);
}
