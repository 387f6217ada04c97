// Launches jobs from periodic and parameterized jobs: PUT /v1/job/:id/periodic/force and …/dispatch.
#include "state/base/base64.h"
#include "tools/api/nomad/jobs/routes.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include "tools/api/server/request.h"
#include "tools/api/server/submission.h"
#include "tools/forms/eval_made_json.h"
#include <strings.h>

// Names in the metadata of one dispatch.
#define META_MAX 256u

static struct command_job_child *submit_child(struct request *request)
{
	struct command *command = submission_one(request, COMMAND_JOB_CHILD, NULL);
	command->job_child = submission_take(request, sizeof *command->job_child);
	command->job_child->namespace_name = command_text(request, request_namespace(request));
	command->job_child->parent = command_text(request, request->ids[0]);
	return command->job_child;
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

// Decodes the payload if there is one, or fills the reply.
static void read_payload(
	struct request *request, json_t *body, struct text *payload, struct reply *reply)
{
	json_t *value = json_object_get(body, "Payload");
	const char *text = json_string_value(value);
	size_t length = json_string_length(value), size = 0;
	if (json_is_absent(value))
		return;
	uint8_t *bytes = submission_take(request, BASE64_DECODED_MAX(length) + 1);
	if (text && base64_decode(text, length, bytes, &size))
		*payload = (struct text){(char *)bytes, (uint32_t)size};
	else
		reply_mistake(reply, "Payload: bytes in base64 are expected");
}

// The text goes into the id as it is: it only is called a template. Clients write the name in several cases.
static struct text read_prefix(struct request *request, json_t *body)
{
	const char *name;
	json_t *value;
	json_object_foreach(body, name, value)
	{
		if (strcasecmp(name, "IdPrefixTemplate") == 0)
			return command_text(request, json_string_value(value));
	}
	return (struct text){NULL, 0};
}

void job_dispatch(struct request *request, struct reply *reply)
{
	json_t *body = body_read(request, reply);
	json_t *meta = json_object_get(body, "Meta");
	if (body && body_names(request, body, "JobID", "Job ID", reply) &&
		meta_is_fit(meta, META_MAX, reply)) {
		struct command_job_child *launch = submit_child(request);
		launch->dispatch = true;
		launch->idempotency_token =
			command_text(request, request_parameter(request, "idempotency_token"));
		launch->prefix = read_prefix(request, body);
		launch->meta = command_meta(request, meta, &launch->meta_count);
		read_payload(request, body, &launch->payload, reply);
	}
	json_decref(body);
}

void job_dispatched(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	const struct command_job_child *result = command->job_child;
	struct json_writer *w = done_begin_or_say(
		request, reply, &command, result->message, MHD_HTTP_INTERNAL_SERVER_ERROR);
	if (!w)
		return;
	json_put_string(w, "DispatchedJobID", result->child_id);
	eval_made_json(w, &result->made);
	json_put_u64(w, "JobCreateIndex", result->child_index);
	json_put_u64(w, "Index", command->index);
	done_end(w, reply, command);
}
