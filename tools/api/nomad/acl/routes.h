// Routes about access control: the first token, tokens, policies, roles. "self" and "onetime" come before the tokens,
// because they could be accessors.
#pragma once
#include "tools/api/server/route.h"

#define ACL_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK, NODE)                               \
	WRITE("PUT", "/v1/acl/bootstrap", OPEN, acl_bootstrap, acl_was_bootstrapped)              \
	WATCH("/v1/acl/tokens", MANAGEMENT, acl_tokens_list, acl_tokens_watched)                  \
	WATCH("/v1/acl/token/self", OPEN, acl_token_self, acl_tokens_watched)                     \
	WATCH("/v1/acl/token/:id", FILTERED, acl_token_read, acl_token_watched)                   \
	ASK("PUT", "/v1/acl/token/onetime", OPEN, acl_absent)                                     \
	WRITE("PUT", "/v1/acl/token", MANAGEMENT, acl_token_put, acl_token_was_put)               \
	WRITE("PUT", "/v1/acl/token/:id", MANAGEMENT, acl_token_put, acl_token_was_put)           \
	WRITE("DELETE", "/v1/acl/token/:id", MANAGEMENT, acl_token_delete, acl_token_was_deleted) \
	WATCH("/v1/acl/policies", FILTERED, acl_policies_list, acl_policies_watched)              \
	WATCH("/v1/acl/policy/:id", FILTERED, acl_policy_read, acl_policy_watched)                \
	WRITE("PUT", "/v1/acl/policy/:id", MANAGEMENT, acl_policy_put, acl_policy_was_put)        \
	WRITE("DELETE", "/v1/acl/policy/:id", MANAGEMENT, acl_policy_delete, acl_policy_was_put)  \
	WATCH("/v1/acl/roles", FILTERED, acl_roles_list, acl_roles_watched)                       \
	WATCH("/v1/acl/role/name/:id", FILTERED, acl_role_read_by_name, acl_role_watched_by_name) \
	WATCH("/v1/acl/role/:id", FILTERED, acl_role_read, acl_role_watched)                      \
	WRITE("PUT", "/v1/acl/role", MANAGEMENT, acl_role_put, acl_role_was_put)                  \
	WRITE("PUT", "/v1/acl/role/:id", MANAGEMENT, acl_role_put, acl_role_was_put)              \
	WRITE("DELETE", "/v1/acl/role/:id", MANAGEMENT, acl_role_delete, acl_role_was_deleted)

ROUTES_DECLARE(ACL_ROUTES)
