// Reads jobs.
#include "tools/api/lists/record_list.h"
#include "tools/api/nomad/jobs/routes.h"
#include "tools/api/server/blocking_query.h"
#include "tools/api/server/one_record.h"
#include "tools/forms/diff/job_diff.h"
#include "tools/forms/eval_made_json.h"
#include "tools/forms/job_json.h"
#include "tools/json/json_record.h"

// Version numbers to look for, newest first; more have no record.
#define VERSIONS_LOOKED_AT 64u

static const void *find_job(const struct request *request)
{
	return job_of_path(request);
}

uint64_t jobs_watched(const struct request *request)
{
	// The list shows a summary of each job's allocations.
	uint64_t jobs = table_index(request, STATE_JOBS);
	uint64_t allocations = table_index(request, STATE_ALLOCATIONS);
	return jobs > allocations ? jobs : allocations;
}

static bool is_wanted(const struct record_list *list, const void *record)
{
	const struct job *job = record;
	return record_list_has_namespace(list, job->namespace_name) &&
	       strncmp(job->id, list->name_prefix, strlen(list->name_prefix)) == 0;
}

static void write_stub(struct json_writer *w, const struct record_list *list, const void *record)
{
	job_json_stub(w, list->state, record, list->meta);
}

static void write_whole(struct json_writer *w, const struct record_list *list, const void *record)
{
	job_json(w, record);
}

static const char *namespace_of_job(const void *record)
{
	return ((const struct job *)record)->namespace_name;
}

const struct record_kind job_list = {.table = STATE_JOBS,
	.namespace_of = namespace_of_job,
	.shown_with = ACL_LIST_JOBS,
	.watched = jobs_watched,
	.is_wanted = is_wanted,
	.write = write_stub,
	.write_whole = write_whole};

// Jobs of the pool that the path names.
static bool is_of_pool(const struct record_list *list, const void *record)
{
	const struct job *job = record;
	return strcmp(job->node_pool, list->path_name) == 0 && is_wanted(list, record);
}

const struct record_kind jobs_of_pool = {.table = STATE_JOBS,
	.namespace_of = namespace_of_job,
	.shown_with = ACL_LIST_JOBS,
	.watched = jobs_watched,
	.is_wanted = is_of_pool,
	.write = write_stub,
	.write_whole = write_whole};

static void write_job(struct json_writer *w, const struct request *request, const void *record)
{
	job_json(w, record);
}

static void write_summary(struct json_writer *w, const struct request *request, const void *record)
{
	job_json_summary(w, request->api->settings.state, record);
}

static void write_scale(struct json_writer *w, const struct request *request, const void *record)
{
	job_json_scale(w, request->api->settings.state, record);
}

static void put_diff(struct json_writer *w, const struct job *before, const struct job *after)
{
	struct job_diff diff;
	job_diff_make(before, after, &diff);
	json_record(w, &job_diff_description, &diff);
	record_release(&job_diff_description, &diff);
}

// Writes what each version changed of the one before it, newest first.
static void put_diffs(struct json_writer *w, const struct job *const *versions, uint32_t count)
{
	json_begin_array(w);
	for (uint32_t i = 0; i + 1 < count; i++)
		put_diff(w, versions[i + 1], versions[i]);
	json_end_array(w);
}

static void write_versions(struct json_writer *w, const struct request *request, const void *record)
{
	const struct job *versions[JOB_VERSIONS_MAX], *job = record;
	uint32_t count = 0;
	for (uint64_t number = job->version + 1; number > 0 && count < JOB_VERSIONS_MAX; number--) {
		const struct job *version = state_job_version(request->api->settings.state,
			text_of(job->namespace_name), text_of(job->id), number - 1);
		if (!version && job->version - (number - 1) >= VERSIONS_LOOKED_AT)
			break;
		if (version)
			versions[count++] = version;
	}
	json_begin_object(w);
	json_open_array(w, "Versions");
	for (uint32_t i = 0; i < count; i++)
		job_json(w, versions[i]);
	json_end_array(w);
	json_write_key(w, "Diffs");
	if (request_flag(request, "diffs"))
		put_diffs(w, versions, count);
	else
		json_write_null(w);
	read_meta_json(w, job->record.modify_index);
	json_end_object(w);
}

static uint64_t job_watched(const struct request *request)
{
	return state_job_index(request->api->settings.state, text_of(request_namespace(request)),
		text_of(request->ids[0]));
}

static uint64_t summary_watched(const struct request *request)
{
	const struct job *job = job_of_path(request);
	return job ? job_summary_index(request->api->settings.state, job) : 0;
}

const struct one_record job_by_id = {
	.noun = "job", .find = find_job, .write = write_job, .watched = job_watched};
const struct one_record job_versions_by_id = {
	.noun = "job", .find = find_job, .write = write_versions, .watched = job_watched};
const struct one_record job_summary_by_id = {
	.noun = "job", .find = find_job, .write = write_summary, .watched = summary_watched};
const struct one_record job_scale_by_id = {
	.noun = "job", .find = find_job, .write = write_scale, .watched = summary_watched};
