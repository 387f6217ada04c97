// Policies: read by those who have them, changed by whoever manages.
#include "state/base/limits.h"
#include "state/records/acl_policy.h"
#include "tools/acl/acl_rules.h"
#include "tools/api/nomad/acl/asker.h"
#include "tools/api/nomad/acl/routes.h"
#include "tools/api/server/access.h"
#include "tools/api/server/blocking_query.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include "tools/forms/acl/acl_json.h"
#include <stdlib.h>

uint64_t acl_policies_watched(const struct request *request)
{
	return table_index(request, STATE_ACL_POLICIES);
}

static void put_policy(struct json_writer *w, const struct request *request, const char *name)
{
	const struct acl_policy *policy =
		state_acl_policy(request->api->settings.state, text_of(name));
	if (policy)
		acl_policy_stub_json(w, policy);
}

static void collect_policies(
	const struct state *state, const struct asker *asker, struct name_set *names)
{
	const struct acl_policy *policy;
	uint64_t cursor = 0;
	state_read_begin();
	if (!asker->is_management)
		asker_policies(state, asker, names);
	while (asker->is_management && (policy = state_next(state, STATE_ACL_POLICIES, &cursor)))
		name_set_add(names, policy->name);
	state_read_end();
}

void acl_policies_list(struct request *request, struct reply *reply)
{
	struct name_set names = {0};
	struct asker asker;
	if (!asker_find(request, &asker, reply))
		return;
	uint64_t index = list_index(request);
	collect_policies(request->api->settings.state, &asker, &names);
	if (name_set_answer(&names, request, reply, put_policy))
		reply_index(reply, index);
	name_set_free(&names);
}

uint64_t acl_policy_watched(const struct request *request)
{
	const struct acl_policy *policy =
		state_acl_policy(request->api->settings.state, text_of(request->ids[0]));
	return policy ? policy->record.modify_index : acl_policies_watched(request);
}

static bool may_see(const struct request *request, const struct asker *asker)
{
	struct name_set names = {0};
	if (asker->is_management)
		return true;
	asker_policies(request->api->settings.state, asker, &names);
	bool may = name_set_has(&names, request->ids[0]);
	name_set_free(&names);
	return may;
}

void acl_policy_read(struct request *request, struct reply *reply)
{
	struct asker asker;
	if (!asker_find(request, &asker, reply))
		return;
	state_read_begin();
	const struct acl_policy *policy =
		state_acl_policy(request->api->settings.state, text_of(request->ids[0]));
	if (!may_see(request, &asker))
		reply_denied(reply);
	else if (policy)
		acl_policy_json(reply_json(request, reply), policy);
	else
		reply_error(reply, MHD_HTTP_NOT_FOUND, "ACL policy not found");
	if (reply->status != MHD_HTTP_FORBIDDEN)
		reply_index(reply, acl_policy_watched(request));
	state_read_end();
}

static void free_policy(struct command *command)
{
	record_free(&acl_policy_description, command->acl_policy.policy);
}

static void check_rules(const char *text, struct json_sentences *errors)
{
	char *mistake = NULL;
	struct text rules = text_of(text);
	if (rules.size > ACL_RULES_BYTES_MAX) {
		json_sentence(errors, "rules longer than %u", ACL_RULES_BYTES_MAX);
		return;
	}
	if (rules.size == 0)
		return;
	struct acl_rules *read = acl_rules_read(text, rules.size, &mistake);
	if (!read)
		json_sentence(errors, "failed to parse rules: %s", mistake);
	acl_rules_free(read);
	free(mistake);
}

static void check_job(const struct acl_job *job, struct json_sentences *errors)
{
	if (!job)
		return;
	bool has_job = text_of(job->job).size > 0, has_group = text_of(job->group).size > 0;
	uint32_t before = errors->count;
	if (has_job && !text_of(job->namespace_name).size)
		json_sentence(errors, "namespace must be set to set job ID");
	if (has_group && !has_job)
		json_sentence(errors, "job ID must be set to set group");
	if (text_of(job->task).size && !has_group)
		json_sentence(errors, "group must be set to set task");
	if (errors->count == before && !acl_job_is_fit(job))
		json_sentence(errors, "a name of the job is longer than %u", NAME_BYTES_MAX);
}

// What is wrong with the policy, all of it at once.
static void check_policy(const struct acl_policy *policy, struct json_sentences *errors)
{
	const char *name = policy->name ? policy->name : "";
	if (!acl_name_is_fit(text_of(name)))
		json_sentence(errors, "invalid name '%s'", name);
	check_rules(policy->rules, errors);
	if (text_of(policy->description).size > ACL_DESCRIPTION_MAX)
		json_sentence(errors, "description longer than %u", ACL_DESCRIPTION_MAX);
	check_job(policy->job, errors);
}

// True when the policy may be stored; else a reply.
static bool policy_is_fit(const struct request *request, const struct acl_policy *policy,
	struct json_sentences *errors, struct reply *reply)
{
	if (!errors->count && !text_equal(text_of(policy->name), text_of(request->ids[0])))
		return reply_mistake(reply, "ACL policy name does not match request path");
	check_policy(policy, errors);
	if (!errors->count)
		return true;
	char *text = json_sentences_text(errors, "error");
	reply_mistake(reply, "policy 0 invalid: %s", text);
	free(text);
	return false;
}

void acl_policy_put(struct request *request, struct reply *reply)
{
	json_t *body = asker_manages(request, reply) ? body_read_some(request, reply) : NULL;
	if (!body)
		return;
	struct json_report report = {0};
	struct acl_policy *policy = record_create(&acl_policy_description);
	json_read_record(&acl_policy_description, policy, body, "Policy", &report);
	json_decref(body);
	if (policy_is_fit(request, policy, &report.errors, reply)) {
		struct command *command = submission_one(request, COMMAND_ACL_POLICY, free_policy);
		command->acl_policy.policy = policy;
	} else {
		record_free(&acl_policy_description, policy);
	}
	json_report_free(&report);
}

void acl_policy_delete(struct request *request, struct reply *reply)
{
	if (!asker_manages(request, reply))
		return;
	struct command *command = submission_one(request, COMMAND_ACL_POLICY_DELETE, NULL);
	command->acl_policy_delete.name = command_text(request, request->ids[0]);
}

// A policy that was not there is as good as deleted.
void acl_policy_was_put(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	int outcome = (int)command->outcome;
	if (outcome != OUTCOME_DONE && outcome != OUTCOME_UNKNOWN_POLICY) {
		reply_outcome(reply, outcome);
		return;
	}
	reply->status = MHD_HTTP_OK;
	reply_index(reply, command->index);
}
