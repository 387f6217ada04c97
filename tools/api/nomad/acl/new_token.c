#include "tools/api/nomad/acl/new_token.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "tools/api/access/acl_secret.h"
#include "tools/forms/acl/acl_json.h"
#include <sodium.h>
#include <stdlib.h>

static void free_token(struct command *command)
{
	record_free(&acl_token_description, command->acl_token->token);
}

static void free_secret(void *secret)
{
	sodium_memzero(secret, UUID_TEXT_BYTES);
	free(secret);
}

struct uuid new_token_secret(void)
{
	struct uuid secret;
	randombytes_buf(secret.bytes, sizeof secret.bytes);
	secret.bytes[6] = (secret.bytes[6] & 0x0f) | 0x40; // random, RFC 4122
	secret.bytes[8] = (secret.bytes[8] & 0x3f) | 0x80;
	return secret;
}

struct command *new_token_submit(struct request *request, enum command_type type,
	struct acl_token *token, const struct uuid *secret)
{
	struct command *command = submission_one(request, type, free_token);
	command->acl_token = submission_take(request, sizeof *command->acl_token);
	command->acl_token->token = token;
	if (!secret)
		return command;
	CHECK(!request->context);
	acl_secret_hash_of(secret, &token->secret);
	request->context = uuid_format(secret, memory_take(UUID_TEXT_BYTES));
	request->context_free = free_secret;
	return command;
}

void new_token_answer(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	const struct state *state = request->api->settings.state;
	const char *secret = request->context ? request->context : "";
	CHECK(command->outcome == OUTCOME_DONE);
	state_read_begin();
	const struct acl_token *token = state_acl_token(state, &command->acl_token->accessor);
	if (token)
		acl_token_json(reply_json(request, reply), state, token, secret);
	else // deleted meanwhile
		reply_error(reply, MHD_HTTP_NOT_FOUND, "ACL token not found");
	state_read_end();
	reply_index(reply, command->index);
}
