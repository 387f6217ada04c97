// Senders of the wire: revokes nodes and clients, takes them back, gives them another key.
#include "state/base/uuid.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>
#include <string.h>

static enum exit_status put_change(
	struct session *session, const char *path, const char *reason, json_t **reply)
{
	json_t *body = reason ? json_pack("{s:s}", "Reason", reason) : NULL;
	enum exit_status result = http_put_json(session, path, body, reply);
	json_decref(body);
	return result;
}

// done: what to say when it is.
static enum exit_status act_on(
	struct session *session, const char *path, const char *reason, const char *done)
{
	json_t *reply = NULL;
	enum exit_status result = put_change(session, path, reason, &reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(reply);
	else if (result == STATUS_OK) {
		const char *name = field_text(reply, "Name");
		long generation = (long)field_number(reply, "KeyGeneration");
		printf("%s %s%s\n", name, done,
			json_is_true(json_object_get(reply, "WentDown")) ? "; the node is down"
									 : "");
		if (generation > 0 && !json_is_true(json_object_get(reply, "Revoked")))
			printf("Its key is that of generation %ld: berth %.*s key %s %ld\n",
				generation, (int)strcspn(name, "/"), name,
				name + strcspn(name, "/") + 1, generation);
	}
	json_decref(reply);
	return result;
}

static enum exit_status act_on_node(struct session *session, const char **arguments, int count,
	const char *action, const char *done)
{
	char path[HTTP_PATH_BYTES];
	snprintf(path, sizeof path, "/v1/berth/node/%s/%s", arguments[0], action);
	return act_on(session, path, count > 1 ? arguments[1] : NULL, done);
}

static enum exit_status act_on_client(struct session *session, const char **arguments, int count,
	const char *action, const char *done)
{
	char path[HTTP_PATH_BYTES];
	return act_on(session, name_path("/v1/berth/client", arguments[0], action, path),
		count > 1 ? arguments[1] : NULL, done);
}

enum exit_status node_revoke(struct session *session, const char **arguments, int count)
{
	return act_on_node(session, arguments, count, "revoke", "is revoked");
}

enum exit_status node_restore(struct session *session, const char **arguments, int count)
{
	return act_on_node(session, arguments, count, "restore", "is taken back");
}

enum exit_status node_rekey(struct session *session, const char **arguments, int count)
{
	return act_on_node(session, arguments, count, "rekey", "has another key");
}

enum exit_status quarantine_clear(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	struct http_answer answer;
	const char *id = arguments[0];
	snprintf(path, sizeof path, "/v1/berth/node/%s/quarantine", id);
	enum exit_status result = http_delete(session, path, &answer);
	http_answer_free(&answer);
	if (result == STATUS_OK)
		printf("What was known of clones of node %s is forgotten\n", id);
	return result;
}

enum exit_status client_revoke(struct session *session, const char **arguments, int count)
{
	return act_on_client(session, arguments, count, "/revoke", "is revoked");
}

enum exit_status client_restore(struct session *session, const char **arguments, int count)
{
	return act_on_client(session, arguments, count, "/restore", "is taken back");
}

enum exit_status client_rekey(struct session *session, const char **arguments, int count)
{
	return act_on_client(session, arguments, count, "/rekey", "has another key");
}

enum exit_status sender_list(struct session *session, const char **arguments, int count)
{
	return list_print(session, &list_revoked, "/v1/berth/revoked");
}
