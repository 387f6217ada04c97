// Versions of jobs, their counts, and the jobs that they launch.
#include "state/base/base64.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/file.h"
#include "tools/berth/cli/flag_meta.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/job_file.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include "tools/berth/views/monitor.h"
#include "tools/berth/views/plan_diff.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Reads a whole number from an argument. False after a complaint.
static bool read_number(const char *text, const char *what, int64_t *number)
{
	char *end = NULL;
	errno = 0;
	*number = strtoll(text, &end, 10);
	if (*text && !*end && !errno && *number >= 0)
		return true;
	complain(STATUS_USAGE, "%s must be a whole number, not \"%s\"", what, text);
	return false;
}

static void put_version(json_t *version, json_t *diff)
{
	char time[32];
	printf("Version     = %lld\nStable      = %s\nSubmit Date = %s\n",
		(long long)field_number(version, "Version"),
		json_is_true(json_object_get(version, "Stable")) ? "true" : "false",
		field_time(field_number(version, "SubmitTime"), time));
	if (diff) {
		printf("Diff        =\n");
		plan_diff_print(diff);
	}
}

enum exit_status job_history(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	json_t *reply, *version;
	size_t i;
	job_path(session, arguments[0], "/versions", path);
	size_t size = strlen(path);
	snprintf(path + size, sizeof path - size, "&diffs=%s",
		flag_given(&session->flags, FLAG_DIFFS) ? "true" : "false");
	enum exit_status result = http_get_json(session, path, &reply);
	if (result != STATUS_OK)
		return result;
	if (flag_given(&session->flags, FLAG_JSON)) {
		field_print(reply);
	} else {
		json_t *diffs = json_object_get(reply, "Diffs");
		json_array_foreach(json_object_get(reply, "Versions"), i, version)
		{
			if (i)
				putchar('\n');
			put_version(version, json_array_get(diffs, i));
		}
	}
	json_decref(reply);
	return STATUS_OK;
}

