#include "tools/api/nomad/acl/asker.h"
#include "state/records/acl_role.h"
#include "tools/api/access/acl_secret.h"

// The policy of requests without a token.
#define ANONYMOUS "anonymous"

bool asker_refuse(struct reply *reply)
{
	return reply_error(reply, MHD_HTTP_FORBIDDEN, "Permission denied");
}

static bool find_token(const struct request *request, const char *secret, struct asker *asker)
{
	const struct api_settings *settings = &request->api->settings;
	struct acl_secret_hash hash;
	if (!acl_secret_hash(secret, &hash))
		return false;
	const struct acl_token *token = state_acl_token_by_secret(settings->state, &hash);
	if (!token || acl_token_is_expired(token, (int64_t)time_wall_ns(settings->time)))
		return false;
	*asker = (struct asker){token->type == ACL_MANAGEMENT, token->accessor};
	return true;
}

bool asker_look(const struct request *request, struct asker *asker)
{
	const char *secret = request_secret(request);
	*asker = (struct asker){0};
	return !secret || find_token(request, secret, asker);
}

bool acl_is_on(const struct request *request, struct reply *reply)
{
	state_read_begin();
	bool is_on = state_acl_is_bootstrapped(request->api->settings.state);
	state_read_end();
	return is_on || reply_mistake(reply, "ACL support disabled");
}

bool asker_find(const struct request *request, struct asker *asker, struct reply *reply)
{
	if (!acl_is_on(request, reply))
		return false;
	state_read_begin();
	bool is_known = asker_look(request, asker);
	state_read_end();
	return is_known || asker_refuse(reply);
}

bool asker_manages(const struct request *request, struct reply *reply)
{
	struct asker asker;
	return asker_find(request, &asker, reply) && (asker.is_management || asker_refuse(reply));
}

bool asker_has_role(const struct state *state, const struct asker *asker, const struct uuid *role)
{
	const struct acl_token *token = state_acl_token(state, &asker->accessor);
	for (uint32_t i = 0; token && i < token->roles.count; i++)
		if (uuid_equal(ARRAY_AT(&token->roles, struct uuid, i), role))
			return true;
	return false;
}

static void add_policy(const struct state *state, const char *name, struct name_set *names)
{
	if (state_acl_policy(state, text_of(name)))
		name_set_add(names, name);
}

static void add_policies_of_role(
	const struct state *state, const struct acl_role *role, struct name_set *names)
{
	for (uint32_t i = 0; role && i < role->policies.count; i++)
		add_policy(
			state, ARRAY_AT(&role->policies, struct acl_policy_link, i)->name, names);
}

void asker_policies(const struct state *state, const struct asker *asker, struct name_set *names)
{
	const struct acl_token *token = state_acl_token(state, &asker->accessor);
	if (uuid_is_zero(&asker->accessor))
		add_policy(state, ANONYMOUS, names);
	for (uint32_t i = 0; token && i < token->policies.count; i++)
		add_policy(state, *ARRAY_AT(&token->policies, char *, i), names);
	for (uint32_t i = 0; token && i < token->roles.count; i++)
		add_policies_of_role(state,
			state_acl_role(state, ARRAY_AT(&token->roles, struct uuid, i)), names);
}
