// Roles by id, and by name: there are few, so a name is looked for among all. For state/ only; readers use
// state_acl_role().
#pragma once
#include "state/tables/kind.h"

extern const struct kind acl_role_kind;

// The working record of a role that has the name; NULL: none has. Applier thread only.
const struct acl_role *acl_role_working(const struct state *, struct text name);
