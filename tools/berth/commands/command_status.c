// Shows the state of a client's allocations, over the wire.
#include "state/base/memory.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/wire_session.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// In the order of docs/wire.md's values.
static const char *const desired_names[] = {"run", "stop", "evict"};
static const char *const client_names[] = {
	"pending", "running", "complete", "failed", "lost", "unknown"};

static const char *name_of(const char *const *names, size_t count, uint8_t value)
{
	return value < count ? names[value] : "?";
}

static void add_item(json_t *all, const struct wire_status_item *item)
{
	char id[UUID_TEXT_BYTES];
	const char *desired = name_of(
		desired_names, sizeof desired_names / sizeof desired_names[0], item->desired);
	const char *client =
		name_of(client_names, sizeof client_names / sizeof client_names[0], item->client);
	json_array_append_new(all,
		json_pack("{s:s,s:b,s:s,s:s,s:I,s:I}", "ID", uuid_format(&item->allocation, id),
			"Known", (int)item->known, "Desired", item->known ? desired : "-", "Status",
			item->known ? client : "-", "NodeSlot", (json_int_t)item->node_slot,
			"ModifyIndex", (json_int_t)item->modify_index));
}

static enum exit_status ask_status(struct session *session, struct client *client,
	struct wire_status *question, struct wire_status_reply *reply, json_t *all)
{
	struct wire_refused refused;
	int result = client_status(client, question, reply, &refused);
	if (result != CLIENT_DONE)
		return wire_problem(session, result, &refused);
	for (uint32_t i = 0; i < reply->count; i++)
		add_item(all, &reply->items[i]);
	return STATUS_OK;
}

static enum exit_status by_ids(
	struct session *session, struct client *client, const char **ids, int count, json_t *all)
{
	struct wire_status_reply reply;
	enum exit_status result = STATUS_OK;
	for (int at = 0; at < count && result == STATUS_OK;) {
		struct wire_status question = {.mode = 0};
		for (; at < count && question.count < PLACE_COUNT_MAX; at++)
			if (!uuid_parse(ids[at], &question.ids[question.count++]))
				return complain(STATUS_USAGE,
					"\"%s\" is no allocation id; a whole UUID is needed here",
					ids[at]);
		result = ask_status(session, client, &question, &reply, all);
	}
	return result;
}

static enum exit_status changes(
	struct session *session, struct client *client, uint64_t *index, json_t *all)
{
	struct wire_status_reply reply;
	do {
		struct wire_status question = {
			.mode = 1, .count = PLACE_COUNT_MAX, .since = *index};
		enum exit_status result = ask_status(session, client, &question, &reply, all);
		if (result != STATUS_OK)
			return result;
		*index = reply.index;
	} while (reply.more);
	return STATUS_OK;
}

static enum exit_status print_all(struct session *session, json_t *all, uint64_t index)
{
	enum exit_status result = list_print_items(session, &list_own_allocations, all);
	if (result == STATUS_OK && index && !flag_given(&session->flags, FLAG_OUTPUT))
		printf("As of index %llu; pass it as --since next time.\n",
			(unsigned long long)index);
	return result;
}

enum exit_status client_allocations(struct session *session, const char **arguments, int count)
{
	char message[256];
	uint64_t index = 0;
	struct client *client;
	if (!flag_number(
		    &session->flags, FLAG_SINCE, 0, INT64_MAX, &index, message, sizeof message))
		return complain(STATUS_USAGE, "%s", message);
	enum exit_status result = wire_open(session, &client);
	if (result != STATUS_OK)
		return result;
	json_t *all = json_array();
	result = count ? by_ids(session, client, arguments, count, all)
		       : changes(session, client, &index, all);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(all);
	else if (result == STATUS_OK)
		result = print_all(session, all, count ? 0 : index);
	json_decref(all);
	client_close(client);
	return result;
}
