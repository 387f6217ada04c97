// Changes that operators make to a deployment.
#include "state/records/deployment.h"
#include "tools/api/nomad/placements/routes.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include "tools/api/server/request.h"
#include "tools/api/server/submission.h"
#include "tools/forms/eval_made_json.h"

// Most ids in one request that sets the health of allocations.
#define IDS_MAX 16384u

// Submits a change of a deployment.
static struct command_deployment *submit_change(
	struct request *request, enum deployment_action action)
{
	struct command *command = submission_one(request, COMMAND_DEPLOYMENT, NULL);
	struct command_deployment *change = submission_take(request, sizeof *change);
	change->action = action;
	command->deployment = change;
	return change;
}

static void name_deployment(
	const struct request *request, struct command_deployment *change, struct reply *reply)
{
	(void)path_uuid(request, "deployment", &change->id, reply);
}

// The body if it fits the path; NULL with a reply.
static json_t *read_body(struct request *request, struct reply *reply)
{
	json_t *body = body_read(request, reply);
	if (body && !body_names(request, body, "DeploymentID", "Deployment ID", reply)) {
		json_decref(body);
		return NULL;
	}
	return body;
}

// True when the body asks for all groups or names some as texts; false with a reply.
static bool groups_are_asked(json_t *body, struct reply *reply)
{
	json_t *groups = json_object_get(body, "Groups"), *group;
	size_t i;
	bool fit = json_array_size(groups) <= JOB_GROUPS_MAX;
	json_array_foreach(groups, i, group) fit = fit && json_is_string(group);
	if (!fit)
		reply_mistake(
			reply, "Groups: an array of at most %u names is expected", JOB_GROUPS_MAX);
	else if (!json_is_true(json_object_get(body, "All")) && !json_array_size(groups))
		reply_mistake(reply, "nothing is to be promoted: set All, or name Groups");
	return reply->status == 0;
}

static void take_groups(struct request *request, struct command_deployment *change, json_t *names)
{
	uint32_t count = (uint32_t)json_array_size(names);
	struct text *groups = submission_take(request, (count + 1) * sizeof groups[0]);
	for (uint32_t i = 0; i < count; i++)
		groups[i] = command_text(request, json_string_value(json_array_get(names, i)));
	change->groups = groups;
	change->group_count = count;
}

void deployment_promote(struct request *request, struct reply *reply)
{
	json_t *body = read_body(request, reply);
	if (body && groups_are_asked(body, reply)) {
		struct command_deployment *change = submit_change(request, DEPLOYMENT_PROMOTE);
		name_deployment(request, change, reply);
		if (!json_is_true(json_object_get(body, "All")))
			take_groups(request, change, json_object_get(body, "Groups"));
	}
	json_decref(body);
}

void deployment_fail(struct request *request, struct reply *reply)
{
	json_t *body = read_body(request, reply);
	if (body) {
		struct command_deployment *change = submit_change(request, DEPLOYMENT_FAIL);
		name_deployment(request, change, reply);
		change->description = DEPLOYMENT_TEXT_FAILED_BY_USER;
		change->revert = true;
	}
	json_decref(body);
}

void deployment_pause(struct request *request, struct reply *reply)
{
	json_t *body = read_body(request, reply);
	json_t *pause = json_object_get(body, "Pause");
	if (body && !json_is_absent(pause) && !json_is_boolean(pause))
		reply_mistake(reply, "Pause: true or false is expected");
	else if (body)
		name_deployment(request,
			submit_change(request,
				json_is_true(pause) ? DEPLOYMENT_PAUSE : DEPLOYMENT_RESUME),
			reply);
	json_decref(body);
}

void deployment_unblock(struct request *request, struct reply *reply)
{
	json_t *body = read_body(request, reply);
	if (body)
		name_deployment(request, submit_change(request, DEPLOYMENT_UNBLOCK), reply);
	json_decref(body);
}

// Reads a member's ids. False with a reply.
static bool read_ids(struct request *request, json_t *body, const char *member,
	const struct uuid **ids, uint32_t *count, struct reply *reply)
{
	json_t *texts = json_object_get(body, member), *text;
	size_t i, size = json_array_size(texts);
	if (size > IDS_MAX)
		return reply_mistake(reply, "%s: at most %u ids", member, IDS_MAX);
	struct uuid *parsed = submission_take(request, (size + 1) * sizeof *parsed);
	json_array_foreach(texts, i, text)
	{
		const char *id = json_string_value(text);
		if (!id || !uuid_parse(id, &parsed[i]))
			return reply_mistake(reply, "%s[%zu]: no id of an allocation", member, i);
	}
	*ids = parsed;
	*count = (uint32_t)size;
	return true;
}

void deployment_set_health(struct request *request, struct reply *reply)
{
	json_t *body = read_body(request, reply);
	if (!body)
		return;
	struct command_deployment *change = submit_change(request, DEPLOYMENT_SET_HEALTH);
	bool fits = read_ids(request, body, "HealthyAllocationIDs", &change->healthy,
			    &change->healthy_count, reply) &&
		    read_ids(request, body, "UnhealthyAllocationIDs", &change->unhealthy,
			    &change->unhealthy_count, reply);
	if (fits && change->healthy_count + change->unhealthy_count == 0)
		reply_mistake(reply, "must specify at least one healthy/unhealthy allocation ID");
	else if (fits)
		name_deployment(request, change, reply);
	json_decref(body);
}

// There was nothing to unblock, which is as good as done.
static void put_nothing_unblocked(struct json_writer *w)
{
	json_begin_object(w);
	json_put_string(w, "EvalID", "");
	json_put_u64(w, "EvalCreateIndex", 0);
	json_put_u64(w, "DeploymentModifyIndex", 0);
	json_put_null(w, "RevertedJobVersion");
	json_put_u64(w, "Index", 0);
	json_end_object(w);
}

void deployment_changed(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	const struct command_deployment *result = command->deployment;
	if (result->action == DEPLOYMENT_UNBLOCK && command->outcome == OUTCOME_NOT_NOW) {
		put_nothing_unblocked(reply_json(request, reply));
		reply_index(reply, 0);
		return;
	}
	// The status with which Nomad refuses a change.
	struct json_writer *w = done_begin_or_say(
		request, reply, &command, result->message, MHD_HTTP_INTERNAL_SERVER_ERROR);
	if (!w)
		return;
	eval_made_json(w, &result->made);
	json_put_u64(w, "DeploymentModifyIndex", result->modify_index);
	json_write_key(w, "RevertedJobVersion");
	if (result->reverted_version.set)
		json_write_i64(w, result->reverted_version.value);
	else
		json_write_null(w);
	json_put_u64(w, "Index", command->index);
	done_end(w, reply, command);
}
