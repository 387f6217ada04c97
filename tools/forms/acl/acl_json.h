// Policies, roles and tokens in the JSON of Nomad's clients. Each with a hash of what operators set of it, by which
// clients see that something changed.
#pragma once
#include "state/records/acl_policy.h"
#include "state/records/acl_role.h"
#include "state/records/acl_token.h"
#include "state/tables/state.h"
#include "tools/json/json_writer.h"

void acl_policy_json(struct json_writer *, const struct acl_policy *);
void acl_role_json(struct json_writer *, const struct acl_role *);
// Roles are shown by the names that they have now. secret: what only who knows it is shown, or "". Under read lock.
void acl_token_json(
	struct json_writer *, const struct state *, const struct acl_token *, const char *secret);

// As lists have them.
void acl_policy_stub_json(struct json_writer *, const struct acl_policy *);
void acl_token_stub_json(struct json_writer *, const struct state *, const struct acl_token *);
