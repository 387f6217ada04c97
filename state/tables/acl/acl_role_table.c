#include "state/tables/acl/acl_role_table.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/limits.h"
#include "state/records/acl_policy.h"
#include "state/records/acl_role.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"

static bool are_links_sound(const struct acl_role *role)
{
	for (uint32_t i = 0; i < role->policies.count; i++) {
		const char *name = ARRAY_AT(&role->policies, struct acl_policy_link, i)->name;
		if (!acl_name_is_fit(text_of(name)))
			return false;
	}
	return role->policies.count > 0 && role->policies.count <= ACL_LINKS_MAX;
}

static bool is_acl_role_sound(const void *record)
{
	const struct acl_role *role = record;

	CHECK(record);
	return !uuid_is_zero(&role->id) && acl_name_is_fit(text_of(role->name)) &&
	       text_of(role->description).size <= ACL_DESCRIPTION_MAX && are_links_sound(role) &&
	       record_is_sound(&acl_role_description, record);
}

static bool has_the_name(const struct acl_role *role, struct text name)
{
	return role && !role->record.deleted && text_equal(text_of(role->name), name);
}

const struct acl_role *acl_role_working(const struct state *state, struct text name)
{
	const struct cell *cell;
	uint64_t cursor = 0;

	CHECK(name.size == 0 || name.data);
	while ((cell = sequence_next(&state->tables[STATE_ACL_ROLES].order, &cursor)))
		if (has_the_name(cell->working, name))
			return cell->working;
	return NULL;
}

static int check_loaded_acl_role(const struct state *state, const void *record)
{
	const struct acl_role *role = record;
	return acl_role_working(state, text_of(role->name)) ? -ERROR_CORRUPT : 0;
}

const struct kind acl_role_kind = {
	.name = "role",
	.key = KEY_UUID,
	.key_offset = offsetof(struct acl_role, id),
	.cell_bytes = sizeof(struct cell),
	.fields = &acl_role_description,
	.limit_offset = offsetof(struct state_limits, acl_roles),
	.limit_max = ACL_ROLES_MAX,
	.has_ids = true,
	.is_sound = is_acl_role_sound,
	.check_loaded = check_loaded_acl_role,
};

const struct acl_role *state_acl_role(const struct state *state, const struct uuid *id)
{
	CHECK(id);
	return table_published(state, STATE_ACL_ROLES, id);
}

const struct acl_role *state_acl_role_by_name(const struct state *state, struct text name)
{
	const struct acl_role *role;
	uint64_t cursor = 0;

	while ((role = state_next(state, STATE_ACL_ROLES, &cursor)))
		if (has_the_name(role, name))
			return role;
	return NULL;
}
