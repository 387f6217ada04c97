#include "tools/berth/cli/field.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>

static const struct list_column described_columns[] = {
	{"Name", "Name"},
	{"Description", "Description"},
};
const struct list list_pools = {"node pools", LIST_COLUMNS(described_columns), "Name"};
const struct list list_namespaces = {"namespaces", LIST_COLUMNS(described_columns), "Name"};
const struct list list_quotas = {"quotas", LIST_COLUMNS(described_columns), "Name"};
const struct list list_policies = {"policies", LIST_COLUMNS(described_columns), "Name"};

static void put_expiry(json_t *token, struct list_value *value)
{
	const char *expires = field_text(token, "ExpirationTime");
	value->text = *expires ? expires : "never";
}

static const struct list_column token_columns[] = {
	{"Accessor ID", "AccessorID"},
	{"Name", "Name"},
	{"Type", "Type"},
	{"Global", "Global", LIST_SWITCH},
	{"Expires", NULL, .put = put_expiry},
};
const struct list list_tokens = {"tokens", LIST_COLUMNS(token_columns), "Accessor ID", "Type"};

const char *names_joined(json_t *names, char *text, size_t size)
{
	size_t i, at = 0;
	json_t *one;
	snprintf(text, size, "-");
	json_array_foreach(names, i, one)
	{
		const char *name =
			json_is_string(one) ? json_string_value(one) : field_text(one, "Name");
		int put = snprintf(text + at, size - at, "%s%s", i ? ", " : "", name);
		at += put > 0 ? (size_t)put : 0;
		if (at >= size)
			break;
	}
	return text;
}

static void put_policies(json_t *role, struct list_value *value)
{
	names_joined(json_object_get(role, "Policies"), value->room, sizeof value->room);
}

static const struct list_column role_columns[] = {
	{"ID", "ID"},
	{"Name", "Name"},
	{"Description", "Description"},
	{"Policies", NULL, .put = put_policies},
};
const struct list list_roles = {"roles", LIST_COLUMNS(role_columns), "ID"};

static void put_roles(json_t *account, struct list_value *value)
{
	names_joined(json_object_get(account, "roles"), value->room, sizeof value->room);
}

static const struct list_column account_columns[] = {
	{"Name", "name"},
	{"Roles", NULL, .put = put_roles},
	{"Accessor", "accessor"},
};
const struct list list_accounts = {"accounts", LIST_COLUMNS(account_columns), "Name"};

static void put_created(json_t *key, struct list_value *value)
{
	value->number = (double)field_number(key, "CreateTime");
	value->text = field_time(field_number(key, "CreateTime"), value->room);
}

static const struct list_column key_columns[] = {
	{"Key", "KeyID"},
	{"State", "State"},
	{"Create Time", NULL, .put = put_created},
};
const struct list list_keys = {"keys", LIST_COLUMNS(key_columns), "Key"};

static void put_updated(json_t *variable, struct list_value *value)
{
	value->number = (double)field_number(variable, "ModifyTime");
	value->text = field_time(field_number(variable, "ModifyTime"), value->room);
}

static const struct list_column variable_columns[] = {
	{"Namespace", "Namespace"},
	{"Path", "Path"},
	{"Last Updated", NULL, .put = put_updated},
	{"Modify Index", "ModifyIndex", LIST_NUMBER, .is_wide = true},
};
const struct list list_variables = {
	"variables", LIST_COLUMNS(variable_columns), "Path", "Namespace"};
