// Shows jobs.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/job_file.h"
#include "tools/berth/cli/pages.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/deployment_view.h"
#include "tools/berth/views/failures.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>
#include <string.h>

enum exit_status job_list(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES], namespace_name[400];
	http_escape(session->flags.values[FLAG_NAMESPACE], namespace_name, sizeof namespace_name);
	snprintf(path, sizeof path, "/v1/jobs?namespace=%s", namespace_name);
	return list_print(session, &list_jobs, path);
}

enum exit_status job_inspect(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	json_t *job;
	enum exit_status result =
		http_get_json(session, job_path(session, arguments[0], "", path), &job);
	if (result != STATUS_OK)
		return result;
	json_t *wrapped = json_pack("{s:o}", "Job", job);
	field_print(wrapped);
	json_decref(wrapped);
	return STATUS_OK;
}

static bool launches(json_t *job, const char *member)
{
	return json_is_object(json_object_get(job, member));
}

// A dispatched job runs itself, although it has a ParameterizedJob.
static bool is_parameterized(json_t *job)
{
	return launches(job, "ParameterizedJob") &&
	       !json_is_true(json_object_get(job, "Dispatched"));
}

static void put_job_head(json_t *job)
{
	char time[32], age[32];
	int64_t submitted = field_number(job, "SubmitTime");
	struct table t;
	table_begin_pairs(&t);
	table_pair(&t, "ID", "= %s", field_text(job, "ID"));
	table_pair(&t, "Name", "= %s", field_text(job, "Name"));
	table_pair(&t, "Namespace", "= %s", field_text(job, "Namespace"));
	table_pair(&t, "Type", "= %s", field_text(job, "Type"));
	table_pair(&t, "Priority", "= %lld", (long long)field_number(job, "Priority"));
	table_pair(&t, "Status", "= %s%s", field_text(job, "Status"),
		json_is_true(json_object_get(job, "Stop")) ? " (stopped)" : "");
	if (launches(job, "Periodic"))
		table_pair(&t, "Periodic", "= %s %s",
			field_text(json_object_get(job, "Periodic"), "Spec"),
			field_text(json_object_get(job, "Periodic"), "TimeZone"));
	if (is_parameterized(job))
		table_pair(&t, "Parameterized", "= true");
	table_pair(&t, "Version", "= %lld, modify index %lld",
		(long long)field_number(job, "Version"),
		(long long)field_number(job, "JobModifyIndex"));
	table_pair(&t, "Submitted", "= %s (%s)", field_time(submitted, time),
		field_age(submitted, age));
	table_print(&t, 0);
}

static void put_summary(json_t *summary)
{
	static const char *const columns[] = {
		"Queued", "Starting", "Running", "Failed", "Complete", "Lost", "Unknown"};
	static const char *const headings[] = {"Group", "Queued", "Starting", "Running", "Failed",
		"Complete", "Lost", "Unknown", NULL};
	struct table t;
	const char *name;
	json_t *group;
	table_begin(&t, headings);
	json_object_foreach(json_object_get(summary, "Summary"), name, group)
	{
		table_add(&t, name);
		for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
			table_add_format(&t, "%lld", (long long)field_number(group, columns[i]));
	}
	printf("\nSummary\n");
	table_print(&t, 2);
}

static void put_children(json_t *summary)
{
	static const char *const headings[] = {"Pending", "Running", "Dead", NULL};
	json_t *children = json_object_get(summary, "Children");
	struct table t;
	table_begin(&t, headings);
	for (size_t i = 0; headings[i]; i++)
		table_add_format(&t, "%lld", (long long)field_number(children, headings[i]));
	printf("\nChildren Job Summary\n");
	table_print(&t, 2);
}

struct child_filter {
	struct table table;
	const char *parent;
};

static void add_child(json_t *job, void *context)
{
	struct child_filter *filter = context;
	char age[32];
	if (strcmp(field_text(job, "ParentID"), filter->parent) != 0)
		return;
	table_add(&filter->table, field_text(job, "ID"));
	table_add(&filter->table, field_text(job, "Status"));
	table_add(&filter->table, field_age(field_number(job, "SubmitTime"), age));
}

