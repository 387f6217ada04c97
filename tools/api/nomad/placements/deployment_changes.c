// What operators ask of a deployment.
#include "state/base/memory.h"
#include "state/records/deployment.h"
#include "tools/api/nomad/placements/routes.h"
#include "tools/api/server/body.h"
#include "tools/api/server/owned_text.h"
#include "tools/api/server/request.h"
#include "tools/api/server/submission.h"
#include "tools/forms/eval_made_json.h"
#include <stdlib.h>

// Ids in one request that sets the health of allocations.
#define IDS_MAX 16384u

// A command and what it points to.
struct change {
	struct command_deployment command;
	struct text *groups;
	struct uuid *healthy, *unhealthy;
};

static void free_change(struct command *command)
{
	struct change *change = (struct change *)command->deployment;
	for (uint32_t i = 0; i < change->command.group_count; i++)
		owned_text_free(change->groups[i]);
	free(change->groups);
	free(change->healthy);
	free(change->unhealthy);
	free(change);
}

// A submission of the deployment that the path names; NULL with a reply.
static struct change *submit_change(
	struct request *request, enum deployment_action action, struct reply *reply)
{
	struct uuid id;
	if (!uuid_parse(request->ids[0], &id)) {
		reply_error(reply, MHD_HTTP_NOT_FOUND, "deployment not found");
		return NULL;
	}
	struct change *change = memory_take(sizeof *change);
	change->command.id = id;
	change->command.action = action;
	struct command *command = submission_command(submission_create(request, 1, free_change), 0);
	command->type = COMMAND_DEPLOYMENT;
	command->deployment = &change->command;
	return change;
}

// The body, when it may stand for the path; NULL with a reply.
static json_t *read_body(struct request *request, struct reply *reply)
{
	json_t *body = body_read(request, reply);
	if (body && !body_names(request, body, "DeploymentID", "Deployment ID", reply)) {
		json_decref(body);
		return NULL;
	}
	return body;
}

// True when the body asks for all groups or names some, as texts; else the reply says so.
static bool groups_are_asked(json_t *body, struct reply *reply)
{
	json_t *groups = json_object_get(body, "Groups"), *group;
	size_t i;
	bool fit = json_array_size(groups) <= JOB_GROUPS_MAX;
	json_array_foreach(groups, i, group) fit = fit && json_is_string(group);
	if (!fit)
		reply_error(reply, MHD_HTTP_BAD_REQUEST,
			"Groups: an array of at most %u names is expected", JOB_GROUPS_MAX);
	else if (!json_is_true(json_object_get(body, "All")) && !json_array_size(groups))
		reply_error(reply, MHD_HTTP_BAD_REQUEST,
			"nothing is to be promoted: set All, or name Groups");
	return reply->status == 0;
}

static void take_groups(struct change *change, json_t *groups)
{
	uint32_t count = (uint32_t)json_array_size(groups);
	change->groups = memory_take_array(count + 1, sizeof change->groups[0]);
	for (uint32_t i = 0; i < count; i++) {
		change->groups[i] = owned_text(json_string_value(json_array_get(groups, i)));
	}
	change->command.groups = change->groups;
	change->command.group_count = count;
}

void deployment_promote(struct request *request, struct reply *reply)
{
	struct change *change = NULL;
	json_t *body = read_body(request, reply);
	if (body && groups_are_asked(body, reply))
		change = submit_change(request, DEPLOYMENT_PROMOTE, reply);
	if (change && !json_is_true(json_object_get(body, "All")))
		take_groups(change, json_object_get(body, "Groups"));
	json_decref(body);
}

void deployment_fail(struct request *request, struct reply *reply)
{
	json_t *body = read_body(request, reply);
	struct change *change = body ? submit_change(request, DEPLOYMENT_FAIL, reply) : NULL;
	if (change) {
		change->command.description = DEPLOYMENT_TEXT_FAILED_BY_USER;
		change->command.revert = true;
	}
	json_decref(body);
}

void deployment_pause(struct request *request, struct reply *reply)
{
	json_t *body = read_body(request, reply);
	json_t *pause = json_object_get(body, "Pause");
	if (body && pause && !json_is_boolean(pause) && !json_is_null(pause))
		reply_error(reply, MHD_HTTP_BAD_REQUEST, "Pause: true or false is expected");
	else if (body)
		submit_change(
			request, json_is_true(pause) ? DEPLOYMENT_PAUSE : DEPLOYMENT_RESUME, reply);
	json_decref(body);
}

void deployment_unblock(struct request *request, struct reply *reply)
{
	json_t *body = read_body(request, reply);
	if (body)
		submit_change(request, DEPLOYMENT_UNBLOCK, reply);
	json_decref(body);
}

// The ids of a member, to be freed. False with a reply.
static bool read_ids(
	json_t *body, const char *member, struct uuid **ids, uint32_t *count, struct reply *reply)
{
	json_t *texts = json_object_get(body, member), *text;
	size_t i, size = json_array_size(texts);
	*count = 0;
	*ids = NULL;
	if (size > IDS_MAX) {
		reply_error(reply, MHD_HTTP_BAD_REQUEST, "%s: at most %u ids", member, IDS_MAX);
		return false;
	}
	*ids = memory_take_array(size + 1, sizeof **ids);
	json_array_foreach(texts, i, text)
	{
		const char *id = json_string_value(text);
		if (!id || !uuid_parse(id, &(*ids)[i])) {
			reply_error(reply, MHD_HTTP_BAD_REQUEST, "%s[%zu]: no id of an allocation",
				member, i);
			return false;
		}
	}
	*count = (uint32_t)size;
	return true;
}

void deployment_set_health(struct request *request, struct reply *reply)
{
	struct uuid *healthy = NULL, *unhealthy = NULL;
	uint32_t healthy_count = 0, unhealthy_count = 0;
	struct change *change = NULL;
	json_t *body = read_body(request, reply);
	bool fits = body &&
		    read_ids(body, "HealthyAllocationIDs", &healthy, &healthy_count, reply) &&
		    read_ids(body, "UnhealthyAllocationIDs", &unhealthy, &unhealthy_count, reply);
	if (fits && healthy_count + unhealthy_count == 0)
		reply_error(reply, MHD_HTTP_BAD_REQUEST,
			"must specify at least one healthy/unhealthy allocation ID");
	else if (fits)
		change = submit_change(request, DEPLOYMENT_SET_HEALTH, reply);
	json_decref(body);
	if (!change) {
		free(healthy);
		free(unhealthy);
		return;
	}
	change->healthy = healthy;
	change->unhealthy = unhealthy;
	change->command.healthy = healthy;
	change->command.healthy_count = healthy_count;
	change->command.unhealthy = unhealthy;
	change->command.unhealthy_count = unhealthy_count;
}

void deployment_changed(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	const struct command_deployment *result = command->deployment;
	if (command->outcome != OUTCOME_DONE) {
		// Nomad's code for what a deployment refuses.
		reply_refusal(reply, command, result->message, MHD_HTTP_INTERNAL_SERVER_ERROR);
		return;
	}
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	eval_made_json(w, &result->made);
	json_put_u64(w, "DeploymentModifyIndex", result->modify_index);
	json_write_key(w, "RevertedJobVersion");
	if (result->reverted_version.set)
		json_write_i64(w, result->reverted_version.value);
	else
		json_write_null(w);
	json_put_u64(w, "Index", command->index);
	json_end_object(w);
	reply_index(reply, command->index);
}
