#include "tools/berth/commands/node_side/alloc_targets.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include <stdio.h>
#include <string.h>

static enum exit_status newest_of_job(
	struct session *session, const char *typed, char id[static LOOKUP_BYTES])
{
	char job[LOOKUP_BYTES], path[HTTP_PATH_BYTES], escaped[400], namespace_name[400];
	json_t *list, *alloc;
	int64_t newest = -1;
	size_t i;
	enum exit_status result = lookup(session, &kind_job, typed, job);
	if (result != STATUS_OK)
		return result;
	snprintf(path, sizeof path, "/v1/job/%s/allocations?namespace=%s",
		http_escape(job, escaped, sizeof escaped),
		http_escape(session->flags.values[FLAG_NAMESPACE], namespace_name,
			sizeof namespace_name));
	result = http_get_json(session, path, &list);
	if (result != STATUS_OK)
		return result;
	json_array_foreach(list, i, alloc)
	{
		int64_t created = field_number(alloc, "CreateIndex");
		if (created <= newest || strcmp(field_text(alloc, "ClientStatus"), "running") != 0)
			continue;
		newest = created;
		snprintf(id, LOOKUP_BYTES, "%s", field_text(alloc, "ID"));
	}
	json_decref(list);
	return newest < 0 ? complain(STATUS_NOT_FOUND, "no allocation of job %s runs", job)
			  : STATUS_OK;
}

enum exit_status alloc_target(struct session *session, const char **arguments, int count,
	char id[static LOOKUP_BYTES], int *used)
{
	const char *job = session->flags.values[FLAG_JOB];
	*used = job ? 0 : 1;
	if (job)
		return newest_of_job(session, job, id);
	if (count == 0)
		return complain(STATUS_USAGE, "name an allocation, or a job with --job");
	snprintf(id, LOOKUP_BYTES, "%s", arguments[0]);
	return STATUS_OK;
}

static enum exit_status only_task(const char *id, json_t *tasks, char task[static LOOKUP_BYTES])
{
	char names[400] = "";
	size_t size = 0;
	const char *name;
	json_t *value;
	json_object_foreach(tasks, name, value)
	{
		if (size < sizeof names)
			size += (size_t)snprintf(
				names + size, sizeof names - size, "%s%s", size ? ", " : "", name);
		snprintf(task, LOOKUP_BYTES, "%s", name);
	}
	if (json_object_size(tasks) == 1)
		return STATUS_OK;
	if (size == 0)
		return complain(STATUS_REFUSED, "no task of allocation %.8s has been started", id);
	return complain(STATUS_USAGE, "allocation %.8s has several tasks, name one: %s", id, names);
}

enum exit_status alloc_target_task(struct session *session, const char *id, const char *argument,
	bool is_needed, char task[static LOOKUP_BYTES])
{
	char path[HTTP_PATH_BYTES];
	json_t *alloc;
	const char *given = session->flags.values[FLAG_TASK];
	given = given ? given : argument;
	snprintf(task, LOOKUP_BYTES, "%s", given ? given : "");
	if (given || !is_needed)
		return STATUS_OK;
	snprintf(path, sizeof path, "/v1/allocation/%s", id);
	enum exit_status result = http_get_json(session, path, &alloc);
	if (result != STATUS_OK)
		return result;
	json_t *tasks = json_object_get(json_object_get(alloc, "AllocatedResources"), "Tasks");
	if (json_object_size(tasks) == 0)
		tasks = json_object_get(alloc, "TaskStates");
	result = only_task(id, tasks, task);
	json_decref(alloc);
	return result;
}
