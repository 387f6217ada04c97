// berth node meta: shows a node's metadata, sets it and takes it away.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/members.h"
#include "tools/berth/commands/commands.h"
#include <stdio.h>
#include <string.h>

static const char route[] = "/v1/client/metadata";

// What was taken away is null in the answer.
static void put_dynamic(json_t *dynamic)
{
	const char *name;
	void *next;
	json_t *value;
	json_object_foreach_safe(dynamic, next, name, value)
	{
		if (json_is_null(value))
			json_object_set_new(dynamic, name, json_string("(taken away)"));
	}
	members_print_texts("Set by an operator", dynamic);
}

static void put_meta(const struct session *session, json_t *meta)
{
	if (flag_given(&session->flags, FLAG_JSON)) {
		field_print(meta);
		return;
	}
	members_print_texts("Meta", json_object_get(meta, "Meta"));
	put_dynamic(json_object_get(meta, "Dynamic"));
	members_print_texts("Of the agent", json_object_get(meta, "Static"));
}

enum exit_status node_meta_read(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	const char *id = arguments[0];
	json_t *meta;
	snprintf(path, sizeof path, "%s?node_id=%s", route, id);
	enum exit_status result = http_get_json(session, path, &meta);
	if (result == STATUS_OK)
		put_meta(session, meta);
	json_decref(meta);
	return result;
}

// What the command line wants changed: names and values, null for what is to be taken away. NULL after a complaint.
static json_t *changes_of(const struct flags *flags, const char **pairs, int count)
{
	json_t *changes = json_object();
	const char *name;
	uint32_t at = 0;
	while ((name = flag_next(flags, FLAG_UNSET, &at)))
		json_object_set_new(changes, name, json_null());
	for (int i = 0; i < count; i++) {
		const char *equals = strchr(pairs[i], '=');
		if (!equals || equals == pairs[i]) {
			complain(STATUS_USAGE, "\"%s\" is not NAME=VALUE", pairs[i]);
			json_decref(changes);
			return NULL;
		}
		json_object_setn_new(
			changes, pairs[i], (size_t)(equals - pairs[i]), json_string(equals + 1));
	}
	if (json_object_size(changes) > 0)
		return changes;
	complain(STATUS_USAGE, "NAME=VALUE or --unset NAME is needed");
	json_decref(changes);
	return NULL;
}

enum exit_status node_meta_apply(struct session *session, const char **arguments, int count)
{
	json_t *changes = changes_of(&session->flags, arguments + 1, count - 1);
	if (!changes)
		return STATUS_USAGE;
	json_t *meta, *body = json_pack("{s:s,s:o}", "NodeID", arguments[0], "Meta", changes);
	enum exit_status result = http_post_json(session, route, body, &meta);
	if (result == STATUS_OK)
		put_meta(session, meta);
	json_decref(meta);
	json_decref(body);
	return result;
}
