// Senders of the wire: nodes and clients that are revoked, taken back, or given another key.
#include "state/records/nodes/sender.h"
#include "tools/api/berth/routes.h"
#include "tools/api/lists/record_list.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"

const struct record_kind sender_list = {.table = STATE_SENDERS, .type = &sender_description};

// The command takes its texts from the request, as long as it lives.
static void submit(
	struct request *request, struct reply *reply, struct text name, enum sender_action action)
{
	json_t *body = body_read(request, reply);
	if (!body)
		return;
	const char *reason = json_string_value(json_object_get(body, "Reason"));
	struct command *command = submission_one(request, COMMAND_SENDER, NULL);
	struct command_sender *sender = submission_take(request, sizeof *sender);
	*sender = (struct command_sender){.name = command_text(request, name.data),
		.reason = command_text(request, reason),
		.action = action};
	command->sender = sender;
	json_decref(body);
}

// A node need not be known, so its whole id is asked for.
static void submit_node(struct request *request, struct reply *reply, enum sender_action action)
{
	char name[SENDER_NAME_BYTES];
	struct uuid id;
	if (path_uuid(request, "node", &id, reply))
		submit(request, reply, sender_of_node(&id, name), action);
}

static void submit_client(struct request *request, struct reply *reply, enum sender_action action)
{
	char name[SENDER_NAME_BYTES];
	struct text client = text_of(request->ids[0]);
	if (client.size == 0 || client.size > CLIENT_NAME_BYTES_MAX || !text_is_printable(client))
		reply_mistake(reply, "a client's name is 1 to %u printable characters",
			CLIENT_NAME_BYTES_MAX);
	else
		submit(request, reply, sender_of_client(client, name), action);
}

void node_revoke(struct request *request, struct reply *reply)
{
	submit_node(request, reply, SENDER_REVOKE);
}

void node_restore(struct request *request, struct reply *reply)
{
	submit_node(request, reply, SENDER_RESTORE);
}

void node_rekey(struct request *request, struct reply *reply)
{
	submit_node(request, reply, SENDER_REKEY);
}

void client_revoke(struct request *request, struct reply *reply)
{
	submit_client(request, reply, SENDER_REVOKE);
}

void client_restore(struct request *request, struct reply *reply)
{
	submit_client(request, reply, SENDER_RESTORE);
}

void client_rekey(struct request *request, struct reply *reply)
{
	submit_client(request, reply, SENDER_REKEY);
}

void sender_was_changed(struct request *request, struct reply *reply)
{
	const struct command *command;
	struct json_writer *w = done_begin(request, reply, &command);
	if (!w)
		return;
	const struct command_sender *sender = command->sender;
	json_put_string(w, "Name", sender->name.data);
	json_put_bool(w, "Revoked", sender->action == SENDER_REVOKE);
	json_put_i64(w, "KeyGeneration", sender->key_generation);
	json_put_bool(w, "WentDown", sender->went_down);
	json_put_u64(w, "Index", command->index);
	done_end(w, reply, command);
}
