// Settings for the placement of virtual machines.
#include "state/base/limits.h"
#include "tools/api/orchard/routes.h"
#include "tools/api/orchard/vm_body.h"
#include "tools/api/orchard/vm_subject.h"
#include "tools/api/server/body.h"
#include "tools/api/server/submission.h"
#include "tools/forms/vm_json.h"

void cluster_settings_read(struct request *request, struct reply *reply)
{
	struct json_writer *w = reply_json(request, reply);
	state_read_begin();
	const struct cluster_settings *settings =
		state_cluster_settings(request->api->settings.state);
	// With index 0 a client that waits for a change would ask again at once.
	uint64_t index = settings->record.modify_index ? settings->record.modify_index : 1;
	json_begin_object(w);
	cluster_settings_members_json(w, settings);
	subject_warnings_json(w, request);
	json_end_object(w);
	state_read_end();
	reply_index(reply, index);
}

static void free_settings(struct command *command)
{
	record_free(&cluster_settings_description, command->cluster_settings.settings);
}

static bool profile_is_known(const char *profile)
{
	return !profile || !*profile || strcmp(profile, VM_PROFILE_OPTIMIZE) == 0 ||
	       strcmp(profile, VM_PROFILE_DISTRIBUTE) == 0;
}

static void policies_are_fit(const struct array *policies, struct reply *reply)
{
	if (policies->count > HOST_DIR_POLICIES_MAX)
		reply_mistake(reply,
			"ClusterSettings.hostDirPolicies: there are %u, %u are the most",
			policies->count, HOST_DIR_POLICIES_MAX);
	for (uint32_t i = 0; i < policies->count && !reply->status; i++) {
		const struct host_dir_policy *p = ARRAY_AT(policies, struct host_dir_policy, i);
		if (!p->path_prefix || !*p->path_prefix)
			reply_mistake(reply, "pathPrefix field cannot be empty");
		else if (strlen(p->path_prefix) > ATTRIBUTE_VALUE_BYTES_MAX)
			reply_mistake(reply,
				"ClusterSettings.hostDirPolicies[%u].pathPrefix: has more than %u "
				"bytes",
				i, ATTRIBUTE_VALUE_BYTES_MAX);
	}
}

static bool settings_are_fit(
	const struct cluster_settings *settings, json_t *body, struct reply *reply)
{
	if (!json_object_size(body))
		reply_mistake(reply,
			"ClusterSettings: the body is empty; send {\"schedulerProfile\": "
			"\"distribute-load\"}");
	else if (!profile_is_known(settings->scheduler_profile))
		reply_mistake(reply,
			"ClusterSettings.schedulerProfile: \"%.64s\" is none "
			"of " VM_PROFILE_OPTIMIZE ", " VM_PROFILE_DISTRIBUTE,
			settings->scheduler_profile);
	else
		policies_are_fit(&settings->host_dir_policies, reply);
	return !reply->status;
}

void cluster_settings_set(struct request *request, struct reply *reply)
{
	json_t *body = body_read(request, reply);
	if (!body)
		return;
	struct subject *subject = subject_begin(request);
	struct cluster_settings *settings = record_create(&cluster_settings_description);
	// Orchard's clients do not know this member: what they leave out stays.
	state_read_begin();
	settings->count_assigned =
		state_cluster_settings(request->api->settings.state)->count_assigned;
	state_read_end();
	json_read_record(
		&cluster_settings_description, settings, body, "ClusterSettings", &subject->report);
	if (report_is_clean(&subject->report, reply) && settings_are_fit(settings, body, reply)) {
		struct command *command =
			submission_one(request, COMMAND_CLUSTER_SETTINGS, free_settings);
		command->cluster_settings.settings = settings;
	} else {
		record_free(&cluster_settings_description, settings);
	}
	json_decref(body);
}

void cluster_settings_were_set(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	if (command->outcome == OUTCOME_DONE)
		cluster_settings_read(request, reply);
	else
		reply_outcome(reply, (int)command->outcome);
}
