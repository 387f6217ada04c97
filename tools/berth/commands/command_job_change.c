// Registers, plans, stops and evaluates jobs.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/job_file.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/failures.h"
#include "tools/berth/views/monitor.h"
#include "tools/berth/views/plan_diff.h"
#include "tools/jobfile/jobfile.h"
#include <stdio.h>
#include <string.h>

static void warn(json_t *reply)
{
	const char *warnings = field_text(reply, "Warnings");
	if (*warnings)
		fprintf(stderr, "berth: %s", warnings);
}

// Copies a flag's number into a member of the request. False after a complaint.
static bool add_number(struct session *session, json_t *request, enum flag flag, uint64_t least,
	uint64_t most, const char *member)
{
	char message[256];
	uint64_t number = 0;
	if (!flag_given(&session->flags, flag))
		return true;
	if (!flag_number(&session->flags, flag, least, most, &number, message, sizeof message)) {
		complain(STATUS_USAGE, "%s", message);
		return false;
	}
	json_object_set_new(request, member, json_integer((json_int_t)number));
	return true;
}

static bool add_options(struct session *session, json_t *request)
{
	if (flag_given(&session->flags, FLAG_CHECK_INDEX))
		json_object_set_new(request, "EnforceIndex", json_true());
	if (flag_given(&session->flags, FLAG_PRESERVE_COUNTS))
		json_object_set_new(request, "PreserveCounts", json_true());
	return add_number(session, request, FLAG_CHECK_INDEX, 0, INT64_MAX, "JobModifyIndex") &&
	       add_number(session, request, FLAG_EVAL_PRIORITY, 1, 100, "EvalPriority");
}

static enum exit_status put_registered(struct session *session, json_t *request, json_t *reply)
{
	warn(reply);
	printf("Registered job \"%s\" at index %lld.\n", job_file_id(request),
		(long long)field_number(reply, "JobModifyIndex"));
	return monitor_made(session, field_text(reply, "EvalID"));
}

enum exit_status job_parse(struct session *session, const char **arguments, int count)
{
	json_t *request = NULL;
	enum exit_status result = job_file_read(session, arguments[0], &request);
	if (result != STATUS_OK)
		return result;
	if (flag_given(&session->flags, FLAG_CANONICAL))
		jobfile_canonicalize(json_object_get(request, "Job"));
	field_print(request);
	json_decref(request);
	return STATUS_OK;
}

// The job's own namespace is that of the command; a job that names none gets the command's.
static enum exit_status read_job(struct session *session, const char *file, json_t **request)
{
	enum exit_status result = job_file_read(session, file, request);
	if (result != STATUS_OK)
		return result;
	json_t *job = json_object_get(*request, "Job");
	const char *own = field_text(job, "Namespace");
	const char *given = session->flags.values[FLAG_NAMESPACE];
	if (*own) {
		snprintf(session->found_namespace, sizeof session->found_namespace, "%s", own);
		session->flags.values[FLAG_NAMESPACE] = session->found_namespace;
	} else if (strcmp(given, "*") != 0) {
		json_object_set_new(job, "Namespace", json_string(given));
	}
	return STATUS_OK;
}

