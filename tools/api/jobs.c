// Looking at jobs.
#include "state/base/memory.h"
#include "tools/api/handlers.h"
#include "tools/api/job_json.h"
#include "tools/api/list_page.h"
#include "tools/api/list_stream.h"
#include <stdlib.h>

// Jobs looked at in one read section of a list.
#define JOBS_PER_SECTION 64u

// The job that a path names, or NULL. Under read lock.
static const struct job *job_of(const struct request *request)
{
	return state_job(request->api->settings.state, text_of(request_namespace(request)),
		text_of(request->ids[0]));
}

uint64_t jobs_watched(const struct request *request)
{
	// The list shows a summary of each job's allocations.
	uint64_t jobs = table_watched(request, STATE_JOBS);
	uint64_t allocations = table_watched(request, STATE_ALLOCATIONS);
	return jobs > allocations ? jobs : allocations;
}

uint64_t job_watched(const struct request *request)
{
	return state_job_index(request->api->settings.state, text_of(request_namespace(request)),
		text_of(request->ids[0]));
}

struct job_list {
	const struct state *state;
	uint64_t cursor, end;
	char *prefix, *namespace_name; // namespace "*" is all
};

static bool is_wanted(const struct job_list *list, const struct job *job)
{
	if (strcmp(list->namespace_name, "*") != 0 &&
		strcmp(list->namespace_name, job->namespace_name) != 0)
		return false;
	return strncmp(job->id, list->prefix, strlen(list->prefix)) == 0;
}

static bool produce_jobs(void *context, struct json_writer *w, size_t bytes_wanted)
{
	struct job_list *list = context;
	const struct job *job = NULL;
	state_read_begin();
	for (uint32_t i = 0; i < JOBS_PER_SECTION && w->size < bytes_wanted; i++) {
		job = list->cursor < list->end ? state_next_job(list->state, &list->cursor) : NULL;
		if (!job)
			break;
		if (is_wanted(list, job))
			job_json_stub(w, list->state, job);
	}
	state_read_end();
	return job != NULL;
}

static bool step(void *context, uint64_t *cursor, bool *shown)
{
	struct job_list *list = context;
	const struct job *job = state_next_job(list->state, cursor);
	*shown = job && is_wanted(list, job);
	return job != NULL;
}

static void free_job_list(void *context)
{
	struct job_list *list = context;
	free(list->prefix);
	free(list->namespace_name);
	free(list);
}

void jobs_list(struct request *request, struct reply *reply)
{
	const char *prefix = request_parameter(request, "prefix");
	struct job_list *list = memory_take(sizeof *list);
	list->state = request->api->settings.state;
	list->prefix = text_copy(text_of(prefix));
	list->namespace_name = text_copy(text_of(request_namespace(request)));
	reply_index(reply, state_index(list->state));
	struct cursor_page page;
	if (!cursor_page_find(request, reply, step, list, &page)) {
		free_job_list(list);
		return;
	}
	list->cursor = page.start;
	list->end = page.end;
	reply_stream(request, reply, list, produce_jobs, free_job_list);
}

// Writes what a reader asked about its job. Under read lock.
typedef void job_part(struct json_writer *, const struct request *, const struct job *);

static void answer_about_job(struct request *request, struct reply *reply, job_part *write)
{
	const struct state *state = request->api->settings.state;
	state_read_begin();
	const struct job *job = job_of(request);
	if (job) {
		write(reply_json(request, reply), request, job);
		reply_index(reply, request->route->watched(request));
	} else {
		reply_error(reply, MHD_HTTP_NOT_FOUND, "job not found");
		reply_index(reply, state_index(state));
	}
	state_read_end();
}

static void write_job(struct json_writer *w, const struct request *request, const struct job *job)
{
	job_json(w, job);
}

static void write_summary(
	struct json_writer *w, const struct request *request, const struct job *job)
{
	job_json_summary(w, request->api->settings.state, job);
}

static void write_versions(
	struct json_writer *w, const struct request *request, const struct job *job)
{
	json_begin_object(w);
	json_write_key(w, "Versions");
	json_begin_array(w);
	for (uint32_t i = 0; i < JOB_VERSIONS_MAX && i <= job->version; i++) {
		const struct job *version = state_job_version(request->api->settings.state,
			text_of(job->namespace_name), text_of(job->id), job->version - i);
		if (version)
			job_json(w, version);
	}
	json_end_array(w);
	json_put_null(w, "Diffs");
	json_put_u64(w, "Index", job->record.modify_index);
	json_put_u64(w, "LastContact", 0);
	json_put_bool(w, "KnownLeader", true);
	json_end_object(w);
}

// Direct jobs have neither evaluations nor deployments; clients ask all the same.
static void write_none(struct json_writer *w, const struct request *request, const struct job *job)
{
	json_begin_array(w);
	json_end_array(w);
}

static void write_null(struct json_writer *w, const struct request *request, const struct job *job)
{
	json_write_null(w);
}

void job_read(struct request *request, struct reply *reply)
{
	answer_about_job(request, reply, write_job);
}

void job_summary(struct request *request, struct reply *reply)
{
	answer_about_job(request, reply, write_summary);
}

void job_versions(struct request *request, struct reply *reply)
{
	answer_about_job(request, reply, write_versions);
}

void job_evaluations(struct request *request, struct reply *reply)
{
	answer_about_job(request, reply, write_none);
}

void job_deployment(struct request *request, struct reply *reply)
{
	answer_about_job(request, reply, write_null);
}
