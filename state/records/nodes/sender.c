// Rows are only ever appended to a table: their order is the binary form (state/base/schema.h).
#include "state/records/nodes/sender.h"
#include "state/base/check.h"
#include "state/base/schema_table.h"
#include <string.h>

static const struct field sender_fields[] = {
	{"Name", FIELD_STRING, OF(sender, name)},
	{"Revoked", FIELD_BOOL, OF(sender, is_revoked)},
	{"KeyGeneration", FIELD_I64, OF(sender, key_generation)},
	{"Reason", FIELD_STRING, OF(sender, reason)},
	{"Time", FIELD_I64, OF(sender, time_ns), FLAGS(FIELD_TIME | FIELD_DERIVED)},
	{"CreateIndex", FIELD_U64, OF(sender, record.create_index), FLAGS(FIELD_DERIVED)},
	{"ModifyIndex", FIELD_U64, OF(sender, record.modify_index), FLAGS(FIELD_DERIVED)},
};
DESCRIBE(sender_description, sender);

static bool begins_with(struct text name, struct text prefix)
{
	return name.size > prefix.size && memcmp(name.data, prefix.data, prefix.size) == 0;
}

static struct text join_name(struct text prefix, struct text rest, char *name)
{
	CHECK(prefix.size + rest.size < SENDER_NAME_BYTES);
	memcpy(name, prefix.data, prefix.size);
	if (rest.size)
		memcpy(name + prefix.size, rest.data, rest.size);
	name[prefix.size + rest.size] = '\0';
	return (struct text){name, prefix.size + rest.size};
}

struct text sender_of_node(const struct uuid *node, char name[static SENDER_NAME_BYTES])
{
	char id[UUID_TEXT_BYTES];

	return join_name(TEXT(SENDER_NODE), text_of(uuid_format(node, id)), name);
}

struct text sender_of_client(struct text client, char name[static SENDER_NAME_BYTES])
{
	return join_name(TEXT(SENDER_CLIENT), client, name);
}

// The one way to write the id counts: another would be another record.
bool sender_is_node(struct text name, struct uuid *node)
{
	char id[UUID_TEXT_BYTES], again[UUID_TEXT_BYTES];
	struct text prefix = TEXT(SENDER_NODE);

	if (!begins_with(name, prefix) || name.size - prefix.size != UUID_TEXT_BYTES - 1)
		return false;
	memcpy(id, name.data + prefix.size, UUID_TEXT_BYTES - 1);
	id[UUID_TEXT_BYTES - 1] = '\0';
	return uuid_parse(id, node) && strcmp(uuid_format(node, again), id) == 0;
}

bool sender_is_sound(const struct sender *sender)
{
	struct text name = text_of(sender->name);
	struct text client = TEXT(SENDER_CLIENT);
	struct uuid node;
	bool is_client = begins_with(name, client) && name.size < SENDER_NAME_BYTES &&
			 text_is_printable(name);

	return (is_client || sender_is_node(name, &node)) && sender->key_generation >= 0 &&
	       sender->key_generation <= UINT32_MAX &&
	       text_of(sender->reason).size <= NAME_BYTES_MAX &&
	       text_is_printable(text_of(sender->reason)) &&
	       record_is_sound(&sender_description, sender);
}
