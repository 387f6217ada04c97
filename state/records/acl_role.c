// Names are Nomad's. Rows are only ever appended to a table: their order is the binary form (state/base/schema.h).
#include "state/records/acl_role.h"
#include "state/base/schema_table.h"
#include <stdlib.h>

static const struct field acl_policy_link_fields[] = {
	{"Name", FIELD_STRING, OF(acl_policy_link, name)},
};
static DESCRIBE(link_description, acl_policy_link);

static const struct field acl_role_fields[] = {
	{"ID", FIELD_UUID, OF(acl_role, id)},
	{"Name", FIELD_STRING, OF(acl_role, name)},
	{"Description", FIELD_STRING, OF(acl_role, description)},
	{"Policies", FIELD_ARRAY, OF(acl_role, policies), &link_description},
	{"CreateIndex", FIELD_U64, OF(acl_role, record.create_index), FLAGS(FIELD_DERIVED)},
	{"ModifyIndex", FIELD_U64, OF(acl_role, record.modify_index), FLAGS(FIELD_DERIVED)},
};
DESCRIBE(acl_role_description, acl_role);

static bool is_linked_before(const struct acl_role *role, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (text_equal(text_of(ARRAY_AT(&role->policies, struct acl_policy_link, i)->name),
			    text_of(name)))
			return true;
	return false;
}

void acl_role_drop_twins(struct acl_role *role)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < role->policies.count; i++) {
		struct acl_policy_link *link = ARRAY_AT(&role->policies, struct acl_policy_link, i);
		if (is_linked_before(role, kept, link->name))
			free(link->name);
		else
			*ARRAY_AT(&role->policies, struct acl_policy_link, kept++) = *link;
	}
	role->policies.count = kept;
}
