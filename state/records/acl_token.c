// Rows are only ever appended to a table: their order is the binary form (state/base/schema.h).
#include "state/records/acl_token.h"
#include "state/base/schema_table.h"

const char *const acl_token_type_names[] = {"client", "management", NULL};

// The hash is stored as two halves of the size of a UUID.
_Static_assert(sizeof(struct acl_secret_hash) == 2 * sizeof(struct uuid), "two halves");

static const struct field acl_token_fields[] = {
	{"AccessorID", FIELD_UUID, OF(acl_token, accessor)},
	{"SecretHash", FIELD_UUID, OF(acl_token, secret), FLAGS(FIELD_HIDDEN)},
	{"SecretHashEnd", FIELD_UUID, OF(acl_token, secret) + sizeof(struct uuid),
		FLAGS(FIELD_HIDDEN)},
	{"Name", FIELD_STRING, OF(acl_token, name)},
	{"Type", FIELD_ENUM, OF(acl_token, type), NULL, acl_token_type_names},
	{"Policies", FIELD_STRINGS, OF(acl_token, policies), FLAGS(FIELD_NULL_EMPTY)},
	{"Roles", FIELD_UUIDS, OF(acl_token, roles), FLAGS(FIELD_NULL_EMPTY)},
	{"Global", FIELD_BOOL, OF(acl_token, global)},
	{"CreateTime", FIELD_I64, OF(acl_token, create_time_ns), FLAGS(FIELD_TIME)},
	{"ExpirationTime", FIELD_I64, OF(acl_token, expiration_time_ns),
		FLAGS(FIELD_TIME | FIELD_NULL_ZERO)},
	{"ExpirationTTL", FIELD_I64, OF(acl_token, expiration_ttl_ns), FLAGS(FIELD_DURATION)},
	{"CreateIndex", FIELD_U64, OF(acl_token, record.create_index), FLAGS(FIELD_DERIVED)},
	{"ModifyIndex", FIELD_U64, OF(acl_token, record.modify_index), FLAGS(FIELD_DERIVED)},
};
DESCRIBE(acl_token_description, acl_token);

static const struct field acl_bootstrap_fields[] = {
	{"AccessorID", FIELD_UUID, OF(acl_bootstrap, accessor)},
	{"ResetIndex", FIELD_U64, OF(acl_bootstrap, reset_index)},
};
DESCRIBE(acl_bootstrap_description, acl_bootstrap);

bool acl_token_type_fits(int type, uint32_t links)
{
	return type == ACL_CLIENT ? links > 0 : type == ACL_MANAGEMENT && links == 0;
}

bool acl_policy_is_role(const char *name)
{
	return name && strchr(name, ':');
}

bool acl_token_is_account(const struct acl_token *token)
{
	bool is_account = token->type == ACL_CLIENT && text_of(token->name).size > 0 &&
			  token->policies.count > 0 && token->roles.count == 0;
	for (uint32_t i = 0; i < token->policies.count && is_account; i++)
		is_account = acl_policy_is_role(*ARRAY_AT(&token->policies, char *, i));
	return is_account;
}

bool acl_token_goes_on(const struct acl_token *before, const struct acl_token *after)
{
	return uuid_equal(&before->accessor, &after->accessor) &&
	       acl_secret_equal(&before->secret, &after->secret) &&
	       before->global == after->global && before->create_time_ns == after->create_time_ns &&
	       before->expiration_time_ns == after->expiration_time_ns &&
	       before->expiration_ttl_ns == after->expiration_ttl_ns;
}
