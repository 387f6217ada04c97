// Restarts all allocations of a job, a few at a time: where they are, or, by stopping them, somewhere anew.
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/lookup.h"
#include "tools/berth/commands/commands.h"
#include "tools/json/duration.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct restart_plan {
	struct session *session;
	json_t *allocs; // those that are meant, of the job
	size_t batch;   // how many at once
	int64_t wait_ns;
	bool asks_after_batch, asks_on_error, all_tasks, reschedules;
	bool is_verbose;
};

// Whether the flag is not given at all, or with this value.
static bool fits_flag(const struct flags *flags, enum flag flag, const char *value)
{
	uint32_t at = 0;
	const char *given = flag_next(flags, flag, &at);
	if (!given)
		return true;
	for (; given; given = flag_next(flags, flag, &at))
		if (strcmp(given, value) == 0)
			return true;
	return false;
}

// Whether it has one of the tasks that are named.
static bool has_task(const struct flags *flags, json_t *alloc)
{
	uint32_t at = 0;
	const char *task = flag_next(flags, FLAG_TASK, &at);
	json_t *states = json_object_get(alloc, "TaskStates");
	if (!task)
		return true;
	for (; task; task = flag_next(flags, FLAG_TASK, &at))
		if (json_object_get(states, task))
			return true;
	return false;
}

static bool is_meant(const struct flags *flags, json_t *alloc)
{
	return strcmp(field_text(alloc, "DesiredStatus"), "run") == 0 &&
	       strcmp(field_text(alloc, "ClientStatus"), "running") == 0 &&
	       fits_flag(flags, FLAG_GROUP, field_text(alloc, "TaskGroup")) &&
	       has_task(flags, alloc);
}

static enum exit_status find_allocs(struct restart_plan *plan, const char *job)
{
	char path[HTTP_PATH_BYTES], escaped[400], namespace_name[400];
	json_t *list, *alloc;
	size_t i;
	const struct flags *flags = &plan->session->flags;
	snprintf(path, sizeof path, "/v1/job/%s/allocations?namespace=%s",
		http_escape(job, escaped, sizeof escaped),
		http_escape(flags->values[FLAG_NAMESPACE], namespace_name, sizeof namespace_name));
	enum exit_status result = http_get_json(plan->session, path, &list);
	if (result != STATUS_OK)
		return result;
	json_array_foreach(list, i, alloc)
	{
		if (is_meant(flags, alloc))
			json_array_append(plan->allocs, alloc);
	}
	json_decref(list);
	return STATUS_OK;
}

// "5" or "20%" of so many, at least one. False: it is neither.
static bool read_batch(const char *text, size_t of, size_t *batch)
{
	char *end;
	unsigned long long number = strtoull(text, &end, 10);
	bool is_percent = *end == '%' && !end[1];
	if (*text < '0' || *text > '9' || number == 0 || (*end && !is_percent) ||
		(is_percent && number > 100))
		return false;
	number = is_percent ? (of * number + 99) / 100 : number;
	*batch = number > 0 ? (size_t)number : 1;
	return true;
}

// What is wrong with the flags; NULL: nothing.
static const char *flags_complaint(struct restart_plan *plan)
{
	const struct flags *flags = &plan->session->flags;
	const char *wait = flags->values[FLAG_BATCH_WAIT];
	const char *on_error = flags->values[FLAG_ON_ERROR];
	plan->all_tasks = flag_given(flags, FLAG_ALL_TASKS);
	plan->reschedules = flag_given(flags, FLAG_RESCHEDULE);
	plan->is_verbose = flag_given(flags, FLAG_VERBOSE);
	plan->asks_after_batch = wait && strcmp(wait, "ask") == 0;
	plan->asks_on_error = on_error ? strcmp(on_error, "ask") == 0
				       : isatty(STDIN_FILENO) && !flag_given(flags, FLAG_YES);
	if (on_error && !plan->asks_on_error && strcmp(on_error, "fail") != 0)
		return "--on-error is ask or fail";
	if (plan->all_tasks && flag_given(flags, FLAG_TASK))
		return "--all-tasks and --task do not go together";
	if (plan->reschedules && (plan->all_tasks || flag_given(flags, FLAG_TASK)))
		return "--reschedule moves whole allocations: --task and --all-tasks do not go "
		       "with it";
	if (flag_given(flags, FLAG_YES) && (plan->asks_after_batch || plan->asks_on_error))
		return "--yes does not go with questions: --batch-wait ask, --on-error ask";
	if (wait && !plan->asks_after_batch &&
		(!duration_parse(wait, &plan->wait_ns) || plan->wait_ns < 0))
		return "--batch-wait is a time, like 30s, or ask";
	if (!read_batch(
		    flags->values[FLAG_BATCH_SIZE], json_array_size(plan->allocs), &plan->batch))
		return "--batch-size is a number from 1 on, or 1% to 100%";
	return NULL;
}

