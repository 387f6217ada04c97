// Registering, stopping and validating jobs.
#include "state/base/memory.h"
#include "tools/api/handlers.h"
#include "tools/api/job_request.h"
#include "tools/api/submission.h"
#include <stdlib.h>

#define MESSAGE_BYTES 512u

static void put_warnings(struct json_writer *w, const struct json_sentences *warnings)
{
	char *text = warnings->count ? json_sentences_text(warnings, "warning") : NULL;
	json_put_string(w, "Warnings", text);
	free(text);
}

// All mistakes of a kind in one plain answer.
static void reply_mistakes(
	struct reply *reply, unsigned status, const struct json_sentences *mistakes)
{
	char *text = json_sentences_text(mistakes, "error");
	json_write_plain(&reply->body, "%s", text);
	reply->status = status;
	reply->content_type = API_TEXT_PLAIN;
	free(text);
}

static void free_job_request(void *context)
{
	job_request_free(context);
	free(context);
}

// Reads the body into the request's context. False when the reply is an error.
static bool read_body(struct request *request, struct reply *reply)
{
	char message[MESSAGE_BYTES];
	struct job_request *read = memory_take(sizeof *read);
	request->context = read;
	request->context_free = free_job_request;
	if (job_request_read(request->body, request->body_size, read, message, sizeof message))
		return true;
	reply_error(reply, MHD_HTTP_BAD_REQUEST, "%s", message);
	return false;
}

// --- Register ------------------------------------------------------------------------------------

static void free_register(struct command *command)
{
	job_free(command->job_register.job);
}

static bool path_names_job(struct request *request, const struct job *job, struct reply *reply)
{
	if (!request->ids[0] || strcmp(request->ids[0], job->id) == 0)
		return true;
	reply_error(reply, MHD_HTTP_BAD_REQUEST,
		"Job ID does not match: the path says \"%.128s\", the body \"%.128s\"",
		request->ids[0], job->id);
	return false;
}

void job_register(struct request *request, struct reply *reply)
{
	if (!read_body(request, reply))
		return;
	struct job_request *read = request->context;
	if (read->report.errors.count) {
		reply_mistakes(reply, MHD_HTTP_BAD_REQUEST, &read->report.errors);
		return;
	}
	if (!job_request_is_valid(read)) {
		reply_mistakes(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, &read->invalid);
		return;
	}
	if (!path_names_job(request, read->job, reply))
		return;
	struct submission *submission = submission_create(request, 1, free_register);
	struct command *command = submission_command(submission, 0);
	command->type = COMMAND_JOB_REGISTER;
	command->job_register = (struct command_job_register){
		.job = job_copy(read->job),
		.enforce_index = read->enforce_index,
		.job_modify_index = read->job_modify_index,
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

// A job that did not change keeps the index of its last change.
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

static void put_write_meta(struct json_writer *w, uint64_t index)
{
	json_put_u64(w, "Index", index);
	json_put_u64(w, "LastContact", 0);
	json_put_bool(w, "KnownLeader", false);
}

void job_registered(struct request *request, struct reply *reply)
{
	const struct job_request *read = request->context;
	const struct command *command = submission_command(request->submission, 0);
	if ((int)command->outcome == OUTCOME_CONFLICT) {
		reply_conflict(reply, &command->job_register);
		return;
	}
	if (command->outcome != OUTCOME_DONE) {
		reply_outcome(reply, (int)command->outcome);
		return;
	}
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_put_string(w, "EvalID", "");
	json_put_u64(w, "EvalCreateIndex", 0);
	json_put_u64(w, "JobModifyIndex", registered_index(request, read->job, command->index));
	put_warnings(w, &read->report.warnings);
	put_write_meta(w, command->index);
	json_end_object(w);
	reply_index(reply, command->index);
}

// --- Deregister ----------------------------------------------------------------------------------

static void free_deregister(struct command *command)
{
	free((char *)command->job_deregister.namespace_name.data);
	free((char *)command->job_deregister.id.data);
}

static struct text own_copy(const char *string)
{
	struct text text = text_of(string);
	text.data = text_copy(text);
	return text;
}

void job_deregister(struct request *request, struct reply *reply)
{
	struct submission *submission = submission_create(request, 1, free_deregister);
	struct command *command = submission_command(submission, 0);
	command->type = COMMAND_JOB_DEREGISTER;
	command->job_deregister = (struct command_job_deregister){
		.namespace_name = own_copy(request_namespace(request)),
		.id = own_copy(request->ids[0]),
		.purge = request_flag(request, "purge"),
	};
}

void job_deregistered(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	if (command->outcome != OUTCOME_DONE) {
		reply_outcome(reply, (int)command->outcome);
		return;
	}
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_put_string(w, "EvalID", "");
	json_put_u64(w, "EvalCreateIndex", 0);
	json_put_u64(w, "JobModifyIndex", command->index);
	json_put_string(w, "VolumeEvalID", "");
	json_put_u64(w, "VolumeEvalIndex", 0);
	put_write_meta(w, command->index);
	json_end_object(w);
	reply_index(reply, command->index);
}

// --- Validate ------------------------------------------------------------------------------------

static void put_sentences(struct json_writer *w, const char *key, const struct json_sentences *s)
{
	json_write_key(w, key);
	if (s->count == 0) {
		json_write_null(w);
		return;
	}
	json_begin_array(w);
	for (uint32_t i = 0; i < s->count && i < JSON_SENTENCES_MAX; i++)
		json_write_string(w, s->texts[i]);
	json_end_array(w);
}

void job_validate(struct request *request, struct reply *reply)
{
	if (!read_body(request, reply))
		return;
	const struct job_request *read = request->context;
	const struct json_sentences *mistakes =
		read->report.errors.count ? &read->report.errors : &read->invalid;
	char *text = mistakes->count ? json_sentences_text(mistakes, "error") : NULL;
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_put_bool(w, "DriverConfigValidated", true);
	put_sentences(w, "ValidationErrors", mistakes);
	json_put_string(w, "Error", text);
	put_warnings(w, &read->report.warnings);
	json_end_object(w);
	free(text);
}