// Puts the request to a part of a job, and follows the evaluation that it made.
static enum exit_status change_job(
	struct session *session, const char *id, const char *part, json_t *request)
{
	char path[HTTP_PATH_BYTES];
	json_t *reply;
	enum exit_status result =
		http_put_json(session, job_path(session, id, part, path), request, &reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(reply);
	else if (result == STATUS_OK)
		result = monitor_made(session, field_text(reply, "EvalID"));
	json_decref(reply);
	json_decref(request);
	return result;
}

enum exit_status job_revert(struct session *session, const char **arguments, int count)
{
	int64_t version;
	if (!read_number(arguments[1], "the version", &version))
		return STATUS_USAGE;
	json_t *request =
		json_pack("{s:s,s:I}", "JobID", arguments[0], "JobVersion", (json_int_t)version);
	return change_job(session, arguments[0], "/revert", request);
}

// Finds a job's only group; complains when it has several. Caller frees *group.
static enum exit_status only_group(struct session *session, const char *id, char **group)
{
	char path[HTTP_PATH_BYTES];
	json_t *scale, *one;
	const char *name;
	*group = NULL;
	enum exit_status result =
		http_get_json(session, job_path(session, id, "/scale", path), &scale);
	if (result != STATUS_OK)
		return result;
	json_t *groups = json_object_get(scale, "TaskGroups");
	json_object_foreach(groups, name, one)
	{
		if (json_object_size(groups) == 1)
			*group = text_copy(text_of(name));
	}
	if (!*group)
		result = complain(STATUS_USAGE, "job \"%s\" has %zu groups; name the one to scale",
			id, json_object_size(groups));
	json_decref(scale);
	return result;
}

enum exit_status job_scale(struct session *session, const char **arguments, int count)
{
	int64_t wanted;
	char *group = NULL;
	if (!read_number(arguments[count - 1], "the count", &wanted))
		return STATUS_USAGE;
	enum exit_status result =
		count == 2 ? only_group(session, arguments[0], &group) : STATUS_OK;
	if (result != STATUS_OK)
		return result;
	json_t *request = json_pack("{s:I,s:{s:s,s:s},s:s,s:b}", "Count", (json_int_t)wanted,
		"Target", "Job", arguments[0], "Group", group ? group : arguments[1], "Message",
		"submitted using the Berth CLI", "Error", 0);
	free(group);
	return change_job(session, arguments[0], "/scale", request);
}

// The events of all groups, each with its group's name.
static json_t *scaling_events_of(json_t *scale)
{
	json_t *all = json_array(), *one, *event;
	const char *group;
	size_t i;
	json_object_foreach(json_object_get(scale, "TaskGroups"), group, one)
	{
		json_array_foreach(json_object_get(one, "Events"), i, event)
		{
			json_object_set_new(event, "Group", json_string(group));
			json_array_append(all, event);
		}
	}
	return all;
}

static enum exit_status put_scaling_events(struct session *session, json_t *scale)
{
	struct flags *flags = &session->flags;
	json_t *events = scaling_events_of(scale);
	enum exit_status result = STATUS_OK;
	if (flag_given(flags, FLAG_VERBOSE) && !flag_given(flags, FLAG_OUTPUT))
		flags->values[FLAG_OUTPUT] = "wide";
	if (json_array_size(events) == 0 && !flag_given(flags, FLAG_OUTPUT))
		puts("No events found");
	else
		result = list_print_items(session, &list_scaling_events, events);
	json_decref(events);
	return result;
}

enum exit_status job_scaling_events(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	json_t *scale;
	enum exit_status result =
		http_get_json(session, job_path(session, arguments[0], "/scale", path), &scale);
	if (result != STATUS_OK)
		return result;
	if (flag_given(&session->flags, FLAG_JSON))
		field_print(scale);
	else
		result = put_scaling_events(session, scale);
	json_decref(scale);
	return result;
}

enum exit_status job_periodic_force(struct session *session, const char **arguments, int count)
{
	return change_job(session, arguments[0], "/periodic/force", NULL);
}

// Makes the file the request's payload.
static enum exit_status add_payload(json_t *request, const char *file)
{
	char *bytes;
	size_t size;
	enum exit_status result = file_read(file, &bytes, &size);
	if (result != STATUS_OK)
		return result;
	char *text = base64_encode((struct text){bytes, (uint32_t)size});
	json_object_set_new(request, "Payload", json_string(text));
	free(text);
	free(bytes);
	return STATUS_OK;
}

static enum exit_status put_dispatched(struct session *session, json_t *reply)
{
	const char *evaluation = field_text(reply, "EvalID");
	printf("Dispatched Job ID = %s\n", field_text(reply, "DispatchedJobID"));
	if (!*evaluation)
		return STATUS_OK;
	printf("Evaluation ID     = %.8s\n", evaluation);
	if (flag_given(&session->flags, FLAG_DETACH))
		return STATUS_OK;
	putchar('\n');
	return monitor_evaluation(session, evaluation);
}

static const char *dispatch_path(struct session *session, const char *id, char *path)
{
	char token[400];
	const char *given = session->flags.values[FLAG_IDEMPOTENCY_TOKEN];
	job_path(session, id, "/dispatch", path);
	size_t size = strlen(path);
	if (given)
		snprintf(path + size, HTTP_PATH_BYTES - size, "&idempotency_token=%s",
			http_escape(given, token, sizeof token));
	return path;
}

enum exit_status job_dispatch(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	json_t *reply = NULL, *meta = flags_meta(&session->flags);
	if (!meta)
		return STATUS_USAGE;
	json_t *request = json_pack("{s:s,s:o}", "JobID", arguments[0], "Meta", meta);
	enum exit_status result = count > 1 ? add_payload(request, arguments[1]) : STATUS_OK;
	if (result == STATUS_OK)
		result = http_put_json(
			session, dispatch_path(session, arguments[0], path), request, &reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(reply);
	else if (result == STATUS_OK)
		result = put_dispatched(session, reply);
	json_decref(reply);
	json_decref(request);
	return result;
}