static enum exit_status put_launched(struct session *session, const char *id)
{
	static const char *const headings[] = {"ID", "Status", "Submitted", NULL};
	char path[HTTP_PATH_BYTES], escaped[400], namespace_name[400];
	struct child_filter filter = {.parent = id};
	http_escape(session->flags.values[FLAG_NAMESPACE], namespace_name, sizeof namespace_name);
	snprintf(path, sizeof path, "/v1/jobs?prefix=%s%%2F&namespace=%s",
		http_escape(id, escaped, sizeof escaped), namespace_name);
	table_begin(&filter.table, headings);
	enum exit_status result = pages_each(session, path, add_child, &filter);
	if (result == STATUS_OK)
		printf("\nLaunched Jobs\n");
	return table_finish(&filter.table, result, 2);
}

static enum exit_status put_deployment(struct session *session, const char *id)
{
	char path[HTTP_PATH_BYTES];
	json_t *deployment;
	enum exit_status result =
		http_get_json(session, job_path(session, id, "/deployment", path), &deployment);
	if (result == STATUS_OK && json_is_object(deployment)) {
		printf("\nLatest Deployment\n");
		deployment_print(deployment, flag_given(&session->flags, FLAG_VERBOSE));
	}
	json_decref(deployment);
	return result;
}

// Prints what the newest finished evaluation could not place.
static void put_failures(json_t *evaluations)
{
	size_t i;
	json_t *one, *newest = NULL;
	json_array_foreach(evaluations, i, one)
	{
		bool over = strcmp(field_text(one, "Status"), "complete") == 0;
		if (over && (!newest || field_number(one, "CreateIndex") >
						field_number(newest, "CreateIndex")))
			newest = one;
	}
	json_t *failed = json_object_get(newest, "FailedTGAllocs");
	if (!json_object_size(failed))
		return;
	printf("\nPlacement Failure\n");
	failures_print(failed, json_object_get(newest, "QueuedAllocations"), 2);
}

static enum exit_status put_evaluations(struct session *session, const char *id)
{
	char path[HTTP_PATH_BYTES];
	json_t *evaluations;
	enum exit_status result =
		http_get_json(session, job_path(session, id, "/evaluations", path), &evaluations);
	if (result != STATUS_OK)
		return result;
	if (flag_given(&session->flags, FLAG_VERBOSE))
		result = list_part(session, &list_evaluations, NULL, path, "\nEvaluations\n", 2);
	put_failures(evaluations);
	json_decref(evaluations);
	return result;
}

static enum exit_status put_work(struct session *session, const char *id)
{
	char path[HTTP_PATH_BYTES];
	enum exit_status result = put_deployment(session, id);
	if (result == STATUS_OK)
		result = put_evaluations(session, id);
	if (result != STATUS_OK)
		return result;
	job_path(session, id, "/allocations", path);
	return list_part(session, &list_allocations, NULL, path, "\nAllocations\n", 2);
}

static enum exit_status put_status(struct session *session, const char *id, json_t *job)
{
	char path[HTTP_PATH_BYTES];
	json_t *summary;
	bool is_launcher = launches(job, "Periodic") || is_parameterized(job);
	enum exit_status result =
		http_get_json(session, job_path(session, id, "/summary", path), &summary);
	if (result != STATUS_OK)
		return result;
	put_job_head(job);
	if (is_launcher)
		put_children(summary);
	else
		put_summary(summary);
	json_decref(summary);
	return is_launcher ? put_launched(session, id) : put_work(session, id);
}

enum exit_status job_status(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	json_t *job;
	if (count == 0)
		return job_list(session, arguments, count);
	enum exit_status result =
		http_get_json(session, job_path(session, arguments[0], "", path), &job);
	if (result != STATUS_OK)
		return result;
	if (flag_given(&session->flags, FLAG_JSON))
		field_print(job);
	else
		result = put_status(session, arguments[0], job);
	json_decref(job);
	return result;
}
