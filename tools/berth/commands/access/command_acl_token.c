// berth acl token: who may ask, and for how long.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/access/acl_commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>
#include <string.h>

#define FOLDER "/v1/acl/token"
#define NAMES_BYTES 1024u
static const char list_path[] = "/v1/acl/tokens";

json_t *acl_names(const struct flags *flags, enum flag flag)
{
	json_t *list = json_array();
	const char *name;
	uint32_t at = 0;
	while ((name = flag_next(flags, flag, &at)))
		json_array_append_new(list, json_string(name));
	if (json_array_size(list) > 0)
		return list;
	json_decref(list);
	return NULL;
}

json_t *acl_links(const struct flags *flags, enum flag flag)
{
	json_t *names = acl_names(flags, flag), *links = names ? json_array() : NULL, *name;
	size_t i;
	json_array_foreach(names, i, name)
		json_array_append_new(links, json_pack("{s:O}", "Name", name));
	json_decref(names);
	return links;
}

static void put_token(json_t *token)
{
	const char *secret = field_text(token, "SecretID"),
		   *expires = field_text(token, "ExpirationTime");
	char names[NAMES_BYTES];
	struct table t;
	table_begin_pairs(&t);
	table_pair(&t, "Accessor ID", "= %s", field_text(token, "AccessorID"));
	table_pair(&t, "Secret ID", "= %s", *secret ? secret : "(shown to its owner alone)");
	table_pair(&t, "Name", "= %s", field_or_dash(token, "Name"));
	table_pair(&t, "Type", "= %s", field_text(token, "Type"));
	table_pair(&t, "Global", "= %s",
		json_is_true(json_object_get(token, "Global")) ? "true" : "false");
	table_pair(&t, "Created", "= %s", field_text(token, "CreateTime"));
	table_pair(&t, "Expires", "= %s", *expires ? expires : "never");
	table_pair(&t, "Create Index", "= %ld", (long)field_number(token, "CreateIndex"));
	table_pair(&t, "Modify Index", "= %ld", (long)field_number(token, "ModifyIndex"));
	table_pair(&t, "Policies", "= %s",
		names_joined(json_object_get(token, "Policies"), names, sizeof names));
	table_pair(&t, "Roles", "= %s",
		names_joined(json_object_get(token, "Roles"), names, sizeof names));
	table_print(&t, 0);
}

void acl_token_print(struct session *session, json_t *token)
{
	if (flag_given(&session->flags, FLAG_JSON))
		field_print(token);
	else
		put_token(token);
}

enum exit_status acl_token_list(struct session *session, const char **arguments, int count)
{
	return list_print(session, &list_tokens, list_path);
}

enum exit_status acl_token_info(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	return http_show(session, name_path(FOLDER, arguments[0], "", path), put_token);
}

enum exit_status acl_token_self(struct session *session, const char **arguments, int count)
{
	return http_show(session, FOLDER "/self", put_token);
}

// What flags say of a token; what they do not say stays as it is.
static void take_flags(const struct flags *flags, json_t *token)
{
	json_t *policies = acl_names(flags, FLAG_POLICY), *roles = acl_links(flags, FLAG_ROLE);
	if (flag_given(flags, FLAG_TYPE))
		json_object_set_new(token, "Type", json_string(flags->values[FLAG_TYPE]));
	if (policies)
		json_object_set_new(token, "Policies", policies);
	if (roles)
		json_object_set_new(token, "Roles", roles);
}

static enum exit_status send_token(struct session *session, const char *path, json_t *body)
{
	json_t *token = NULL;
	enum exit_status result = http_put_json(session, path, body, &token);
	if (result == STATUS_OK)
		acl_token_print(session, token);
	json_decref(token);
	json_decref(body);
	return result;
}

enum exit_status acl_token_create(struct session *session, const char **arguments, int count)
{
	const struct flags *flags = &session->flags;
	const char *ttl = flags->values[FLAG_TTL];
	json_t *body = json_pack("{s:s,s:s,s:b,s:s}", "Name", count ? arguments[0] : "", "Type",
		"client", "Global", (int)flag_given(flags, FLAG_GLOBAL), "ExpirationTTL",
		ttl ? ttl : "");
	if (!body)
		return complain(STATUS_USAGE, "name and time are to be UTF-8 text");
	take_flags(flags, body);
	return send_token(session, FOLDER, body);
}

enum exit_status acl_token_update(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	json_t *token;
	name_path(FOLDER, arguments[0], "", path);
	enum exit_status result = http_get_json(session, path, &token);
	if (result != STATUS_OK)
		return result;
	if (count > 1)
		json_object_set_new(token, "Name", json_string(arguments[1]));
	take_flags(&session->flags, token);
	// A manager may do everything, so it keeps neither.
	if (strcmp(field_text(token, "Type"), "management") == 0 &&
		!flag_given(&session->flags, FLAG_POLICY) &&
		!flag_given(&session->flags, FLAG_ROLE)) {
		json_object_del(token, "Policies");
		json_object_del(token, "Roles");
	}
	return send_token(session, path, token);
}

enum exit_status acl_token_delete(struct session *session, const char **arguments, int count)
{
	return acl_delete(session, FOLDER, "Token", arguments[0]);
}
