// berth namespace: shows, describes and takes away namespaces.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/members.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/cli/spec_file.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "/v1/namespace"
static const char list_path[] = "/v1/namespaces";

static const struct spec_name capability_names[] = {
	{"enabled_task_drivers", "EnabledTaskDrivers"},
	{"disabled_task_drivers", "DisabledTaskDrivers"},
	{NULL},
};
static const struct spec_name names[] = {
	{"name", "Name"},
	{"description", "Description"},
	{"quota", "Quota"},
	{"meta", "Meta"},
	{"capabilities", "Capabilities", capability_names},
	{NULL},
};

enum exit_status namespace_list(struct session *session, const char **arguments, int count)
{
	return list_print(session, &list_namespaces, list_path);
}

#define LIST_BYTES 1024u

static const char *joined(json_t *list, const char *none, char text[static LIST_BYTES])
{
	size_t i, at = 0;
	json_t *item;
	snprintf(text, LIST_BYTES, "%s", none);
	json_array_foreach(list, i, item)
	{
		int written = snprintf(
			text + at, LIST_BYTES - at, "%s%s", i ? "," : "", json_string_value(item));
		at += written > 0 ? (size_t)written : 0;
		if (at >= LIST_BYTES)
			break;
	}
	return text;
}

static void put_namespace(json_t *n)
{
	json_t *capabilities = json_object_get(n, "Capabilities");
	char enabled[LIST_BYTES], disabled[LIST_BYTES];
	struct table t;
	table_begin_pairs(&t);
	table_pair(&t, "Name", "= %s", field_text(n, "Name"));
	table_pair(&t, "Description", "= %s", field_or_dash(n, "Description"));
	table_pair(&t, "Quota", "= %s", field_or_dash(n, "Quota"));
	table_pair(&t, "EnabledDrivers", "= %s",
		joined(json_object_get(capabilities, "EnabledTaskDrivers"), "*", enabled));
	table_pair(&t, "DisabledDrivers", "= %s",
		joined(json_object_get(capabilities, "DisabledTaskDrivers"), "-", disabled));
	table_print(&t, 0);
	members_print_texts("Metadata", json_object_get(n, "Meta"));
}

enum exit_status namespace_status(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	return http_show(session, name_path(FOLDER, arguments[0], "", path), put_namespace);
}

enum exit_status namespace_inspect(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	return http_show(session, name_path(FOLDER, arguments[0], "", path), field_print);
}

// The namespace as it is, for flags to change; a new one when there is none of the name, and only then: what is known
// of it must not be lost because it could not be read.
static enum exit_status known_or_new(struct session *session, const char *name, json_t **n)
{
	char path[HTTP_PATH_BYTES];
	struct http_answer answer;
	http_quiet(session, true);
	(void)http_get(session, name_path(FOLDER, name, "", path), &answer);
	http_quiet(session, false);
	bool is_new = answer.status == 404;
	http_answer_free(&answer);
	if (!is_new)
		return http_get_json(session, path, n);
	*n = json_pack("{s:s}", "Name", name);
	return *n ? STATUS_OK : complain(STATUS_USAGE, "the name is to be UTF-8 text");
}

static void set_by_flag(struct session *session, enum flag flag, json_t *n, const char *member)
{
	const char *value = session->flags.values[flag];
	if (value)
		json_object_set_new(n, member, json_string(value));
}

// The argument names a file, or a namespace.
enum exit_status namespace_apply(struct session *session, const char **arguments, int count)
{
	bool is_file = strcmp(arguments[0], "-") == 0 || access(arguments[0], F_OK) == 0;
	json_t *n = NULL, *reply = NULL;
	enum exit_status result = STATUS_OK;
	if (is_file)
		result = spec_file_read(arguments[0], names, &n);
	else
		result = known_or_new(session, arguments[0], &n);
	if (result != STATUS_OK)
		return result;
	set_by_flag(session, FLAG_DESCRIPTION, n, "Description");
	set_by_flag(session, FLAG_QUOTA, n, "Quota");
	result = http_put_json(session, FOLDER, n, &reply);
	if (result == STATUS_OK)
		printf("Namespace \"%s\" is described\n", field_text(n, "Name"));
	json_decref(reply);
	json_decref(n);
	return result;
}

enum exit_status namespace_delete(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	struct http_answer answer;
	enum exit_status result =
		http_delete(session, name_path(FOLDER, arguments[0], "", path), &answer);
	http_answer_free(&answer);
	if (result == STATUS_OK)
		printf("Namespace \"%s\" is deleted\n", arguments[0]);
	return result;
}
