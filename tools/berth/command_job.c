#include "tools/berth/allocation_table.h"
#include "tools/berth/field.h"
#include "tools/berth/file.h"
#include "tools/berth/http.h"
#include "tools/berth/pages.h"
#include "tools/berth/table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// "/v1/job/ID<suffix>?namespace=…"
static const char *job_path(struct session *session, const char *id, const char *suffix,
	char path[static HTTP_PATH_BYTES])
{
	char escaped[400], namespace_name[400];
	http_escape(id, escaped, sizeof escaped);
	http_escape(session->flags.values[FLAG_NAMESPACE], namespace_name, sizeof namespace_name);
	snprintf(path, HTTP_PATH_BYTES, "/v1/job/%s%s?namespace=%s", escaped, suffix,
		namespace_name);
	return path;
}

static void add_job(json_t *job, void *context)
{
	struct table *t = context;
	char age[32];
	json_t *groups = json_object_get(json_object_get(job, "JobSummary"), "Summary");
	int64_t live = 0, lost = 0;
	const char *name;
	json_t *group;
	json_object_foreach(groups, name, group)
	{
		live += field_number(group, "Starting") + field_number(group, "Running");
		lost += field_number(group, "Lost");
	}
	table_add(t, field_text(job, "ID"));
	table_add(t, field_text(job, "Namespace"));
	table_add(t, field_text(job, "Type"));
	table_add_format(t, "%lld", (long long)field_number(job, "Priority"));
	table_add_format(t, "%s%s", field_text(job, "Status"),
		json_is_true(json_object_get(job, "Stop")) ? " (stopped)" : "");
	table_add_format(t, "%lld", (long long)live);
	table_add_format(t, "%lld", (long long)lost);
	table_add(t, field_age(field_number(job, "SubmitTime"), age));
}

enum exit_status job_list(struct session *session, const char **arguments, int count)
{
	static const char *const headings[] = {
		"ID", "Namespace", "Type", "Priority", "Status", "Live", "Lost", "Submitted", NULL};
	char path[HTTP_PATH_BYTES], namespace_name[400];
	http_escape(session->flags.values[FLAG_NAMESPACE], namespace_name, sizeof namespace_name);
	snprintf(path, sizeof path, "/v1/jobs?namespace=%s", namespace_name);
	if (flag_given(&session->flags, FLAG_JSON))
		return http_get_through(session, path);
	struct table table;
	table_begin(&table, headings);
	return table_finish(&table, pages_each(session, path, add_job, &table), 0);
}

// --- Submitting ----------------------------------------------------------------------------------

// The request for a job file: what it holds, wrapped into {"Job": …} unless it is already.
static enum exit_status read_job(const char *file, json_t **request)
{
	char *text;
	size_t size;
	json_error_t error;
	enum exit_status result = file_read(file, &text, &size);
	if (result != STATUS_OK)
		return result;
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	free(text);
	if (!json_is_object(root)) {
		json_decref(root);
		return complain(STATUS_REFUSED,
			"%s line %d column %d: %s; a JSON object is expected", file, error.line,
			error.column, root ? "no object" : error.text);
	}
	if (!json_object_get(root, "Job"))
		root = json_pack("{s:o}", "Job", root);
	*request = root;
	return STATUS_OK;
}

static enum exit_status put_job(
	struct session *session, const char *path, json_t *request, json_t **reply)
{
	struct http_answer answer;
	char *body = json_dumps(request, JSON_COMPACT);
	enum exit_status result = http_put(session, path, body, strlen(body), &answer);
	free(body);
	*reply = result == STATUS_OK ? json_loadb(answer.body, answer.size, 0, NULL) : NULL;
	http_answer_free(&answer);
	if (result == STATUS_OK && !*reply)
		return complain(STATUS_FAILURE, "the controller's answer is no JSON");
	return result;
}

