// /v1/client/allocation/:id/restart, signal and gc, and /v1/client/gc: what people want of what runs here.
#include "state/base/memory.h"
#include "tools/agent/runner.h"
#include "tools/agent/service/alloc_look.h"
#include "tools/agent/service/ask_runner.h"
#include "tools/agent/service/service_routes.h"
#include "tools/agent/task/task_wish.h"
#include "tools/json/json_writer.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define TASK_NAME_BYTES 256u
// For a signal that not all tasks can get.
#define COMPLAINTS_BYTES 4096u

static int64_t runner_now_ns(const struct runner *r)
{
	return r->epoch_ns + (int64_t)time_monotonic_ns(r->settings.time);
}

// A machine is not restarted by this way.
static struct alloc_run *alloc_of_id(struct runner *r, const struct uuid *id)
{
	struct alloc_run *a = r->allocs;
	while (a && (!uuid_equal(&a->id, id) || !a->spec || a->is_machine))
		a = a->next;
	return a;
}

// A member of an object, by its name in any case, as Go finds it; NULL: none.
static const json_t *member_of(const json_t *object, const char *name)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)object, key, value)
	{
		if (strcasecmp(key, name) == 0)
			return value;
	}
	return NULL;
}

// Copies a text member; one that is not there is "". False: it is no text, or too long.
static bool read_text(const json_t *object, const char *name, char *to, size_t size)
{
	const json_t *value = member_of(object, name);
	const char *text = json_is_string(value) ? json_string_value(value) : "";
	snprintf(to, size, "%s", text);
	return (!value || json_is_null(value) || json_is_string(value)) && strlen(text) < size;
}

static struct MHD_Response *say_bad_body(unsigned *status, const char *what)
{
	return service_say(status, MHD_HTTP_BAD_REQUEST, "Failed to decode body: %s", what);
}

// The body's object. NULL, and what is wrong with it.
static json_t *read_body(
	const struct service_request *request, unsigned *status, struct MHD_Response **refusal)
{
	json_error_t error;
	if (request->body_size == 0) {
		*refusal = say_bad_body(status, "Request body is empty");
		return NULL;
	}
	json_t *json =
		json_loadb(request->body, request->body_size, JSON_DISABLE_EOF_CHECK, &error);
	if (json_is_object(json))
		return json;
	*refusal = say_bad_body(status, json ? "it is no object" : error.text);
	json_decref(json);
	return NULL;
}

static struct MHD_Response *say_index(unsigned *status)
{
	struct json_writer json = {0};
	json_begin_object(&json);
	json_put_u64(&json, "Index", 0);
	json_end_object(&json);
	return service_json(status, &json);
}

struct wish {
	struct uuid id;
	char task[TASK_NAME_BYTES], signal[40];
	bool all_tasks;
	bool found; // the allocation
	enum wish_refusal refusal;
	uint32_t refused;                  // tasks, of a signal for all
	char complaints[COMPLAINTS_BYTES]; // about them
};

static void restart_alloc(struct runner *r, void *context)
{
	struct wish *w = context;
	struct alloc_run *a = alloc_of_id(r, &w->id);
	w->found = a != NULL;
	if (!a)
		return;
	w->refusal = w->all_tasks ? alloc_wish_restart_all(a, runner_now_ns(r))
				  : alloc_wish_restart(a, w->task, runner_now_ns(r));
}

static bool read_restart(const struct service_request *request, struct wish *w, unsigned *status,
	struct MHD_Response **refusal)
{
	if (request->body_size == 0)
		return true;
	json_t *body = read_body(request, status, refusal);
	if (!body)
		return false;
	const json_t *all = member_of(body, "AllTasks");
	bool good = read_text(body, "TaskName", w->task, sizeof w->task) &&
		    (!all || json_is_boolean(all) || json_is_null(all));
	w->all_tasks = json_is_true(all);
	json_decref(body);
	if (!good)
		*refusal = say_bad_body(status, "TaskName is a text and AllTasks true or false");
	return good;
}

static struct MHD_Response *say_fault(unsigned *status, const char *text)
{
	return service_say(status, MHD_HTTP_INTERNAL_SERVER_ERROR, "%s", text);
}

// Has the runner do it. NULL: it found the allocation and tried.
static struct MHD_Response *ask_to_do(struct service_request *request, struct wish *w,
	ask_runner_function *function, unsigned *status)
{
	int error = ask_runner(request->settings->ask, function, w, ASK_RUNNER_WAIT_MS);
	if (error)
		return alloc_look_busy(error, status);
	return w->found ? NULL : alloc_look_unknown(request, status);
}

