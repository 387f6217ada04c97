// Shows deployments and changes them.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/job_file.h"
#include "tools/berth/cli/lookup.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/deployment_view.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include "tools/berth/views/monitor.h"
#include <stdio.h>
#include <string.h>

enum exit_status deployment_list(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES], namespace_name[400];
	http_escape(session->flags.values[FLAG_NAMESPACE], namespace_name, sizeof namespace_name);
	snprintf(path, sizeof path, "/v1/deployments?namespace=%s", namespace_name);
	return list_print(session, &list_deployments, path);
}

enum exit_status deployment_status(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	json_t *deployment;
	if (count == 0)
		return deployment_list(session, arguments, count);
	const char *id = arguments[0];
	if (flag_given(&session->flags, FLAG_MONITOR))
		return deployment_monitor(session, id);
	snprintf(path, sizeof path, "/v1/deployment/%s", id);
	enum exit_status result = http_get_json(session, path, &deployment);
	if (result != STATUS_OK)
		return result;
	if (flag_given(&session->flags, FLAG_JSON))
		field_print(deployment);
	else
		deployment_print(deployment, flag_given(&session->flags, FLAG_VERBOSE));
	json_decref(deployment);
	return STATUS_OK;
}

static json_t *request_for(const char *id)
{
	return json_pack("{s:s}", "DeploymentID", id);
}

// Puts the request and prints what was done (NULL: nothing); then follows the evaluation that it made.
static enum exit_status change_deployment(struct session *session, const char *id, const char *verb,
	json_t *request, const char *done)
{
	char path[HTTP_PATH_BYTES];
	json_t *reply;
	snprintf(path, sizeof path, "/v1/deployment/%s/%s", verb, id);
	enum exit_status result = http_put_json(session, path, request, &reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON)) {
		field_print(reply);
	} else if (result == STATUS_OK) {
		json_t *reverted = json_object_get(reply, "RevertedJobVersion");
		if (done)
			printf("Deployment \"%s\" %s\n", id, done);
		if (json_is_integer(reverted))
			printf("Rolling back to job version %lld\n",
				(long long)json_integer_value(reverted));
		if (!flag_given(&session->flags, FLAG_DETACH) && *field_text(reply, "EvalID"))
			result = monitor_evaluation(session, field_text(reply, "EvalID"));
	}
	json_decref(reply);
	json_decref(request);
	return result;
}

enum exit_status deployment_pause(struct session *session, const char **arguments, int count)
{
	const char *id = arguments[0];
	json_t *request = request_for(id);
	json_object_set_new(request, "Pause", json_true());
	return change_deployment(session, id, "pause", request, "paused");
}

enum exit_status deployment_resume(struct session *session, const char **arguments, int count)
{
	const char *id = arguments[0];
	json_t *request = request_for(id);
	json_object_set_new(request, "Pause", json_false());
	return change_deployment(session, id, "pause", request, "resumed");
}

// Promotes the groups that the flags name, or all.
static enum exit_status promote_groups(struct session *session, const char *id)
{
	json_t *request = request_for(id), *groups = json_array();
	uint32_t at = 0;
	const char *group;
	while ((group = flag_next(&session->flags, FLAG_GROUP, &at)))
		json_array_append_new(groups, json_string(group));
	json_object_set_new(request, "All", json_boolean(json_array_size(groups) == 0));
	json_object_set_new(request, "Groups", groups);
	return change_deployment(session, id, "promote", request, NULL);
}

enum exit_status deployment_promote(struct session *session, const char **arguments, int count)
{
	return promote_groups(session, arguments[0]);
}

enum exit_status deployment_fail(struct session *session, const char **arguments, int count)
{
	const char *id = arguments[0];
	return change_deployment(session, id, "fail", request_for(id), "failed");
}

enum exit_status deployment_unblock(struct session *session, const char **arguments, int count)
{
	const char *id = arguments[0];
	return change_deployment(session, id, "unblock", request_for(id), "unblocked");
}

static enum exit_status show_latest(struct session *session, const char *job)
{
	char path[HTTP_PATH_BYTES];
	json_t *found;
	enum exit_status result =
		http_get_json(session, job_path(session, job, "/deployment", path), &found);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(found);
	else if (result == STATUS_OK && json_is_null(found))
		printf("No deployments found\n");
	else if (result == STATUS_OK)
		deployment_print(found, flag_given(&session->flags, FLAG_VERBOSE));
	json_decref(found);
	return result;
}

enum exit_status job_deployments(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	if (flag_given(&session->flags, FLAG_LATEST))
		return show_latest(session, arguments[0]);
	job_path(session, arguments[0], "/deployments", path);
	if (flag_given(&session->flags, FLAG_ALL))
		snprintf(path + strlen(path), sizeof path - strlen(path), "&all=true");
	return list_print(session, &list_deployments, path);
}

enum exit_status job_promote(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES], id[64];
	json_t *latest;
	enum exit_status result = http_get_json(
		session, job_path(session, arguments[0], "/deployment", path), &latest);
	if (result != STATUS_OK)
		return result;
	snprintf(id, sizeof id, "%s", field_text(latest, "ID"));
	json_decref(latest);
	if (!*id)
		return complain(
			STATUS_NOT_FOUND, "job \"%s\" has no deployment to promote", arguments[0]);
	return promote_groups(session, id);
}
