#include "state/tables/acl/acl_policy_table.h"
#include "state/base/check.h"
#include "state/base/limits.h"
#include "state/records/acl_policy.h"
#include "state/tables/state.h"
#include "state/tables/table.h"

static bool is_acl_policy_sound(const void *record)
{
	const struct acl_policy *policy = record;

	CHECK(record);
	return acl_name_is_fit(text_of(policy->name)) && acl_job_is_fit(policy->job) &&
	       text_of(policy->description).size <= ACL_DESCRIPTION_MAX &&
	       text_of(policy->rules).size <= ACL_RULES_BYTES_MAX &&
	       record_is_sound(&acl_policy_description, record);
}

const struct kind acl_policy_kind = {
	.name = "policy",
	.key = KEY_NAME,
	.key_offset = offsetof(struct acl_policy, name),
	.cell_bytes = sizeof(struct cell),
	.fields = &acl_policy_description,
	.limit_offset = offsetof(struct state_limits, acl_policies),
	.limit_max = ACL_POLICIES_MAX,
	.is_sound = is_acl_policy_sound,
};

const struct acl_policy *state_acl_policy(const struct state *state, struct text name)
{
	CHECK(state);
	return table_published(state, STATE_ACL_POLICIES, &name);
}