struct MHD_Response *alloc_restart(struct service_request *request, unsigned *status)
{
	struct wish w = {.found = false};
	struct MHD_Response *response = NULL;
	if (!alloc_look_id(request, &w.id, status, &response) ||
		!read_restart(request, &w, status, &response))
		return response;
	if (*w.task && w.all_tasks)
		return say_fault(status, "task name cannot be set when restarting all tasks");
	response = ask_to_do(request, &w, restart_alloc, status);
	if (response)
		return response;
	switch (w.refusal) {
	case WISH_NOT_RUNNING: return say_fault(status, "Task not running");
	case WISH_ALLOC_IS_OVER:
		return say_fault(status, "restart of an alloc that should not run");
	case WISH_NO_TASK:
		return service_say(status, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"Could not find task runner for task: %s", w.task);
	case WISH_DONE: break;
	}
	return say_index(status);
}

static void complain_of_task(struct wish *w, const char *task)
{
	size_t used = strlen(w->complaints);
	w->refused++;
	snprintf(w->complaints + used, sizeof w->complaints - used,
		"\t* Failed to signal task: %s, err: Task not running\n", task);
}

static void signal_alloc(struct runner *r, void *context)
{
	struct wish *w = context;
	struct alloc_run *a = alloc_of_id(r, &w->id);
	w->found = a != NULL;
	w->refusal = *w->task ? WISH_NO_TASK : WISH_DONE;
	for (uint32_t i = 0; a && i < a->task_count; i++) {
		struct task *t = &a->tasks[i];
		if (*w->task && strcmp(w->task, t->spec->name) != 0)
			continue;
		enum wish_refusal refusal = task_wish_signal(t, w->signal, runner_now_ns(r));
		if (*w->task)
			w->refusal = refusal;
		else if (refusal)
			complain_of_task(w, t->spec->name);
		a->change += !refusal;
		a->is_unsaved |= !refusal;
	}
}

struct MHD_Response *alloc_signal(struct service_request *request, unsigned *status)
{
	struct wish w = {.found = false};
	struct MHD_Response *response = NULL;
	if (!alloc_look_id(request, &w.id, status, &response))
		return response;
	json_t *body = read_body(request, status, &response);
	if (!body)
		return response;
	bool good = read_text(body, "Task", w.task, sizeof w.task) &&
		    read_text(body, "Signal", w.signal, sizeof w.signal);
	json_decref(body);
	if (!good)
		return say_bad_body(status, "Task and Signal are short texts");
	response = ask_to_do(request, &w, signal_alloc, status);
	if (response)
		return response;
	if (w.refusal)
		return say_fault(
			status, w.refusal == WISH_NO_TASK ? "Task not found" : "Task not running");
	if (w.refused > 0)
		return service_say(status, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"%u error%s occurred:\n%s\n", w.refused, w.refused == 1 ? "" : "s",
			w.complaints);
	return say_index(status);
}

// The ids of allocations that are over, or of one of them.
struct ended {
	const struct uuid *only; // NULL: of all
	struct uuid *ids;
	uint32_t count, capacity;
	bool found; // the only one
};

static void find_ended(struct runner *r, void *context)
{
	struct ended *e = context;
	for (const struct alloc_run *a = r->allocs; a; a = a->next) {
		if (!a->spec || a->is_machine || (e->only && !uuid_equal(e->only, &a->id)))
			continue;
		e->found = true;
		if (!alloc_run_is_over(a))
			continue;
		e->ids = memory_one_more(e->ids, e->count, &e->capacity, sizeof e->ids[0]);
		e->ids[e->count++] = a->id;
	}
}

// Folders are removed on this thread: what is over never runs again, and a large folder takes its time.
static void remove_ended(const struct service_request *request, struct ended *e)
{
	for (uint32_t i = 0; i < e->count; i++)
		alloc_run_remove_folders(&e->ids[i], request->settings->data_folder);
	free(e->ids);
}

struct MHD_Response *alloc_gc(struct service_request *request, unsigned *status)
{
	struct uuid id;
	struct ended e = {.only = &id};
	struct MHD_Response *response = NULL;
	if (!alloc_look_id(request, &id, status, &response))
		return response;
	int error = ask_runner(request->settings->ask, find_ended, &e, ASK_RUNNER_WAIT_MS);
	if (error)
		return alloc_look_busy(error, status);
	if (!e.found)
		return alloc_look_unknown(request, status);
	if (e.count == 0)
		return say_fault(
			status, "No such allocation on client, or allocation not eligible for GC");
	remove_ended(request, &e);
	return service_nothing(status);
}

struct MHD_Response *client_gc(struct service_request *request, unsigned *status)
{
	struct ended e = {.only = NULL};
	int error = ask_runner(request->settings->ask, find_ended, &e, ASK_RUNNER_WAIT_MS);
	if (error)
		return alloc_look_busy(error, status);
	remove_ended(request, &e);
	return service_nothing(status);
}
