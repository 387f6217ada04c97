// Registers, stops and evaluates jobs.
#include "state/records/job_traits.h"
#include "tools/api/nomad/jobs/job_submission.h"
#include "tools/api/nomad/jobs/routes.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include "tools/api/server/one_record.h"
#include "tools/api/server/request.h"
#include "tools/api/server/submission.h"
#include "tools/forms/eval_made_json.h"
#include <stdlib.h>

static void free_register(struct command *command)
{
	job_free(command->job_register.job);
}

void job_register(struct request *request, struct reply *reply)
{
	struct job_body *read = job_submission_read(request, reply);
	if (!read)
		return;
	job_submission_check_update(request, read);
	if (!job_submission_is_valid(request, read, "Job ID hasn't been provided", reply))
		return;
	struct command *command = submission_one(request, COMMAND_JOB_REGISTER, free_register);
	command->job_register = (struct command_job_register){
		.job = job_copy(read->job),
		.enforce_index = read->enforce_index,
		.job_modify_index = read->job_modify_index,
		.eval_priority = (int64_t)read->eval_priority,
		.preserve_counts = read->preserve_counts,
	};
}

static void reply_conflict(struct reply *reply, const struct command_job_register *result)
{
	unsigned long long wanted = result->job_modify_index;
	unsigned long long current = result->current_modify_index;
	unsigned status = MHD_HTTP_INTERNAL_SERVER_ERROR;
	if (!wanted)
		reply_error(reply, status, "Enforcing job modify index 0: job already exists");
	else if (!current)
		reply_error(reply, status, "Enforcing job modify index %llu: job does not exist",
			wanted);
	else
		reply_error(reply, status,
			"Enforcing job modify index %llu: job exists with conflicting job modify "
			"index: %llu",
			wanted, current);
}

// An unchanged job keeps the index of its last change.
static uint64_t registered_index(struct request *request, const struct job *job, uint64_t index)
{
	state_read_begin();
	const struct job *stored = state_job(
		request->api->settings.state, text_of(job->namespace_name), text_of(job->id));
	if (stored && stored->job_modify_index && stored->job_modify_index < index)
		index = stored->job_modify_index;
	state_read_end();
	return index;
}

void job_registered(struct request *request, struct reply *reply)
{
	const struct job_body *read = request->context;
	const struct command *command = submission_command(request->submission, 0);
	if ((int)command->outcome == OUTCOME_CONFLICT) {
		reply_conflict(reply, &command->job_register);
		return;
	}
	if (command->outcome != OUTCOME_DONE) {
		reply_refusal(reply, command, command->job_register.message,
			MHD_HTTP_INTERNAL_SERVER_ERROR);
		return;
	}
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	eval_made_json(w, &command->job_register.made);
	json_put_u64(w, "JobModifyIndex", registered_index(request, read->job, command->index));
	job_warnings_json(w, &read->report.warnings);
	write_meta_json(w, command->index);
	json_end_object(w);
	reply_index(reply, command->index);
}

// Reads ?eval_priority=, by default 0. False with a reply.
static bool read_priority(const struct request *request, int64_t *priority, struct reply *reply)
{
	const char *text = request_parameter(request, "eval_priority");
	char *end = NULL;
	*priority = 0;
	if (!text || !*text)
		return true;
	*priority = strtoll(text, &end, 10);
	if (*end)
		*priority = INT64_MIN;
	return eval_priority_fits(*priority, reply);
}

// Reads ?before= in unix ns, by default 0. False with a reply.
static bool read_before(const struct request *request, int64_t *before_ns, struct reply *reply)
{
	const char *text = request_parameter(request, "before");
	char *end = NULL;
	*before_ns = text && *text ? strtoll(text, &end, 10) : 0;
	if (*before_ns >= 0 && (!end || !*end))
		return true;
	return reply_mistake(
		reply, "before: \"%.64s\" is no time; give nanoseconds since 1970", text);
}

void job_deregister(struct request *request, struct reply *reply)
{
	int64_t priority, before_ns;
	if (!read_priority(request, &priority, reply) || !read_before(request, &before_ns, reply))
		return;
	struct command *command = submission_one(request, COMMAND_JOB_DEREGISTER, NULL);
	command->job_deregister = (struct command_job_deregister){
		.namespace_name = command_text(request, request_namespace(request)),
		.id = command_text(request, request->ids[0]),
		.purge = request_flag(request, "purge"),
		.everywhere = request_flag(request, "global"),
		.before_ns = before_ns,
		.eval_priority = priority,
	};
}

// A job that is not there is as good as stopped, so that a script may stop it twice: the indexes are 0.
void job_deregistered(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	if (command->outcome != OUTCOME_DONE && command->outcome != OUTCOME_UNKNOWN_JOB) {
		reply_outcome(reply, (int)command->outcome);
		return;
	}
	uint64_t index = command->outcome == OUTCOME_DONE ? command->index : 0;
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	eval_made_json(w, &command->job_deregister.made);
	json_put_u64(w, "JobModifyIndex", index);
	json_put_string(w, "VolumeEvalID", "");
	json_put_u64(w, "VolumeEvalIndex", 0);
	write_meta_json(w, index);
	json_end_object(w);
	reply_index(reply, index);
}

// Periodic and parameterized jobs are only evaluated through the jobs that they launch.
static bool can_be_evaluated(const struct request *request, struct reply *reply)
{
	state_read_begin();
	const struct job *job = job_of_path(request);
	if (!job)
		reply_error(reply, MHD_HTTP_NOT_FOUND, "job not found");
	else if (job->periodic)
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "can't evaluate periodic job");
	else if (job->parameterized)
		reply_error(
			reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "can't evaluate parameterized job");
	else if (job_is_direct(job))
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"can't evaluate a job of type \"direct\": its instances are placed by "
			"clients");
	state_read_end();
	return reply->status == 0;
}

void job_evaluate(struct request *request, struct reply *reply)
{
	json_t *body = body_read(request, reply);
	bool fits = body && body_names(request, body, "JobID", "Job ID", reply) &&
		    can_be_evaluated(request, reply);
	json_t *options = json_object_get(body, "EvalOptions");
	bool force = json_is_true(json_object_get(options, "ForceReschedule"));
	json_decref(body);
	if (!fits)
		return;
	struct command *command = submission_one(request, COMMAND_JOB_EVALUATE, NULL);
	command->job_evaluate = (struct command_job_evaluate){
		.namespace_name = command_text(request, request_namespace(request)),
		.id = command_text(request, request->ids[0]),
		.force_reschedule = force,
	};
}

static uint64_t job_modify_index(const struct request *request)
{
	state_read_begin();
	const struct job *job = job_of_path(request);
	uint64_t index = job ? job->job_modify_index : 0;
	state_read_end();
	return index;
}

void job_evaluated(struct request *request, struct reply *reply)
{
	const struct command *command;
	struct json_writer *w = done_begin(request, reply, &command);
	if (!w)
		return;
	eval_made_json(w, &command->job_evaluate.made);
	json_put_u64(w, "JobModifyIndex", job_modify_index(request));
	json_put_string(w, "Warnings", "");
	write_meta_json(w, command->index);
	done_end(w, reply, command);
}
