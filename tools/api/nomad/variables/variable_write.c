// Variables are written and deleted, each maybe only if it is still as the sender knows it.
#include "state/base/memory.h"
#include "tools/api/nomad/variables/routes.h"
#include "tools/api/nomad/variables/variable_body.h"
#include "tools/api/server/access.h"
#include "tools/api/server/command_text.h"
#include <stdlib.h>

// ?cas=: *cas says whether there is one. False with a reply when it is no number.
static bool cas_read(const struct request *request, bool *cas, uint64_t *index, struct reply *reply)
{
	const char *text = request_parameter(request, "cas");
	*cas = text && *text;
	if (!*cas || number_parse(text, UINT64_MAX, index))
		return true;
	bool is_large = text[strspn(text, "0123456789")] == '\0';
	return reply_mistake(reply, "can not parse cas: strconv.ParseUint: parsing \"%.64s\": %s",
		text, is_large ? "value out of range" : "invalid syntax");
}

static bool has_path(const struct request *request, struct reply *reply)
{
	return *request->ids[0] || reply_mistake(reply, "missing variable path");
}

static void free_variable(struct command *command)
{
	record_free(&variable_description, command->variable->variable);
}

// What is asked for, for the answer.
struct asked {
	char *namespace_name;
	char *name; // NULL: not yet known to be fit
	struct variable_items items;
	struct uuid key; // that encrypted them
};

static void free_asked(void *context)
{
	struct asked *asked = context;
	variable_items_release(&asked->items);
	free(asked->namespace_name);
	free(asked->name);
	free(asked);
}

static void submit_variable(
	struct request *request, struct variable *variable, bool cas, uint64_t modify_index)
{
	struct command *command = submission_one(request, COMMAND_VARIABLE, free_variable);
	command->variable = submission_take(request, sizeof *command->variable);
	command->variable->variable = variable;
	command->variable->cas = cas;
	command->variable->modify_index = modify_index;
}

// Encrypts the items and asks for them to be stored.
static void seal_variable(struct request *request, struct reply *reply, struct asked *asked,
	bool cas, uint64_t modify_index)
{
	struct variable *variable = record_create(&variable_description);
	variable->name = text_copy(text_of(asked->name));
	if (variable_seal(request->api->settings.keyring, variable, &asked->items)) {
		asked->key = variable->key;
		submit_variable(request, variable, cas, modify_index);
		return;
	}
	record_free(&variable_description, variable);
	reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
		"the keyring has no key: put its file back (keyring_file) and restart the "
		"controller, or begin with a new key (berth operator root keyring rotate)");
}

void variable_put(struct request *request, struct reply *reply)
{
	uint64_t modify_index = 0;
	bool cas;
	if (!has_path(request, reply))
		return;
	struct asked *asked = memory_take(sizeof *asked);
	request->context = asked;
	request->context_free = free_asked;
	asked->namespace_name = variable_body_read(request, reply, &asked->items);
	if (!asked->namespace_name || !cas_read(request, &cas, &modify_index, reply))
		return;
	const char *path = request->ids[0];
	if (!request_may_variable(request, asked->namespace_name, path, ACL_VARIABLE_WRITE)) {
		reply_denied(reply);
	} else if (variable_is_fit(asked->namespace_name, path, &asked->items, reply)) {
		asked->name = variable_name(asked->namespace_name, path);
		seal_variable(request, reply, asked, cas, modify_index);
	}
}

void variable_delete(struct request *request, struct reply *reply)
{
	struct command ask = {0};
	if (!has_path(request, reply) || !cas_read(request, &ask.variable_delete.cas,
						 &ask.variable_delete.modify_index, reply))
		return;
	char *name = variable_name(request_namespace(request), request->ids[0]);
	if (!name) {
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "invalid path \"%s\"",
			request->ids[0]);
		return;
	}
	struct command *command = submission_one(request, COMMAND_VARIABLE_DELETE, NULL);
	command->variable_delete = ask.variable_delete;
	command->variable_delete.name = command_text(request, name);
	free(name);
}

// The variable as it is; its items are for those who may read them. Under read lock.
static void show_conflict(struct request *request, struct reply *reply, const char *name)
{
	const struct variable *now = state_variable(request->api->settings.state, text_of(name));
	struct variable_items items = {{0}};
	bool may = now && request_may_named(request, name, ACL_VARIABLE_READ);
	enum keyring_verdict verdict =
		may ? variable_unseal(request->api->settings.keyring, now, &items) : KEYRING_OPENED;
	if (verdict == KEYRING_OPENED) {
		variable_json(reply_json(request, reply), name, now, may ? &items : NULL);
		reply->status = MHD_HTTP_CONFLICT;
		reply->content_type = API_TEXT_PLAIN;
		reply_index(reply, now ? now->record.modify_index : 0);
	} else {
		reply_sealed(reply, now, verdict);
	}
	variable_items_release(&items);
}

static void reply_conflict(struct request *request, struct reply *reply, const char *name)
{
	state_read_begin();
	show_conflict(request, reply, name);
	state_read_end();
}

// What was stored, as it was sent. The key may have been removed while that was under way.
static void reply_stored(
	struct request *request, struct reply *reply, const struct command *command)
{
	const struct command_variable *c = command->variable;
	const struct asked *asked = request->context;
	const struct variable stored = {
		.record = {.create_index = c->create_index, .modify_index = command->index},
		.create_time_ns = c->create_time_ns,
		.modify_time_ns = c->modify_time_ns};
	if (keyring_has(request->api->settings.keyring, &asked->key))
		variable_json(reply_json(request, reply), asked->name, &stored, &asked->items);
	else
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"the key that encrypted the variable was removed meanwhile; put it again");
	reply_index(reply, command->index);
}

void variable_was_put(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	if (command->outcome == OUTCOME_DONE)
		reply_stored(request, reply, command);
	else if (command->outcome == OUTCOME_CONFLICT)
		reply_conflict(request, reply, ((const struct asked *)request->context)->name);
	else
		reply_outcome(reply, (int)command->outcome);
}

// A variable that was not there is as good as deleted.
void variable_was_deleted(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	if (command->outcome == OUTCOME_CONFLICT) {
		reply_conflict(request, reply, command->variable_delete.name.data);
	} else if (command->outcome == OUTCOME_DONE ||
		   command->outcome == OUTCOME_UNKNOWN_VARIABLE) {
		reply->status = MHD_HTTP_NO_CONTENT;
		reply_index(reply, command->index);
	} else {
		reply_outcome(reply, (int)command->outcome);
	}
}
