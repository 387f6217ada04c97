// PUT /v1/job/:id/scale: another number of instances of a group.
#include "state/base/memory.h"
#include "tools/api/body.h"
#include "tools/api/eval_made.h"
#include "tools/api/handlers.h"
#include "tools/api/owned_text.h"
#include "tools/api/submission.h"
#include <stdlib.h>

static void free_scaling(struct command *command)
{
	struct command_job_scale *scaling = command->job_scale;
	owned_text_free(scaling->namespace_name);
	owned_text_free(scaling->id);
	owned_text_free(scaling->group);
	owned_text_free(scaling->message);
	owned_text_free(scaling->meta);
	free(scaling);
}

static bool refuse(struct reply *reply, const char *text)
{
	reply_error(reply, MHD_HTTP_BAD_REQUEST, "%s", text);
	return false;
}

static bool is_absent(json_t *value)
{
	return !value || json_is_null(value);
}

// What a scaling needs, in Nomad's words.
static bool body_is_fit(json_t *body, struct reply *reply)
{
	json_t *count = json_object_get(body, "Count"), *meta = json_object_get(body, "Meta");
	json_t *target = json_object_get(body, "Target");
	bool error = json_is_true(json_object_get(body, "Error"));
	const char *group = json_string_value(json_object_get(target, "Group"));
	if (!group || !*group)
		return refuse(reply, "missing task group name for scaling action");
	if (!is_absent(count) && !json_is_integer(count))
		return refuse(reply, "Count: a whole number is expected");
	if (!is_absent(count) && json_integer_value(count) < 0)
		return refuse(reply, "scaling action count can't be negative");
	if (!is_absent(count) && error)
		return refuse(reply, "scaling action should not contain count if error is true");
	if (!is_absent(meta) && !json_is_object(meta))
		return refuse(reply, "Meta: an object is expected");
	return true;
}

// An object as text, "" when there is none.
static struct text meta_text(json_t *meta)
{
	char *text = is_absent(meta) ? NULL : json_dumps(meta, JSON_COMPACT);
	return text ? text_of(text) : owned_text("");
}

static void submit(struct request *request, json_t *body)
{
	json_t *count = json_object_get(body, "Count"), *target = json_object_get(body, "Target");
	struct command_job_scale *scaling = memory_take(sizeof *scaling);
	*scaling = (struct command_job_scale){
		.namespace_name = owned_text(request_namespace(request)),
		.id = owned_text(request->ids[0]),
		.group = owned_text(json_string_value(json_object_get(target, "Group"))),
		.count = {!is_absent(count), json_integer_value(count)},
		.message = owned_text(json_string_value(json_object_get(body, "Message"))),
		.error = json_is_true(json_object_get(body, "Error")),
		.meta = meta_text(json_object_get(body, "Meta")),
	};
	struct command *command =
		submission_command(submission_create(request, 1, free_scaling), 0);
	command->type = COMMAND_JOB_SCALE;
	command->job_scale = scaling;
}

void job_set_scale(struct request *request, struct reply *reply)
{
	json_t *body = body_read(request, reply);
	if (body && body_is_fit(body, reply))
		submit(request, body);
	json_decref(body);
}

void job_scaled(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	const struct command_job_scale *result = command->job_scale;
	if (command->outcome != OUTCOME_DONE) {
		reply_refusal(reply, command, result->message_out, MHD_HTTP_BAD_REQUEST);
		return;
	}
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	eval_made_json(w, &result->made);
	json_put_u64(w, "JobModifyIndex", result->job_modify_index);
	json_put_string(w, "Warnings", "");
	write_meta_json(w, command->index);
	json_end_object(w);
	reply_index(reply, command->index);
}
