// Roles: read by those who have them, changed by whoever manages.
#include "state/base/limits.h"
#include "state/records/acl_policy.h"
#include "tools/api/lists/record_list.h"
#include "tools/api/nomad/acl/asker.h"
#include "tools/api/nomad/acl/routes.h"
#include "tools/api/server/access.h"
#include "tools/api/server/blocking_query.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include "tools/api/server/one_record.h"
#include "tools/forms/acl/acl_json.h"
#include <stdlib.h>

#define NOT_FOUND "ACL role not found"

static bool is_wanted(const struct record_list *list, const void *record)
{
	return id_prefix_fits(&list->id_prefix, &((const struct acl_role *)record)->id);
}

static uint64_t choose_roles(const struct request *request, struct record_list *list)
{
	const struct acl_role *role;
	struct asker asker = asker_of(request);
	uint64_t cursor = 0;
	while ((role = state_next(list->state, STATE_ACL_ROLES, &cursor)))
		if ((asker.is_management || asker_has_role(list->state, &asker, &role->id)) &&
			!record_list_add(list, &role->id))
			return 0;
	return 0;
}

static void write_role(struct json_writer *w, const struct record_list *list, const void *record)
{
	acl_role_json(w, record);
}

static const struct record_kind roles = {
	.table = STATE_ACL_ROLES,
	.by_id = true,
	.choose = choose_roles,
	.noun = "acl role",
	.is_wanted = is_wanted,
	.write = write_role,
};

uint64_t acl_roles_watched(const struct request *request)
{
	return table_index(request, STATE_ACL_ROLES);
}

void acl_roles_list(struct request *request, struct reply *reply)
{
	struct asker asker;
	if (asker_find(request, &asker, reply))
		record_list_answer(request, reply, &roles);
}

// Answers with the role, if it is there and the asker may see it. Under read lock.
static void answer_role(struct request *request, struct reply *reply, const struct asker *asker,
	const struct acl_role *role)
{
	const struct state *state = request->api->settings.state;
	if (!asker->is_management && !(role && asker_has_role(state, asker, &role->id))) {
		reply_denied(reply);
		return;
	}
	if (role)
		acl_role_json(reply_json(request, reply), role);
	else
		reply_error(reply, MHD_HTTP_NOT_FOUND, NOT_FOUND);
	reply_index(reply, role ? role->record.modify_index : acl_roles_watched(request));
}

uint64_t acl_role_watched(const struct request *request)
{
	const struct acl_role *role = record_of_path(request, STATE_ACL_ROLES);
	return role ? role->record.modify_index : acl_roles_watched(request);
}

void acl_role_read(struct request *request, struct reply *reply)
{
	struct asker asker;
	if (!asker_find(request, &asker, reply))
		return;
	state_read_begin();
	answer_role(request, reply, &asker, record_of_path(request, STATE_ACL_ROLES));
	state_read_end();
}

static const struct acl_role *role_of_path(const struct request *request)
{
	return state_acl_role_by_name(request->api->settings.state, text_of(request->ids[0]));
}

uint64_t acl_role_watched_by_name(const struct request *request)
{
	const struct acl_role *role = role_of_path(request);
	return role ? role->record.modify_index : acl_roles_watched(request);
}

void acl_role_read_by_name(struct request *request, struct reply *reply)
{
	struct asker asker;
	if (!asker_find(request, &asker, reply))
		return;
	state_read_begin();
	answer_role(request, reply, &asker, role_of_path(request));
	state_read_end();
}

static void free_role(struct command *command)
{
	record_free(&acl_role_description, command->acl_role->role);
}

// What is wrong with the role, all of it at once.
static void check_role(const struct acl_role *role, struct json_sentences *errors)
{
	const char *name = role->name ? role->name : "";
	if (!acl_name_is_fit(text_of(name)))
		json_sentence(errors, "invalid name '%s'", name);
	if (text_of(role->description).size > ACL_DESCRIPTION_MAX)
		json_sentence(errors, "description longer than %u", ACL_DESCRIPTION_MAX);
	if (role->policies.count == 0)
		json_sentence(errors, "at least one policy should be specified");
	if (role->policies.count > ACL_LINKS_MAX)
		json_sentence(errors, "more than %u policies", ACL_LINKS_MAX);
}

// True when the role may be stored; else a reply.
static bool role_is_fit(
	const struct acl_role *role, struct json_sentences *errors, struct reply *reply)
{
	check_role(role, errors);
	if (!errors->count)
		return true;
	char *text = json_sentences_text(errors, "error");
	reply_mistake(reply, "role 0 invalid: %s", text);
	free(text);
	return false;
}

static bool path_fits(const struct request *request, json_t *body, struct reply *reply)
{
	const char *named = json_string_value(json_object_get(body, "ID"));
	if (!request->ids[0] || (named && strcmp(named, request->ids[0]) == 0))
		return true;
	return reply_mistake(reply, "ACL role ID does not match request path");
}

static void submit_role(struct request *request, struct acl_role *role)
{
	struct command *command = submission_one(request, COMMAND_ACL_ROLE, free_role);
	command->acl_role = submission_take(request, sizeof *command->acl_role);
	command->acl_role->role = role;
	acl_role_drop_twins(role);
}

void acl_role_put(struct request *request, struct reply *reply)
{
	json_t *body = asker_manages(request, reply) ? body_read_some(request, reply) : NULL;
	if (!body)
		return;
	struct json_report report = {0};
	struct acl_role *role = record_create(&acl_role_description);
	json_read_record(&acl_role_description, role, body, "Role", &report);
	if (path_fits(request, body, reply) && role_is_fit(role, &report.errors, reply))
		submit_role(request, role);
	else
		record_free(&acl_role_description, role);
	json_decref(body);
	json_report_free(&report);
}

static void reply_refused(const struct command *command, struct reply *reply)
{
	const struct command_acl_role *c = command->acl_role;
	char id[UUID_TEXT_BYTES];
	switch ((int)command->outcome) {
	case OUTCOME_UNKNOWN_POLICY:
		reply_mistake(reply, "cannot find policy %s", c->missing);
		break;
	case OUTCOME_CONFLICT:
		reply_mistake(reply, "role with name %s already exists", c->role->name);
		break;
	case OUTCOME_UNKNOWN_ROLE:
		reply_mistake(reply, "cannot find role %s", uuid_format(&c->role->id, id));
		break;
	default: reply_outcome(reply, (int)command->outcome);
	}
}

void acl_role_was_put(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	if (command->outcome != OUTCOME_DONE) {
		reply_refused(command, reply);
		return;
	}
	state_read_begin();
	const struct acl_role *role =
		state_acl_role(request->api->settings.state, &command->acl_role->id);
	if (role)
		acl_role_json(reply_json(request, reply), role);
	else // deleted meanwhile
		reply_error(reply, MHD_HTTP_NOT_FOUND, NOT_FOUND);
	state_read_end();
	reply_index(reply, command->index);
}

void acl_role_delete(struct request *request, struct reply *reply)
{
	struct uuid id;
	if (!asker_manages(request, reply))
		return;
	if (!uuid_parse(request->ids[0], &id)) {
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, NOT_FOUND);
		return;
	}
	submission_one(request, COMMAND_ACL_ROLE_DELETE, NULL)->acl_delete.id = id;
}

void acl_role_was_deleted(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	if (command->outcome == OUTCOME_UNKNOWN_ROLE) {
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, NOT_FOUND);
	} else if (command->outcome != OUTCOME_DONE) {
		reply_outcome(reply, (int)command->outcome);
	} else {
		reply->status = MHD_HTTP_OK;
		reply_index(reply, command->index);
	}
}
