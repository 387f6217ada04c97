// berth acl role: policies under one name. Roles are named by their id or their name.
#include "state/base/uuid.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/access/acl_commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"

#define FOLDER "/v1/acl/role"
#define NAMES_BYTES 1024u
static const char list_path[] = "/v1/acl/roles";

enum exit_status acl_role_list(struct session *session, const char **arguments, int count)
{
	return list_print(session, &list_roles, list_path);
}

static void put_role(json_t *role)
{
	char names[NAMES_BYTES];
	struct table t;
	table_begin_pairs(&t);
	table_pair(&t, "ID", "= %s", field_text(role, "ID"));
	table_pair(&t, "Name", "= %s", field_text(role, "Name"));
	table_pair(&t, "Description", "= %s", field_or_dash(role, "Description"));
	table_pair(&t, "Policies", "= %s",
		names_joined(json_object_get(role, "Policies"), names, sizeof names));
	table_pair(&t, "Create Index", "= %ld", (long)field_number(role, "CreateIndex"));
	table_pair(&t, "Modify Index", "= %ld", (long)field_number(role, "ModifyIndex"));
	table_print(&t, 0);
}

static const char *role_path(const char *id_or_name, char *path)
{
	struct uuid id;
	const char *folder = uuid_parse(id_or_name, &id) ? FOLDER : FOLDER "/name";
	return name_path(folder, id_or_name, "", path);
}

enum exit_status acl_role_info(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	return http_show(session, role_path(arguments[0], path), put_role);
}

// Sends the role, which it releases, as flags change it.
static enum exit_status send_role(struct session *session, const char *path, json_t *body)
{
	const char *description = session->flags.values[FLAG_DESCRIPTION];
	json_t *policies = acl_links(&session->flags, FLAG_POLICY), *role = NULL;
	if (description)
		json_object_set_new(body, "Description", json_string(description));
	if (policies)
		json_object_set_new(body, "Policies", policies);
	enum exit_status result = http_put_json(session, path, body, &role);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(role);
	else if (result == STATUS_OK)
		put_role(role);
	json_decref(role);
	json_decref(body);
	return result;
}

enum exit_status acl_role_create(struct session *session, const char **arguments, int count)
{
	json_t *body = json_pack("{s:s}", "Name", arguments[0]);
	if (!body)
		return complain(STATUS_USAGE, "the name is to be UTF-8 text");
	return send_role(session, FOLDER, body);
}

enum exit_status acl_role_update(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	json_t *role;
	enum exit_status result = http_get_json(session, role_path(arguments[0], path), &role);
	if (result != STATUS_OK)
		return result;
	if (count > 1)
		json_object_set_new(role, "Name", json_string(arguments[1]));
	return send_role(session, name_path(FOLDER, field_text(role, "ID"), "", path), role);
}

enum exit_status acl_role_delete(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	json_t *role;
	enum exit_status result = http_get_json(session, role_path(arguments[0], path), &role);
	if (result == STATUS_OK)
		result = acl_delete(session, FOLDER, "Role", field_text(role, "ID"));
	json_decref(role);
	return result;
}
