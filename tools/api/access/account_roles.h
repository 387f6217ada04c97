// The roles that accounts of Orchard's clients may have. Each is a policy that is always there and never changes.
#pragma once
#include "state/records/acl_policy.h"

// NULL: there is no such role.
const struct acl_policy *account_role(const char *name);
// "compute:read, compute:write, …"
#define ACCOUNT_ROLES_TEXT "compute:read, compute:write, compute:connect, admin:read, admin:write"