static bool add_check_index(struct session *session, json_t *request)
{
	char message[256];
	uint64_t index = 0;
	if (!flag_given(&session->flags, FLAG_CHECK_INDEX))
		return true;
	if (!flag_number(&session->flags, FLAG_CHECK_INDEX, 0, INT64_MAX, &index, message,
		    sizeof message)) {
		complain(STATUS_USAGE, "%s", message);
		return false;
	}
	json_object_set_new(request, "EnforceIndex", json_true());
	json_object_set_new(request, "JobModifyIndex", json_integer((json_int_t)index));
	return true;
}

static void put_registered(json_t *request, json_t *reply)
{
	const char *warnings = field_text(reply, "Warnings");
	if (*warnings)
		fprintf(stderr, "berth: %s", warnings);
	printf("Registered job \"%s\" at index %lld.\n",
		field_text(json_object_get(request, "Job"), "ID"),
		(long long)field_number(reply, "JobModifyIndex"));
}

enum exit_status job_run(struct session *session, const char **arguments, int count)
{
	json_t *request = NULL, *reply = NULL;
	enum exit_status result = read_job(arguments[0], &request);
	if (result != STATUS_OK)
		return result;
	result = add_check_index(session, request) ? put_job(session, "/v1/jobs", request, &reply)
						   : STATUS_USAGE;
	if (reply && flag_given(&session->flags, FLAG_JSON))
		field_print(reply);
	else if (reply)
		put_registered(request, reply);
	json_decref(reply);
	json_decref(request);
	return result;
}

static enum exit_status put_validation(json_t *reply)
{
	const char *error = field_text(reply, "Error"), *warnings = field_text(reply, "Warnings");
	if (*warnings)
		printf("%s", warnings);
	if (*error) {
		printf("%s", error);
		return STATUS_REFUSED;
	}
	printf("The job is valid.\n");
	return STATUS_OK;
}

enum exit_status job_validate(struct session *session, const char **arguments, int count)
{
	json_t *request = NULL, *reply = NULL;
	enum exit_status result = read_job(arguments[0], &request);
	if (result == STATUS_OK)
		result = put_job(session, "/v1/validate/job", request, &reply);
	if (reply && flag_given(&session->flags, FLAG_JSON)) {
		field_print(reply);
		result = *field_text(reply, "Error") ? STATUS_REFUSED : STATUS_OK;
	} else if (reply) {
		result = put_validation(reply);
	}
	json_decref(reply);
	json_decref(request);
	return result;
}

enum exit_status job_stop(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	struct http_answer answer;
	bool purge = flag_given(&session->flags, FLAG_PURGE);
	job_path(session, arguments[0], "", path);
	size_t size = strlen(path);
	snprintf(path + size, sizeof path - size, "%s", purge ? "&purge=true" : "");
	enum exit_status result = http_delete(session, path, &answer);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		puts(answer.body);
	else if (result == STATUS_OK)
		printf("Stopped job \"%s\"%s at index %llu.\n", arguments[0],
			purge ? " and purged it" : "", (unsigned long long)answer.index);
	http_answer_free(&answer);
	return result;
}

// --- Looking -------------------------------------------------------------------------------------

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
		"Starting", "Running", "Complete", "Failed", "Lost", "Unknown"};
	static const char *const headings[] = {
		"Group", "Starting", "Running", "Complete", "Failed", "Lost", "Unknown", NULL};
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

enum exit_status job_status(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	json_t *job, *summary;
	enum exit_status result =
		http_get_json(session, job_path(session, arguments[0], "", path), &job);
	if (result != STATUS_OK)
		return result;
	if (flag_given(&session->flags, FLAG_JSON)) {
		field_print(job);
		json_decref(job);
		return STATUS_OK;
	}
	result =
		http_get_json(session, job_path(session, arguments[0], "/summary", path), &summary);
	if (result == STATUS_OK) {
		put_job_head(job);
		put_summary(summary);
		job_path(session, arguments[0], "/allocations", path);
		result = allocation_table(session, path, "\nAllocations\n", NULL, 2);
	}
	json_decref(summary);
	json_decref(job);
	return result;
}
