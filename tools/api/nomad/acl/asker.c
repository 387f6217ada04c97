#include "tools/api/nomad/acl/asker.h"
#include "state/records/acl_role.h"
#include "tools/api/access/token_keeper.h"
#include "tools/api/server/access.h"

// The policy of requests without a token.
#define ANONYMOUS "anonymous"

bool acl_is_on(const struct request *request, struct reply *reply)
{
	const struct api_settings *settings = &request->api->settings;
	state_read_begin();
	bool is_on = settings->acl_forced || state_acl_is_bootstrapped(settings->state);
	state_read_end();
	return is_on || reply_mistake(reply, "ACL support disabled");
}

struct asker asker_of(const struct request *request)
{
	const struct access *access = request->access;
	return access ? (struct asker){acl_is_management(access->acl), access->accessor}
		      : (struct asker){0};
}

bool asker_find(const struct request *request, struct asker *asker, struct reply *reply)
{
	*asker = asker_of(request);
	return acl_is_on(request, reply);
}

// Access control may have been switched on after the request was let in.
bool asker_manages(const struct request *request, struct reply *reply)
{
	struct asker asker;
	return asker_find(request, &asker, reply) && (asker.is_management || reply_denied(reply));
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
