// Reverts a job to an earlier version, and marks versions stable.
#include "tools/api/nomad/jobs/routes.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include "tools/api/server/request.h"
#include "tools/api/server/submission.h"
#include "tools/forms/eval_made_json.h"

// Reads a whole number that is not negative. False with a reply; is_needed: also when it is missing.
static bool read_number(json_t *body, const char *member, bool is_needed,
	struct optional_i64 *number, struct reply *reply)
{
	json_t *value = json_object_get(body, member);
	*number = (struct optional_i64){0};
	if (!is_needed && json_is_absent(value))
		return true;
	if (json_is_integer(value) && json_integer_value(value) >= 0) {
		*number = (struct optional_i64){true, json_integer_value(value)};
		return true;
	}
	return reply_mistake(reply, "%s: a number of a version is expected", member);
}

void job_revert(struct request *request, struct reply *reply)
{
	struct optional_i64 version, prior;
	json_t *body = body_read(request, reply);
	bool fits = body && body_names(request, body, "JobID", "Job ID", reply) &&
		    read_number(body, "JobVersion", true, &version, reply) &&
		    read_number(body, "EnforcePriorVersion", false, &prior, reply);
	json_decref(body);
	if (!fits)
		return;
	struct command *command = submission_one(request, COMMAND_JOB_REVERT, NULL);
	command->job_revert = (struct command_job_revert){
		.namespace_name = command_text(request, request_namespace(request)),
		.id = command_text(request, request->ids[0]),
		.version = (uint64_t)version.value,
		.enforce_prior = prior,
	};
}

// Refuses in Nomad's words; only a missing version is no fault of the server.
static void refuse_revert(
	const struct request *request, struct reply *reply, const struct command *command)
{
	const struct command_job_revert *result = &command->job_revert;
	unsigned long long version = result->version, current = result->current_version;
	if ((int)command->outcome == OUTCOME_UNKNOWN_VERSION)
		reply_error(reply, MHD_HTTP_NOT_FOUND,
			"job \"%s\" in namespace \"%s\" at version %llu not found", request->ids[0],
			request_namespace(request), version);
	else if ((int)command->outcome == OUTCOME_CONFLICT)
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"Current job has version %llu; enforcing version %lld", current,
			(long long)result->enforce_prior.value);
	else if ((int)command->outcome == OUTCOME_NOT_NOW)
		reply_error(
			reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "can't revert to current version");
	else
		reply_outcome(reply, (int)command->outcome);
}

void job_reverted(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	if (command->outcome != OUTCOME_DONE) {
		refuse_revert(request, reply, command);
		return;
	}
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	eval_made_json(w, &command->job_revert.made);
	json_put_u64(w, "JobModifyIndex", command->job_revert.job_modify_index);
	json_put_string(w, "Warnings", "");
	write_meta_json(w, command->index);
	json_end_object(w);
	reply_index(reply, command->index);
}

void job_set_stable(struct request *request, struct reply *reply)
{
	struct optional_i64 version;
	json_t *body = body_read(request, reply);
	bool stable = json_is_true(json_object_get(body, "Stable"));
	bool fits = body && body_names(request, body, "JobID", "Job ID", reply) &&
		    read_number(body, "JobVersion", true, &version, reply);
	json_decref(body);
	if (!fits)
		return;
	struct command *command = submission_one(request, COMMAND_JOB_STABLE, NULL);
	command->job_stable = (struct command_job_stable){
		.namespace_name = command_text(request, request_namespace(request)),
		.id = command_text(request, request->ids[0]),
		.version = (uint64_t)version.value,
		.stable = stable,
	};
}

void job_stable_was_set(struct request *request, struct reply *reply)
{
	const struct command *command;
	struct json_writer *w = done_begin(request, reply, &command);
	if (!w)
		return;
	json_put_u64(w, "JobModifyIndex", command->job_stable.job_modify_index);
	json_put_u64(w, "Index", command->index);
	done_end(w, reply, command);
}
