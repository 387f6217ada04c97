#include "tools/api/nomad/jobs/job_submission.h"
#include "placement/job_check/job_check.h"
#include "state/base/memory.h"
#include "state/records/job_traits.h"
#include "state/records/namespaces/job_namespace.h"
#include "state/records/nodes/node_pool.h"
#include "tools/api/nomad/jobs/rollout.h"
#include "tools/api/server/access.h"
#include "tools/forms/job_logs.h"
#include "tools/forms/not_done/job_not_done.h"
#include "tools/forms/not_done/job_prepared.h"
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES 512u
#define REGION_ANY "global"

enum { EVAL_PRIORITY_LEAST = 1, EVAL_PRIORITY_MOST = 100 };

static void free_job_body(void *context)
{
	job_body_free(context);
	free(context);
}

// Adds what the job asks for and nobody does.
static void note_not_done(const struct request *request, struct job_body *read)
{
	if (!read->job || read->report.errors.count)
		return;
	const struct state *state = request->api->settings.state;
	state_read_begin();
	bool oversubscription =
		node_pool_oversubscribes(state_node_pool(state, text_of(read->job->node_pool)),
			state_scheduler_config(state));
	state_read_end();
	job_warn_of_memory_max(read->job, oversubscription, &read->report.warnings);
	job_warn_of_cron(read->job, &read->report.warnings);
	job_not_done(read->job, &read->report.warnings, &read->invalid);
	job_check_logs(read->job, &read->invalid);
	job_check_prepared(read->job, &read->invalid);
}

static void note_mistake(const char *text, void *context)
{
	json_sentence(context, "%s", text);
}

// The applier refuses such a job too; here that is told with other mistakes, and to those who only plan or validate.
static void check_instances(const struct request *request, struct job_body *read)
{
	char why[MESSAGE_BYTES];
	if (read->job && !state_can_hold(request->api->settings.state, read->job, why, sizeof why))
		json_sentence(&read->invalid, "%s", why);
}

// As the applier refuses it, too.
static void check_place(const struct request *request, struct job_body *read)
{
	const struct state *state = request->api->settings.state;
	const struct job *job = read->job;
	char why[MESSAGE_BYTES];
	if (!job || !job->id)
		return;
	struct text name = text_of(job->namespace_name);
	state_read_begin();
	if (!state_has_namespace(state, name))
		json_sentence(&read->invalid, "job \"%s\" is in nonexistent namespace \"%s\"",
			job->id, job->namespace_name);
	else if (!namespace_allows_drivers(state_namespace(state, name), job, why, sizeof why))
		json_sentence(&read->invalid, "%s", why);
	state_read_end();
}

// A job that says none, or "global", is of the region that it is submitted in.
static void region_settle(const struct request *request, struct job_body *read)
{
	struct job *job = read->job;
	if (!job || job->multiregion ||
		(text_of(job->region).size > 0 && strcmp(job->region, REGION_ANY) != 0))
		return;
	free(job->region);
	job->region = text_copy(text_of(request->api->region));
}

// Nobody submits it there for the client. A job of several regions has refusals of its own.
static bool is_of_this_region(const struct request *request, const struct job *job)
{
	return job->multiregion || strcmp(job->region, request->api->region) == 0;
}

static bool has_scaling(const struct job *job)
{
	for (uint32_t i = 0; i < job->task_groups.count; i++)
		if (ARRAY_AT(&job->task_groups, struct task_group, i)->scaling)
			return true;
	return false;
}

// Whether the groups of the job may mount what they ask for of their nodes.
static bool may_mount(const struct acl *acl, const struct job *job)
{
	for (uint32_t i = 0; i < job->task_groups.count; i++) {
		const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, i);
		for (uint32_t k = 0; k < group->volumes.count; k++) {
			const struct volume_ask *ask =
				ARRAY_AT(&group->volumes, struct volume_ask, k);
			const char *source = ask->source ? ask->source : "";
			if (ask->type && strcmp(ask->type, "host") == 0 &&
				!acl_allows_volume(acl, source,
					ask->read_only ? ACL_MOUNT_READONLY : ACL_MOUNT_READWRITE))
				return false;
		}
	}
	return true;
}

// The job's namespace may be in the body alone.
static bool may_submit(const struct request *request, const struct job *job)
{
	const struct acl *acl = request_acl(request);
	if (!acl || !job)
		return true;
	return request_may_in(request, job->namespace_name) && may_mount(acl, job);
}

struct job_body *job_submission_read(struct request *request, struct reply *reply)
{
	char message[MESSAGE_BYTES];
	struct job_body *read = memory_take(sizeof *read);
	request->context = read;
	request->context_free = free_job_body;
	const char *namespace_name = request_parameter(request, "namespace");
	if (job_body_read(request->body, request->body_size, namespace_name, read, message,
		    sizeof message)) {
		if (!may_submit(request, read->job)) {
			reply_denied(reply);
			return NULL;
		}
		note_not_done(request, read);
		region_settle(request, read);
		rollout_settle(request, read);
		check_instances(request, read);
		check_place(request, read);
		return read;
	}
	reply_mistake(reply, "%s", message);
	return NULL;
}

void job_submission_check_update(const struct request *request, struct job_body *read)
{
	const struct job *job = read->job;
	if (!job_body_is_valid(read))
		return;
	state_read_begin();
	const struct job *stored = state_job(
		request->api->settings.state, text_of(job->namespace_name), text_of(job->id));
	if (stored)
		job_check_update(stored, job, note_mistake, &read->invalid);
	state_read_end();
}

// Answers with all mistakes of a kind as plain text.
static void reply_mistakes(
	struct reply *reply, unsigned status, const struct json_sentences *mistakes)
{
	char *text = json_sentences_text(mistakes, "error");
	json_write_plain(&reply->body, "%s", text);
	reply->status = status;
	reply->content_type = API_TEXT_PLAIN;
	free(text);
}

bool eval_priority_fits(int64_t priority, struct reply *reply)
{
	if (priority == 0 || (priority >= EVAL_PRIORITY_LEAST && priority <= EVAL_PRIORITY_MOST))
		return true;
	return reply_mistake(reply, "Eval priority must be between %d and %d inclusively",
		EVAL_PRIORITY_LEAST, EVAL_PRIORITY_MOST);
}

bool job_submission_is_valid(struct request *request, const struct job_body *read,
	const char *without_id, struct reply *reply)
{
	if (!eval_priority_fits((int64_t)read->eval_priority, reply))
		return false;
	if (read->report.errors.count)
		reply_mistakes(reply, MHD_HTTP_BAD_REQUEST, &read->report.errors);
	else if (!read->job->id)
		reply_mistake(reply, "%s", without_id);
	else if (!is_of_this_region(request, read->job))
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "No path to region");
	else if (!job_traits_of(read->job)->is_scalable && has_scaling(read->job))
		reply_mistake(reply, "Task groups with job type %s do not support scaling blocks",
			job_type_names[read->job->type]);
	else if (!job_body_is_valid(read))
		reply_mistakes(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, &read->invalid);
	else if (request->ids[0] && strcmp(request->ids[0], read->job->id) != 0)
		reply_mistake(reply,
			"Job ID does not match: the path says \"%.128s\", the body \"%.128s\"",
			request->ids[0], read->job->id);
	else
		return true;
	return false;
}

void job_warnings_json(struct json_writer *w, const struct json_sentences *warnings)
{
	char *text = warnings->count ? json_warnings_text(warnings) : NULL;
	json_put_string(w, "Warnings", text);
	free(text);
}
