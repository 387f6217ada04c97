// Policies of access control: rules under a name that tokens and roles refer to. What the rules mean is not of the
// state: they are stored as the operator wrote them.
#pragma once
#include "state/base/schema.h"
#include "state/base/text.h"
#include "state/records/record.h"

// Whose tasks have the policy by themselves, without a token: those of a job; of a group or a task of it, unless these
// are empty. Each needs the one before it.
struct acl_job {
	char *namespace_name, *job, *group, *task;
};

struct acl_policy {
	struct record record; // first
	char *name;
	char *description;
	char *rules;
	struct acl_job *job; // NULL: only tokens have it
};

extern const struct record_type acl_policy_description;

// Whether it may be the name of a policy or a role: letters, digits and '-'.
bool acl_name_is_fit(struct text);
bool acl_job_is_fit(const struct acl_job *); // NULL is fit
