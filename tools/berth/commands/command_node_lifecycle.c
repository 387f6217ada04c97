// Standings of nodes, beside their status: takes nodes out and back by hand, and groups idle nodes by snapshot.
#include "state/base/uuid.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
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

static void add_nodes(json_t *all, const char *snapshot, const char *work, json_t *ids)
{
	for (size_t i = 0; i < json_array_size(ids); i++)
		json_array_append_new(all, json_pack("{s:s,s:s,s:O}", "Snapshot", snapshot, "Work",
						   work, "Node", json_array_get(ids, i)));
}

static json_t *nodes_of(json_t *groups)
{
	json_t *all = json_array(), *group;
	const char *snapshot;
	json_object_foreach(groups, snapshot, group)
	{
		add_nodes(all, snapshot, "idle", json_object_get(group, "Idle"));
		add_nodes(all, snapshot, "busy", json_object_get(group, "Busy"));
	}
	return all;
}

static json_t *sizes_of(json_t *groups)
{
	json_t *all = json_array(), *group;
	const char *snapshot;
	json_object_foreach(groups, snapshot, group) json_array_append_new(
		all, json_pack("{s:s,s:I,s:I}", "Snapshot", snapshot, "Idle",
			     (json_int_t)json_array_size(json_object_get(group, "Idle")), "Busy",
			     (json_int_t)json_array_size(json_object_get(group, "Busy"))));
	return all;
}

static enum exit_status put_groups(struct session *session, json_t *groups, bool tells_nodes)
{
	json_t *items = tells_nodes ? nodes_of(groups) : sizes_of(groups);
	enum exit_status result =
		list_print_items(session, tells_nodes ? &list_group_nodes : &list_groups, items);
	json_decref(items);
	return result;
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
		result = put_groups(
			session, groups, count > 0 || flag_given(&session->flags, FLAG_VERBOSE));
	json_decref(groups);
	return result;
}