enum exit_status job_run(struct session *session, const char **arguments, int count)
{
	json_t *request = NULL, *reply = NULL;
	enum exit_status result = read_job(session, arguments[0], &request);
	if (result != STATUS_OK)
		return result;
	result = add_options(session, request) ? http_put_json(session, "/v1/jobs", request, &reply)
					       : STATUS_USAGE;
	if (reply && flag_given(&session->flags, FLAG_JSON))
		field_print(reply);
	else if (reply)
		result = put_registered(session, request, reply);
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
	enum exit_status result = read_job(session, arguments[0], &request);
	if (result == STATUS_OK)
		result = http_put_json(session, "/v1/validate/job", request, &reply);
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

static void put_plan(json_t *plan, const char *file)
{
	json_t *failed = json_object_get(plan, "FailedTGAllocs");
	long long index = (long long)field_number(plan, "JobModifyIndex");
	const char *next = field_text(plan, "NextPeriodicLaunch");
	warn(plan);
	plan_diff_print(json_object_get(plan, "Diff"));
	printf("\nScheduler dry-run:\n");
	if (json_object_size(failed)) {
		printf("- WARNING: Failed to place all allocations.\n");
		failures_print(failed, NULL, 2);
	} else {
		printf("- All tasks successfully allocated.\n");
	}
	if (*next)
		printf("- If submitted now, next periodic launch would be at %s.\n", next);
	printf("\nJob Modify Index: %lld\nTo submit the job with version verification run:\n\n"
	       "berth job run --check-index %lld %s\n",
		index, index, file);
}

// Like Nomad's, its exit status says whether the job would change something.
enum exit_status job_plan(struct session *session, const char **arguments, int count)
{
	json_t *request = NULL, *plan = NULL;
	char path[HTTP_PATH_BYTES];
	enum exit_status result = read_job(session, arguments[0], &request);
	if (result != STATUS_OK)
		return result;
	json_object_set_new(request, "Diff", json_true());
	job_path(session, job_file_id(request), "/plan", path);
	result = http_put_json(session, path, request, &plan);
	if (plan && flag_given(&session->flags, FLAG_JSON))
		field_print(plan);
	else if (plan)
		put_plan(plan, arguments[0]);
	if (plan && plan_has_changes(plan))
		result = STATUS_FAILURE;
	json_decref(plan);
	json_decref(request);
	return result;
}

static bool add_priority(struct session *session, char *path, size_t size)
{
	char message[256];
	uint64_t priority = 0;
	if (!flag_given(&session->flags, FLAG_EVAL_PRIORITY))
		return true;
	if (!flag_number(&session->flags, FLAG_EVAL_PRIORITY, 1, 100, &priority, message,
		    sizeof message)) {
		complain(STATUS_USAGE, "%s", message);
		return false;
	}
	size_t used = strlen(path);
	snprintf(path + used, size - used, "&eval_priority=%llu", (unsigned long long)priority);
	return true;
}

enum exit_status job_stop(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	struct http_answer answer;
	bool purge = flag_given(&session->flags, FLAG_PURGE);
	job_path(session, arguments[0], "", path);
	size_t size = strlen(path);
	snprintf(path + size, sizeof path - size, "%s%s", purge ? "&purge=true" : "",
		flag_given(&session->flags, FLAG_GLOBAL) ? "&global=true" : "");
	if (!add_priority(session, path, sizeof path))
		return STATUS_USAGE;
	enum exit_status result = http_delete(session, path, &answer);
	json_t *reply = result == STATUS_OK ? json_loadb(answer.body, answer.size, 0, NULL) : NULL;
	// The controller answers like Nomad's: a job that is not there is stopped at no index.
	if (result == STATUS_OK && !answer.index) {
		result = complain(STATUS_NOT_FOUND, "job not found: \"%s\", in namespace \"%s\"",
			arguments[0], session->flags.values[FLAG_NAMESPACE]);
	} else if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON)) {
		puts(answer.body);
	} else if (result == STATUS_OK) {
		printf("Stopped job \"%s\"%s at index %llu.\n", arguments[0],
			purge ? " and purged it" : "", (unsigned long long)answer.index);
		result = monitor_made(session, field_text(reply, "EvalID"));
	}
	json_decref(reply);
	http_answer_free(&answer);
	return result;
}

enum exit_status job_eval(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	json_t *reply;
	json_t *body = json_pack("{s:s,s:{s:b}}", "JobID", arguments[0], "EvalOptions",
		"ForceReschedule", (int)flag_given(&session->flags, FLAG_FORCE_RESCHEDULE));
	enum exit_status result = http_put_json(
		session, job_path(session, arguments[0], "/evaluate", path), body, &reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON)) {
		field_print(reply);
	} else if (result == STATUS_OK) {
		printf("Created eval ID: \"%.8s\"\n", field_text(reply, "EvalID"));
		if (!flag_given(&session->flags, FLAG_DETACH))
			result = monitor_evaluation(session, field_text(reply, "EvalID"));
	}
	json_decref(reply);
	json_decref(body);
	return result;
}
