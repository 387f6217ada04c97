#include "tools/api/nomad/acl/asker.h"
#include "tools/api/access/policy_set.h"
#include "tools/api/access/token_keeper.h"
#include "tools/api/server/access.h"

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

void asker_policies(const struct state *state, const struct asker *asker, struct name_set *names)
{
	const struct acl_token *token = state_acl_token(state, &asker->accessor);
	struct policy_set set = {0};
	if (token || uuid_is_zero(&asker->accessor)) // else it was deleted meanwhile
		policy_set_collect(&set, state, token);
	for (uint32_t i = 0; i < set.count; i++)
		name_set_add(names, set.items[i]->name);
	policy_set_free(&set);
}
