// Makes and derives keys without a controller.
#include "dataplane/wire/auth.h"
#include "state/base/check.h"
#include "tools/berth/commands/commands.h"
#include <stdio.h>
#include <stdlib.h>

static enum exit_status load_keys(struct session *session, struct master_keys *keys)
{
	char message[512];
	const char *path = session->flags.values[FLAG_MASTER_KEY];
	if (!path)
		return complain(STATUS_USAGE, "--master-key FILE is needed (or BERTH_MASTER_KEY); "
					      "berthd genkey makes one");
	if (master_keys_load(path, keys, message, sizeof message) != 0)
		return complain(STATUS_FAILURE, "%s", message);
	return STATUS_OK;
}

// The generation after the name, 0 without one. False, and a sentence.
static bool read_generation(const char *text, uint32_t *generation)
{
	char *end;
	unsigned long number = text ? strtoul(text, &end, 10) : 0;
	*generation = (uint32_t)number;
	if (!text || (*text >= '0' && *text <= '9' && !*end && number <= UINT32_MAX))
		return true;
	(void)complain(
		STATUS_USAGE, "\"%s\" is no generation: a whole number, 0 for the first key", text);
	return false;
}

static enum exit_status print_key(struct session *session, const char *what, const char *whose,
	uint8_t key_id, const struct wire_key *key)
{
	char text[WIRE_KEY_TEXT_BYTES];
	wire_key_format(key_id, key, text);
	if (flag_given(&session->flags, FLAG_JSON))
		printf("{\"%s\": \"%s\", \"KeyID\": %u, \"Key\": \"%s\"}\n", what, whose, key_id,
			text);
	else
		puts(text);
	return STATUS_OK;
}

enum exit_status node_key(struct session *session, const char **arguments, int count)
{
	struct master_keys keys;
	struct uuid node;
	struct wire_key key;
	char text[UUID_TEXT_BYTES];
	uint32_t generation;
	if (!uuid_parse(arguments[0], &node))
		return complain(STATUS_USAGE, "\"%s\" is no UUID; a key needs the whole of it",
			arguments[0]);
	if (!read_generation(count > 1 ? arguments[1] : NULL, &generation))
		return STATUS_USAGE;
	enum exit_status result = load_keys(session, &keys);
	if (result != STATUS_OK)
		return result;
	CHECK(node_key_derive_next(&keys, keys.keys[0].id, &node, generation, &key));
	return print_key(session, "NodeID", uuid_format(&node, text), keys.keys[0].id, &key);
}

enum exit_status client_key(struct session *session, const char **arguments, int count)
{
	struct master_keys keys;
	struct wire_key key;
	struct text name = text_of(arguments[0]);
	uint32_t generation;
	if (name.size == 0 || name.size > CLIENT_NAME_BYTES_MAX || !text_is_printable(name))
		return complain(STATUS_USAGE, "a client's name is 1 to %u printable characters",
			CLIENT_NAME_BYTES_MAX);
	for (uint32_t i = 0; i < name.size; i++)
		if (name.data[i] == '"' || name.data[i] == '\\')
			return complain(
				STATUS_USAGE, "a client's name has no quotes or backslashes");
	if (!read_generation(count > 1 ? arguments[1] : NULL, &generation))
		return STATUS_USAGE;
	enum exit_status result = load_keys(session, &keys);
	if (result != STATUS_OK)
		return result;
	CHECK(client_key_derive_next(&keys, keys.keys[0].id, name, generation, &key));
	return print_key(session, "Client", arguments[0], keys.keys[0].id, &key);
}

static enum exit_status make_keys(const char *path, bool rotate)
{
	char message[512];
	if (master_keys_generate(path, rotate, message, sizeof message) != 0)
		return complain(STATUS_FAILURE, "%s", message);
	printf(rotate ? "Put a new key before those of %s; restart berthd with it, then provision "
			"anew.\n"
		      : "Wrote %s.\n",
		path);
	return STATUS_OK;
}

enum exit_status key_generate(struct session *session, const char **arguments, int count)
{
	return make_keys(arguments[0], false);
}

enum exit_status key_rotate(struct session *session, const char **arguments, int count)
{
	return make_keys(arguments[0], true);
}
