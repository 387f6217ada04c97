// Launching what periodic and parameterized jobs make: PUT /v1/job/:id/periodic/force and …/dispatch.
#include "state/base/base64.h"
#include "state/base/memory.h"
#include "tools/api/nomad/jobs/routes.h"
#include "tools/api/server/body.h"
#include "tools/api/server/owned_text.h"
#include "tools/api/server/request.h"
#include "tools/api/server/submission.h"
#include "tools/forms/eval_made_json.h"
#include <stdlib.h>

// Names in the metadata of one dispatch.
#define META_MAX 256u

static void free_launch(struct command *command)
{
	struct command_job_child *launch = command->job_child;
	owned_meta_free(launch->meta, launch->meta_count);
	owned_text_free(launch->namespace_name);
	owned_text_free(launch->parent);
	owned_text_free(launch->payload);
	owned_text_free(launch->idempotency_token);
	free(launch);
}

static struct command_job_child *submit_child(struct request *request)
{
	struct command_job_child *launch = memory_take(sizeof *launch);
	launch->namespace_name = owned_text(request_namespace(request));
	launch->parent = owned_text(request->ids[0]);
	struct command *command = submission_command(submission_create(request, 1, free_launch), 0);
	command->type = COMMAND_JOB_CHILD;
	command->job_child = launch;
	return launch;
}

void job_periodic_force(struct request *request, struct reply *reply)
{
	submit_child(request)->launch_ns = (int64_t)time_wall_ns(request->api->settings.time);
}

void job_periodic_forced(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	if (command->outcome != OUTCOME_DONE) {
		reply_refusal(reply, command, command->job_child->message,
			MHD_HTTP_INTERNAL_SERVER_ERROR);
		return;
	}
	if (uuid_is_zero(&command->job_child->made.id)) {
		reply_error(reply, MHD_HTTP_CONFLICT,
			"the job was launched in this second already; try again in the next one");
		return;
	}
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	eval_made_json(w, &command->job_child->made);
	json_put_u64(w, "Index", command->index);
	json_end_object(w);
	reply_index(reply, command->index);
}

// The payload's bytes, to be freed. False with a reply.
static bool read_payload(json_t *body, struct text *payload, struct reply *reply)
{
	json_t *value = json_object_get(body, "Payload");
	const char *text = json_string_value(value);
	size_t length = json_string_length(value), size = 0;
	*payload = (struct text){0};
	if (!value || json_is_null(value))
		return true;
	uint8_t *bytes = memory_take(BASE64_DECODED_MAX(length) + 1);
	if (text && base64_decode(text, length, bytes, &size)) {
		*payload = (struct text){(char *)bytes, (uint32_t)size};
		return true;
	}
	free(bytes);
	reply_error(reply, MHD_HTTP_BAD_REQUEST, "Payload: bytes in base64 are expected");
	return false;
}

void job_dispatch(struct request *request, struct reply *reply)
{
	struct text payload;
	json_t *body = body_read(request, reply);
	json_t *meta = json_object_get(body, "Meta");
	if (body && body_names(request, body, "JobID", "Job ID", reply) &&
		owned_meta_is_fit(meta, META_MAX, reply) && read_payload(body, &payload, reply)) {
		struct command_job_child *launch = submit_child(request);
		launch->dispatch = true;
		launch->payload = payload;
		launch->idempotency_token =
			owned_text(request_parameter(request, "idempotency_token"));
		launch->meta = owned_meta(meta, &launch->meta_count);
	}
	json_decref(body);
}

void job_dispatched(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	const struct command_job_child *result = command->job_child;
	if (command->outcome != OUTCOME_DONE) {
		reply_refusal(reply, command, result->message, MHD_HTTP_INTERNAL_SERVER_ERROR);
		return;
	}
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_put_string(w, "DispatchedJobID", result->child_id);
	eval_made_json(w, &result->made);
	json_put_u64(w, "JobCreateIndex", result->child_index);
	json_put_u64(w, "Index", command->index);
	json_end_object(w);
	reply_index(reply, command->index);
}
