#include "tools/agent/service/alloc_look.h"
#include "state/base/memory.h"
#include "tools/agent/runner.h"
#include "tools/agent/service/ask_runner.h"
#include <errno.h>
#include <stdio.h>

struct look {
	struct uuid id;
	struct alloc_look *found;
};

static void copy_task(struct task_look *look, const struct task *t)
{
	snprintf(look->name, sizeof look->name, "%s", t->spec->name);
	look->has_started = t->has_run;
	look->is_up = task_is_up(t);
	look->process = task_is_up(t) ? t->process.task : 0;
	look->process_started = t->process.task_started;
}

static void look_at_alloc(struct runner *runner, void *context)
{
	struct look *look = context;
	for (const struct alloc_run *a = runner->allocs; a; a = a->next) {
		if (!uuid_equal(&a->id, &look->id) || !a->spec)
			continue;
		look->found = memory_take(
			sizeof *look->found + a->task_count * sizeof look->found->tasks[0]);
		look->found->id = a->id;
		look->found->task_count = a->task_count;
		for (uint32_t i = 0; i < a->task_count; i++)
			copy_task(&look->found->tasks[i], &a->tasks[i]);
		return;
	}
}

bool alloc_look_id(const struct service_request *request, struct uuid *id, unsigned *status,
	struct MHD_Response **refusal)
{
	if (uuid_parse(request->id, id))
		return true;
	*refusal = *request->id ? service_say(status, MHD_HTTP_INTERNAL_SERVER_ERROR,
					  "alloc lookup failed: index error: UUID must be 36 "
					  "characters")
				: service_say(status, MHD_HTTP_BAD_REQUEST,
					  "must provide a valid alloc id");
	return false;
}

struct MHD_Response *alloc_look_unknown(const struct service_request *request, unsigned *status)
{
	return service_say(status, MHD_HTTP_NOT_FOUND, "Unknown allocation \"%s\"", request->id);
}

struct MHD_Response *alloc_look_busy(int error, unsigned *status)
{
	return service_say(status, MHD_HTTP_SERVICE_UNAVAILABLE, "%s",
		error == -ESHUTDOWN ? "the node's agent stops"
				    : "the node's agent is too busy to answer; try again");
}

struct alloc_look *alloc_look(
	struct service_request *request, unsigned *status, struct MHD_Response **refusal)
{
	struct look look = {.found = NULL};
	if (!alloc_look_id(request, &look.id, status, refusal))
		return NULL;
	int error = ask_runner(request->settings->ask, look_at_alloc, &look, ASK_RUNNER_WAIT_MS);
	if (error)
		*refusal = alloc_look_busy(error, status);
	else if (!look.found)
		*refusal = alloc_look_unknown(request, status);
	return look.found;
}

const struct task_look *alloc_look_task(const struct alloc_look *look, const char *name)
{
	for (uint32_t i = 0; i < look->task_count; i++)
		if (strcmp(look->tasks[i].name, name) == 0)
			return &look->tasks[i];
	return NULL;
}
