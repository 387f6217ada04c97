// Roles of access control: policies under one name, so that tokens need not name them one by one.
#pragma once
#include "state/base/schema.h"
#include "state/base/text.h"
#include "state/records/record.h"

struct acl_policy_link {
	char *name;
};

struct acl_role {
	struct record record; // first
	struct uuid id;
	char *name; // of no other role
	char *description;
	struct array policies; // struct acl_policy_link, each once; some may be gone by now
};

extern const struct record_type acl_role_description;

// Keeps the first link to each policy.
void acl_role_drop_twins(struct acl_role *);
