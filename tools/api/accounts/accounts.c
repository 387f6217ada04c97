// Service accounts: tokens of access control under the names and with the roles of Orchard's clients.
#include "state/base/time_units.h"
#include "state/records/acl_token.h"
#include "tools/api/access/acl_secret.h"
#include "tools/api/accounts/account_form.h"
#include "tools/api/accounts/routes.h"
#include "tools/api/lists/record_list.h"
#include "tools/api/nomad/acl/asker.h"
#include "tools/api/nomad/acl/new_token.h"
#include "tools/api/server/body.h"
#include "tools/api/server/submission.h"
#include "tools/json/json_record.h"
#include <string.h>

// secret: of one that was just made; NULL: it is never shown again.
static void account_json(struct json_writer *w, const struct acl_token *token, const char *secret)
{
	json_begin_object(w);
	if (secret)
		json_put_string(w, "token", secret);
	json_write_key(w, "roles");
	json_begin_array(w);
	for (uint32_t i = 0; i < token->policies.count; i++)
		json_write_string(w, *ARRAY_AT(&token->policies, char *, i));
	json_end_array(w);
	json_put_string(w, "name", token->name);
	json_write_key(w, "createdAt");
	json_write_time(w, token->create_time_ns);
	json_put_uuid(w, "accessor", &token->accessor);
	json_end_object(w);
}

static bool is_wanted(const struct record_list *list, const void *record)
{
	const struct acl_token *token = record;
	return acl_token_is_account(token) &&
	       strncmp(token->name, list->name_prefix, strlen(list->name_prefix)) == 0;
}

static void write_item(struct json_writer *w, const struct record_list *list, const void *record)
{
	account_json(w, record, NULL);
}

static const struct record_kind accounts = {
	.table = STATE_ACL_TOKENS, .is_wanted = is_wanted, .write = write_item};

void accounts_list(struct request *request, struct reply *reply)
{
	record_list_answer(request, reply, &accounts);
}

static bool reply_unknown(struct reply *reply, const char *name)
{
	return reply_error(reply, MHD_HTTP_NOT_FOUND, "service account \"%.128s\" not found", name);
}

// Answers with the account; NULL: there is none (any more). Under read lock.
static void reply_account(struct request *request, struct reply *reply,
	const struct acl_token *token, const char *secret)
{
	if (token)
		account_json(reply_json(request, reply), token, secret);
	else
		reply_unknown(reply, request->ids[0] ? request->ids[0] : "");
	reply_index(reply,
		token ? token->record.modify_index : state_index(request->api->settings.state));
}

void account_read(struct request *request, struct reply *reply)
{
	const struct state *state = request->api->settings.state;
	state_read_begin();
	reply_account(request, reply, state_acl_account(state, text_of(request->ids[0])), NULL);
	state_read_end();
}

static void take_form(struct acl_token *token, struct account_form *form)
{
	const struct array before = token->policies;
	token->policies = form->roles;
	form->roles = before;
}

static void submit_new(struct request *request, struct account_form *form)
{
	struct acl_token *token = record_create(&acl_token_description);
	struct uuid secret;
	token->name = form->name;
	form->name = NULL;
	take_form(token, form);
	token->type = ACL_CLIENT;
	token->create_time_ns = (int64_t)time_wall_ns(request->api->settings.time);
	if (!form->token || !uuid_parse(form->token, &secret))
		secret = new_token_secret();
	(void)new_token_submit(request, COMMAND_ACL_TOKEN, token, &secret);
}

// While access control is off an account would open nothing.
void account_add(struct request *request, struct reply *reply)
{
	struct account_form form = {0};
	json_t *body = acl_is_on(request, reply) ? body_read(request, reply) : NULL;
	if (body && account_form_read(&form, body, reply))
		submit_new(request, &form);
	account_form_release(&form);
	json_decref(body);
}

// Answers with the account of a command that is done.
static void reply_stored(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	const struct state *state = request->api->settings.state;
	state_read_begin();
	reply_account(request, reply, state_acl_token(state, &command->acl_token->accessor),
		request->context);
	state_read_end();
	reply_index(reply, command->index);
}

void account_added(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	switch ((int)command->outcome) {
	case OUTCOME_DONE: reply_stored(request, reply); break;
	case OUTCOME_CONFLICT:
		reply_error(reply, MHD_HTTP_CONFLICT,
			"service account with this name already exists, or its token does");
		break;
	default: reply_outcome(reply, (int)command->outcome);
	}
}

// What the form says of an account that is there: its token, changed; NULL with a reply. Under read lock.
static struct acl_token *change_account(
	const struct request *request, struct account_form *form, struct reply *reply)
{
	const struct acl_token *known =
		state_acl_account(request->api->settings.state, text_of(request->ids[0]));
	struct acl_secret_hash secret;
	bool says_token = form->token && acl_secret_hash(form->token, &secret);
	if (!known) {
		reply_unknown(reply, request->ids[0]);
		return NULL;
	}
	if (says_token && !acl_secret_equal(&secret, &known->secret)) {
		reply_error(reply, MHD_HTTP_PRECONDITION_FAILED,
			"the token of a service account does not change: delete the account and "
			"create it anew");
		return NULL;
	}
	struct acl_token *token = record_duplicate(&acl_token_description, known);
	token->record = (struct record){0};
	take_form(token, form);
	return token;
}

void account_change(struct request *request, struct reply *reply)
{
	struct account_form form = {0};
	struct acl_token *token = NULL;
	json_t *body = body_read(request, reply);
	if (body && account_form_read(&form, body, reply)) {
		if (strcmp(form.name, request->ids[0]) != 0) {
			reply_mistake(reply, "the name in the body is not the one in the path");
		} else {
			state_read_begin();
			token = change_account(request, &form, reply);
			state_read_end();
		}
	}
	if (token)
		(void)new_token_submit(request, COMMAND_ACL_TOKEN, token, NULL);
	account_form_release(&form);
	json_decref(body);
}

void account_changed(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	if (command->outcome == OUTCOME_DONE)
		reply_stored(request, reply);
	else if (command->outcome == OUTCOME_UNKNOWN_TOKEN)
		reply_unknown(reply, request->ids[0]);
	else
		reply_outcome(reply, (int)command->outcome);
}

void account_remove(struct request *request, struct reply *reply)
{
	state_read_begin();
	const struct acl_token *token =
		state_acl_account(request->api->settings.state, text_of(request->ids[0]));
	struct uuid accessor = token ? token->accessor : (struct uuid){{0}};
	state_read_end();
	if (token)
		submission_one(request, COMMAND_ACL_TOKEN_DELETE, NULL)->acl_delete.id = accessor;
	else
		reply_unknown(reply, request->ids[0]);
}

void account_removed(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	if (command->outcome == OUTCOME_UNKNOWN_TOKEN)
		reply_unknown(reply, request->ids[0]);
	else
		outcome_answer(request, reply);
}