// Asks on standard error; the answer is a line of standard input. Nothing, and no line, is no.
static bool ask_person(const char *question)
{
	char line[80];
	fprintf(stderr, "%s [y/N] ", question);
	return fgets(line, sizeof line, stdin) && (line[0] == 'y' || line[0] == 'Y');
}

static enum exit_status restart_one(struct restart_plan *plan, const char *id, const char *task)
{
	char path[HTTP_PATH_BYTES];
	json_t *reply,
		*body = json_pack("{s:s s:b}", "TaskName", task, "AllTasks", plan->all_tasks);
	snprintf(path, sizeof path, "/v1/client/allocation/%s/restart", id);
	enum exit_status result = http_put_json(plan->session, path, body, &reply);
	json_decref(reply);
	json_decref(body);
	return result;
}

static enum exit_status restart_tasks(struct restart_plan *plan, json_t *alloc)
{
	uint32_t at = 0;
	enum exit_status result = STATUS_OK;
	const char *id = field_text(alloc, "ID");
	const char *task = flag_next(&plan->session->flags, FLAG_TASK, &at);
	if (!task)
		return restart_one(plan, id, "");
	for (; task && result == STATUS_OK; task = flag_next(&plan->session->flags, FLAG_TASK, &at))
		if (json_object_get(json_object_get(alloc, "TaskStates"), task))
			result = restart_one(plan, id, task);
	return result;
}

static enum exit_status stop_one(struct restart_plan *plan, json_t *alloc)
{
	char path[HTTP_PATH_BYTES];
	json_t *reply;
	snprintf(path, sizeof path, "/v1/allocation/%s/stop", field_text(alloc, "ID"));
	enum exit_status result = http_put_json(plan->session, path, NULL, &reply);
	json_decref(reply);
	return result;
}

// Asks for an allocation until is_done says so.
static enum exit_status await_alloc(
	struct session *session, const char *id, bool (*is_done)(json_t *alloc), json_t **alloc)
{
	char path[HTTP_PATH_BYTES];
	uint64_t index = 0;
	for (;;) {
		snprintf(path, sizeof path, "/v1/allocation/%s?index=%llu&wait=20s", id,
			(unsigned long long)index);
		enum exit_status result = http_get_indexed(session, path, alloc, &index);
		if (result != STATUS_OK || is_done(*alloc))
			return result;
		json_decref(*alloc);
	}
}

static bool has_next(json_t *alloc)
{
	return *field_text(alloc, "NextAllocation") != '\0';
}

static bool has_begun(json_t *alloc)
{
	return strcmp(field_text(alloc, "ClientStatus"), "pending") != 0;
}

