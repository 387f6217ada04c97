// Policies by name. For state/ only; readers use state_acl_policy().
#pragma once
#include "state/tables/kind.h"

extern const struct kind acl_policy_kind;
