// Rules of what nodes may claim when they register, and the nodes that were refused.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/file.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/cli/pages.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include <stdio.h>

#define FOLDER "/v1/berth/admit"

static void add_names(struct table *t, json_t *names)
{
	char text[256] = "";
	size_t at = 0;
	for (size_t i = 0; i < json_array_size(names) && at < sizeof text; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? "," : "",
			json_string_value(json_array_get(names, i)));
	table_add(t, json_array_size(names) ? text : "any");
}

static void add_most(struct table *t, json_t *most)
{
	char text[24];
	snprintf(text, sizeof text, "%ld", (long)json_integer_value(most));
	table_add(t, json_is_integer(most) ? text : "any");
}

static void add_rule(json_t *rule, void *table)
{
	table_add(table, field_text(rule, "Pattern"));
	add_names(table, json_object_get(rule, "NodePools"));
	add_names(table, json_object_get(rule, "Datacenters"));
	add_names(table, json_object_get(rule, "NodeClasses"));
	add_most(table, json_object_get(rule, "CPU"));
	add_most(table, json_object_get(rule, "MemoryMB"));
	add_most(table, json_object_get(rule, "DiskMB"));
	add_most(table, json_object_get(rule, "Devices"));
}

enum exit_status admit_list(struct session *session, const char **arguments, int count)
{
	static const char *const headings[] = {"Pattern", "Pools", "Datacenters", "Classes", "CPU",
		"Memory", "Disk", "Devices", NULL};
	struct table t;
	if (flag_given(&session->flags, FLAG_JSON))
		return http_get_through(session, FOLDER);
	table_begin(&t, headings);
	return table_finish(&t, pages_each(session, FOLDER, add_rule, &t), 0);
}

enum exit_status admit_apply(struct session *session, const char **arguments, int count)
{
	json_t *rule, *reply = NULL;
	enum exit_status result = file_read_object(arguments[0], &rule);
	if (result != STATUS_OK)
		return result;
	result = http_put_json(session, FOLDER, rule, &reply);
	if (result == STATUS_OK)
		printf("Nodes that are \"%s\" are admitted by this rule\n",
			field_text(rule, "Pattern"));
	json_decref(reply);
	json_decref(rule);
	return result;
}

enum exit_status admit_delete(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	struct http_answer answer;
	enum exit_status result =
		http_delete(session, name_path(FOLDER, arguments[0], "", path), &answer);
	http_answer_free(&answer);
	if (result == STATUS_OK)
		printf("The rule \"%s\" is deleted\n", arguments[0]);
	return result;
}

static void add_refused(json_t *node, void *table)
{
	table_add(table, field_text(node, "ID"));
	table_add(table, field_text(node, "Name"));
	table_add(table, field_text(node, "Address"));
	table_add(table, field_text(node, "Claim"));
	table_add(table, field_or_dash(node, "Pattern"));
	table_add(table, field_text(node, "Time"));
}

enum exit_status admit_refused(struct session *session, const char **arguments, int count)
{
	static const char *const headings[] = {
		"ID", "Name", "Address", "Refused For", "Rule", "Time", NULL};
	struct table t;
	if (flag_given(&session->flags, FLAG_JSON))
		return http_get_through(session, FOLDER "/refused");
	table_begin(&t, headings);
	return table_finish(&t, pages_each(session, FOLDER "/refused", add_refused, &t), 0);
}
