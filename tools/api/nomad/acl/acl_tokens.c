// Tokens: read by their owners, changed by whoever manages.
#include "tools/api/access/acl_secret.h"
#include "tools/api/lists/record_list.h"
#include "tools/api/nomad/acl/acl_token_form.h"
#include "tools/api/nomad/acl/asker.h"
#include "tools/api/nomad/acl/new_token.h"
#include "tools/api/nomad/acl/routes.h"
#include "tools/api/server/access.h"
#include "tools/api/server/blocking_query.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include "tools/api/server/one_record.h"
#include "tools/forms/acl/acl_json.h"

#define BAD_ID "acl token lookup failed: index error: UUID must be 36 characters"

// ?global= chooses nothing, as a real server has it.
static bool is_wanted(const struct record_list *list, const void *record)
{
	return id_prefix_fits(&list->id_prefix, &((const struct acl_token *)record)->accessor);
}

static void write_token(struct json_writer *w, const struct record_list *list, const void *record)
{
	acl_token_stub_json(w, list->state, record);
}

static const struct record_kind tokens = {
	.table = STATE_ACL_TOKENS,
	.noun = "acl token",
	.is_wanted = is_wanted,
	.write = write_token,
};

uint64_t acl_tokens_watched(const struct request *request)
{
	return table_index(request, STATE_ACL_TOKENS);
}

void acl_tokens_list(struct request *request, struct reply *reply)
{
	if (asker_manages(request, reply))
		record_list_answer(request, reply, &tokens);
}

// Whoever shows a token's secret may see it again. Under read lock.
static const char *known_secret(const struct request *request, const struct acl_token *token)
{
	const char *shown = request_secret(request);
	struct acl_secret_hash hash;
	bool is_own =
		shown && acl_secret_hash(shown, &hash) && acl_secret_equal(&hash, &token->secret);
	return is_own ? shown : "";
}

// token NULL: there is none. Under read lock.
static void answer_token(
	struct request *request, struct reply *reply, const struct acl_token *token)
{
	if (token)
		acl_token_json(reply_json(request, reply), request->api->settings.state, token,
			known_secret(request, token));
	else
		reply_error(reply, MHD_HTTP_NOT_FOUND, "ACL token not found");
	reply_index(reply, token ? token->record.modify_index : acl_tokens_watched(request));
}

uint64_t acl_token_watched(const struct request *request)
{
	const struct acl_token *token = record_of_path(request, STATE_ACL_TOKENS);
	return token ? token->record.modify_index : acl_tokens_watched(request);
}

void acl_token_read(struct request *request, struct reply *reply)
{
	struct asker asker;
	struct uuid accessor;
	if (!asker_find(request, &asker, reply))
		return;
	if (!uuid_parse(request->ids[0], &accessor)) {
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, BAD_ID);
		return;
	}
	if (!asker.is_management &&
		(uuid_is_zero(&accessor) || !uuid_equal(&asker.accessor, &accessor))) {
		reply_denied(reply);
		return;
	}
	state_read_begin();
	answer_token(request, reply, record_of_path(request, STATE_ACL_TOKENS));
	state_read_end();
}

// Also of a token that has expired, as long as it is there.
void acl_token_self(struct request *request, struct reply *reply)
{
	const char *secret = request_secret(request);
	struct acl_secret_hash hash;
	if (!acl_is_on(request, reply))
		return;
	if (!secret || !acl_secret_hash(secret, &hash)) {
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "%s",
			secret ? BAD_ID : "acl token lookup failed: missing secret id");
		return;
	}
	state_read_begin();
	answer_token(
		request, reply, state_acl_token_by_secret(request->api->settings.state, &hash));
	state_read_end();
}

void acl_token_put(struct request *request, struct reply *reply)
{
	json_t *body = asker_manages(request, reply) ? body_read_some(request, reply) : NULL;
	struct acl_token *token = body ? acl_token_read_form(request, body, reply) : NULL;
	json_decref(body);
	if (!token)
		return;
	struct uuid secret = new_token_secret();
	bool is_new = uuid_is_zero(&token->accessor);
	(void)new_token_submit(request, COMMAND_ACL_TOKEN, token, is_new ? &secret : NULL);
}

void acl_token_was_put(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	char id[UUID_TEXT_BYTES];
	switch ((int)command->outcome) {
	case OUTCOME_DONE: new_token_answer(request, reply); break;
	case OUTCOME_UNKNOWN_TOKEN:
		reply_mistake(reply, "cannot find token %s",
			uuid_format(&command->acl_token->token->accessor, id));
		break;
	case OUTCOME_UNKNOWN_ROLE: reply_mistake(reply, "cannot find role"); break;
	default: reply_outcome(reply, (int)command->outcome);
	}
}

void acl_token_delete(struct request *request, struct reply *reply)
{
	struct uuid accessor;
	if (!asker_manages(request, reply))
		return;
	if (!uuid_parse(request->ids[0], &accessor)) {
		reply_mistake(reply, "token lookup failed: " BAD_ID);
		return;
	}
	submission_one(request, COMMAND_ACL_TOKEN_DELETE, NULL)->acl_delete.id = accessor;
}

void acl_token_was_deleted(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	if (command->outcome == OUTCOME_UNKNOWN_TOKEN) {
		reply_mistake(reply, "Cannot delete nonexistent tokens: %s", request->ids[0]);
	} else if (command->outcome != OUTCOME_DONE) {
		reply_outcome(reply, (int)command->outcome);
	} else {
		reply->status = MHD_HTTP_OK;
		reply_index(reply, command->index);
	}
}
