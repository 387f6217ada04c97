// Standings of nodes, beside their status: takes nodes out and back by hand, and groups idle nodes by snapshot.
#include "state/base/uuid.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include <stdio.h>

static enum exit_status act_on_node(
	struct session *session, const char *id, const char *action, const char *done)
{
	char path[HTTP_PATH_BYTES];
	json_t *reply;
	snprintf(path, sizeof path, "/v1/berth/node/%s/%s", id, action);
	enum exit_status result = http_put_json(session, path, NULL, &reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(reply);
	else if (result == STATUS_OK)
		printf("Node \"%s\" %s %s; it is %s\n", id,
			json_is_true(json_object_get(reply, "Changed")) ? "was" : "was already",
			done, field_text(json_object_get(reply, "Lifecycle"), "Standing"));
	json_decref(reply);
	return result;
}

enum exit_status node_offline(struct session *session, const char **arguments, int count)
{
	return act_on_node(session, arguments[0], "offline", "taken out");
}

enum exit_status node_online(struct session *session, const char **arguments, int count)
{
	return act_on_node(session, arguments[0], "online", "taken back");
}

static void put_nodes(struct table *t, const char *snapshot, const char *what, json_t *ids)
{
	char id[16];
	for (size_t i = 0; i < json_array_size(ids); i++) {
		table_add(t, *snapshot ? snapshot : "<none>");
		table_add(t, what);
		table_add(t, field_short(json_string_value(json_array_get(ids, i)), id));
	}
}

static enum exit_status put_members(json_t *groups)
{
	static const char *const headings[] = {"Snapshot", "Work", "Node", NULL};
	const char *snapshot;
	json_t *group;
	struct table t;
	table_begin(&t, headings);
	json_object_foreach(groups, snapshot, group)
	{
		put_nodes(&t, snapshot, "idle", json_object_get(group, "Idle"));
		put_nodes(&t, snapshot, "busy", json_object_get(group, "Busy"));
	}
	table_print(&t, 0);
	return STATUS_OK;
}

static enum exit_status put_sizes(json_t *groups)
{
	static const char *const headings[] = {"Snapshot", "Idle", "Busy", NULL};
	const char *snapshot;
	json_t *group;
	struct table t;
	table_begin(&t, headings);
	json_object_foreach(groups, snapshot, group)
	{
		table_add(&t, *snapshot ? snapshot : "<none>");
		table_add_format(&t, "%zu", json_array_size(json_object_get(group, "Idle")));
		table_add_format(&t, "%zu", json_array_size(json_object_get(group, "Busy")));
	}
	table_print(&t, 0);
	return STATUS_OK;
}

enum exit_status node_groups(struct session *session, const char **arguments, int count)
{
	char name[HTTP_PATH_BYTES / 2], path[HTTP_PATH_BYTES] = "/v1/berth/groups";
	if (count > 0)
		snprintf(path, sizeof path, "/v1/berth/groups?snapshot=%s",
			http_escape(arguments[0], name, sizeof name));
	json_t *groups;
	enum exit_status result = http_get_json(session, path, &groups);
	if (result != STATUS_OK)
		return result;
	if (flag_given(&session->flags, FLAG_JSON))
		field_print(groups);
	else
		result = count > 0 || flag_given(&session->flags, FLAG_VERBOSE)
				 ? put_members(groups)
				 : put_sizes(groups);
	json_decref(groups);
	return result;
}
