// PUT /v1/job/:id/scale: sets a group's count.
#include "state/records/job.h"
#include "state/tables/state.h"
#include "tools/api/nomad/jobs/routes.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include "tools/api/server/one_record.h"
#include "tools/api/server/request.h"
#include "tools/api/server/submission.h"
#include "tools/forms/eval_made_json.h"
#include <stdlib.h>

// Checks a scaling's body, with Nomad's messages.
static bool body_is_fit(json_t *body, struct reply *reply)
{
	json_t *count = json_object_get(body, "Count"), *meta = json_object_get(body, "Meta");
	json_t *target = json_object_get(body, "Target");
	bool error = json_is_true(json_object_get(body, "Error"));
	const char *group = json_string_value(json_object_get(target, "Group"));
	if (!group || !*group)
		return reply_mistake(reply, "missing task group name for scaling action");
	if (!json_is_absent(count) && !json_is_integer(count))
		return reply_mistake(reply, "Count: a whole number is expected");
	if (!json_is_absent(count) && json_integer_value(count) < 0)
		return reply_mistake(reply, "scaling action count can't be negative");
	if (!json_is_absent(count) && error)
		return reply_mistake(
			reply, "scaling action should not contain count if error is true");
	if (!json_is_absent(meta) && !json_is_object(meta))
		return reply_mistake(reply, "Meta: an object is expected");
	return true;
}

// Reads a bound from the group's "scaling" block.
static bool bound_of(json_t *scaling, const char *name, json_int_t *bound)
{
	json_t *value = json_object_get(scaling, name);
	*bound = json_integer_value(value);
	return json_is_integer(value);
}

static bool is_within(
	const struct task_group *group, json_t *scaling, json_int_t count, struct reply *reply)
{
	json_int_t bound;
	if (bound_of(scaling, "Min", &bound) && count < bound)
		return reply_mistake(reply,
			"group count was less than scaling policy minimum: %lld < %lld (group "
			"\"%.128s\")",
			count, bound, group->name);
	if (bound_of(scaling, "Max", &bound) && count > bound)
		return reply_mistake(reply,
			"group count was greater than scaling policy maximum: %lld > %lld (group "
			"\"%.128s\")",
			count, bound, group->name);
	return true;
}

// The policy binds every scaling, by an autoscaler or not, enabled or not; a submitted job sets its own count. The
// applier refuses a missing job or group when it decides the command.
static bool policy_allows(const struct request *request, json_t *body, struct reply *reply)
{
	json_t *count = json_object_get(body, "Count"), *scaling = NULL;
	struct text name = text_of(
		json_string_value(json_object_get(json_object_get(body, "Target"), "Group")));
	bool allowed = true;

	state_read_begin();
	const struct job *job = job_of_path(request);
	int group = job ? job_group_index(job, name) : -1;
	if (group >= 0 && !json_is_absent(count)) {
		const struct task_group *it =
			ARRAY_AT(&job->task_groups, struct task_group, (uint32_t)group);
		scaling = it->scaling ? json_loads(it->scaling, 0, NULL) : NULL;
		allowed = is_within(it, scaling, json_integer_value(count), reply);
	}
	state_read_end();
	json_decref(scaling);
	return allowed;
}

// An object as text, "" when it is absent.
static struct text meta_text(struct request *request, json_t *meta)
{
	char *dumped = json_is_absent(meta) ? NULL : json_dumps(meta, JSON_COMPACT);
	struct text text = command_text(request, dumped);
	free(dumped);
	return text;
}

static void submit_scale(struct request *request, json_t *body)
{
	json_t *count = json_object_get(body, "Count"), *target = json_object_get(body, "Target");
	struct command *command = submission_one(request, COMMAND_JOB_SCALE, NULL);
	command->job_scale = submission_take(request, sizeof *command->job_scale);
	*command->job_scale = (struct command_job_scale){
		.namespace_name = command_text(request, request_namespace(request)),
		.id = command_text(request, request->ids[0]),
		.group = command_text(request, json_string_value(json_object_get(target, "Group"))),
		.count = {!json_is_absent(count), json_integer_value(count)},
		.message =
			command_text(request, json_string_value(json_object_get(body, "Message"))),
		.error = json_is_true(json_object_get(body, "Error")),
		.meta = meta_text(request, json_object_get(body, "Meta")),
	};
}

void job_set_scale(struct request *request, struct reply *reply)
{
	json_t *body = body_read(request, reply);
	if (body && body_is_fit(body, reply) && policy_allows(request, body, reply))
		submit_scale(request, body);
	json_decref(body);
}

void job_scaled(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	const struct command_job_scale *result = command->job_scale;
	struct json_writer *w = done_begin_or_say(
		request, reply, &command, result->message_out, MHD_HTTP_BAD_REQUEST);
	if (!w)
		return;
	eval_made_json(w, &result->made);
	json_put_u64(w, "JobModifyIndex", result->job_modify_index);
	json_put_string(w, "Warnings", "");
	write_meta_json(w, command->index);
	done_end(w, reply, command);
}
