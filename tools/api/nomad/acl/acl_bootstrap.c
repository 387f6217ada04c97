// The first token: made without one, once; and once more after an operator left the index of the last time.
#include "state/base/check.h"
#include "tools/api/nomad/acl/new_token.h"
#include "tools/api/nomad/acl/routes.h"
#include "tools/api/server/body.h"

static struct acl_token *first_token(const struct request *request)
{
	struct acl_token *token = record_create(&acl_token_description);
	token->name = text_copy(TEXT("Bootstrap Token"));
	token->type = ACL_MANAGEMENT;
	token->global = true;
	token->create_time_ns = (int64_t)time_wall_ns(request->api->settings.time);
	return token;
}

// The secret that the operator chose, or a new one. False with a reply.
static bool read_secret(json_t *body, struct uuid *secret, struct reply *reply)
{
	json_t *chosen = json_object_get(body, "BootstrapSecret");
	const char *text = json_string_value(chosen);
	*secret = new_token_secret();
	if (json_is_absent(chosen) || (text && !*text))
		return true;
	return (text && uuid_parse(text, secret) && !uuid_is_zero(secret)) ||
	       reply_mistake(reply, "invalid acl token");
}

void acl_bootstrap(struct request *request, struct reply *reply)
{
	const struct api_settings *settings = &request->api->settings;
	struct uuid secret;
	json_t *body = body_read_or_say(request, reply, "failed to decode request body: ");
	if (!body)
		return;
	bool is_fit = read_secret(body, &secret, reply);
	json_decref(body);
	if (!is_fit)
		return;
	struct command *command =
		new_token_submit(request, COMMAND_ACL_BOOTSTRAP, first_token(request), &secret);
	if (settings->acl_reset_index)
		command->acl_token->reset_index = settings->acl_reset_index(settings->context);
}

void acl_was_bootstrapped(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	const struct command_acl_token *c = command->acl_token;
	switch ((int)command->outcome) {
	case OUTCOME_DONE: new_token_answer(request, reply); break;
	case OUTCOME_NOT_NOW:
		if (c->reset_index)
			reply_mistake(reply,
				"Invalid bootstrap reset index (specified %lu, reset index: %lu)",
				c->reset_index, c->done_index);
		else
			reply_mistake(reply, "ACL bootstrap already done (reset index: %lu)",
				c->done_index);
		break;
	case OUTCOME_CONFLICT: reply_mistake(reply, "invalid acl token"); break;
	default: reply_outcome(reply, (int)command->outcome);
	}
}