// Waits until what replaces a stopped allocation runs.
static enum exit_status await_next(struct restart_plan *plan, const char *id)
{
	char next[LOOKUP_BYTES], status[40];
	json_t *alloc;
	enum exit_status result = await_alloc(plan->session, id, has_next, &alloc);
	if (result != STATUS_OK)
		return result;
	snprintf(next, sizeof next, "%s", field_text(alloc, "NextAllocation"));
	json_decref(alloc);
	result = await_alloc(plan->session, next, has_begun, &alloc);
	if (result != STATUS_OK)
		return result;
	snprintf(status, sizeof status, "%s", field_text(alloc, "ClientStatus"));
	json_decref(alloc);
	if (strcmp(status, "running") != 0 && strcmp(status, "complete") != 0)
		return complain(STATUS_FAILURE, "allocation %.8s, in place of %.8s, is %s", next,
			id, status);
	printf("Allocation %.*s runs in place of %.*s.\n", plan->is_verbose ? 36 : 8, next,
		plan->is_verbose ? 36 : 8, id);
	return STATUS_OK;
}

// False: it is not to go on.
static bool may_go_on(struct restart_plan *plan, enum exit_status result)
{
	return result == STATUS_OK || (plan->asks_on_error && ask_person("Go on with the others?"));
}

// Restarts allocations from first on, up to last. Keeps the first failure; false: it is not to go on.
static bool restart_batch(
	struct restart_plan *plan, size_t first, size_t last, enum exit_status *worst)
{
	size_t count = json_array_size(plan->allocs);
	for (size_t i = first; i < last; i++) {
		json_t *alloc = json_array_get(plan->allocs, i);
		printf("%s allocation %.*s on %s (%zu of %zu)\n",
			plan->reschedules ? "Stopping" : "Restarting", plan->is_verbose ? 36 : 8,
			field_text(alloc, "ID"), field_text(alloc, "NodeName"), i + 1, count);
		enum exit_status result =
			(plan->reschedules ? stop_one : restart_tasks)(plan, alloc);
		*worst = *worst ? *worst : result;
		if (!may_go_on(plan, result))
			return false;
	}
	for (size_t i = first; i < last && plan->reschedules; i++) {
		enum exit_status result =
			await_next(plan, field_text(json_array_get(plan->allocs, i), "ID"));
		*worst = *worst ? *worst : result;
		if (!may_go_on(plan, result))
			return false;
	}
	return true;
}

static bool pause_between(const struct restart_plan *plan)
{
	struct timespec pause = {.tv_sec = (time_t)(plan->wait_ns / NS_PER_S),
		.tv_nsec = (long)(plan->wait_ns % NS_PER_S)};
	fflush(stdout);
	if (plan->asks_after_batch)
		return ask_person("Go on with the next batch?");
	nanosleep(&pause, NULL);
	return true;
}

static enum exit_status restart_all(struct restart_plan *plan, const char *job)
{
	enum exit_status worst = STATUS_OK;
	size_t count = json_array_size(plan->allocs), done = 0;
	bool goes_on = true;
	while (done < count && goes_on) {
		size_t last = done + plan->batch < count ? done + plan->batch : count;
		goes_on = restart_batch(plan, done, last, &worst);
		done = goes_on ? last : done;
		if (goes_on && done < count)
			goes_on = pause_between(plan);
	}
	if (done < count)
		return complain(worst ? worst : STATUS_FAILURE,
			"the restart of job %s ended early: %zu of %zu allocations were gone "
			"through",
			job, done, count);
	printf("Job %s: %zu allocation%s %s.\n", job, count, count == 1 ? "" : "s",
		plan->reschedules ? "rescheduled" : "restarted");
	return worst;
}

enum exit_status job_restart(struct session *session, const char **arguments, int count)
{
	struct restart_plan plan = {.session = session, .allocs = json_array()};
	enum exit_status result = find_allocs(&plan, arguments[0]);
	const char *complaint = result == STATUS_OK ? flags_complaint(&plan) : NULL;
	if (complaint)
		result = complain(STATUS_USAGE, "%s", complaint);
	else if (result == STATUS_OK && json_array_size(plan.allocs) == 0)
		result = complain(STATUS_NOT_FOUND,
			"job %s has no running allocations that are meant", arguments[0]);
	else if (result == STATUS_OK)
		result = restart_all(&plan, arguments[0]);
	json_decref(plan.allocs);
	return result;
}
