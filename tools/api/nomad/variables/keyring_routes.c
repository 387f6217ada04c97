// The keys of variables: who manages lists them, makes a new one, and removes those that encrypt nothing any more.
#include "state/base/time_source.h"
#include "tools/api/nomad/variables/routes.h"
#include "tools/api/nomad/variables/variables.h"
#include "tools/api/server/command_text.h"

#define VARIABLES_PER_SECTION 1024u
#define MESSAGE_BYTES 256u

// Whether each of the keys encrypts a variable.
static void find_used(const struct state *state, const struct keyring_entry *keys, uint32_t count,
	bool used[static KEYRING_KEYS_MAX])
{
	const struct variable *variable;
	uint64_t cursor = 0;
	do {
		state_read_begin();
		for (uint32_t i = 0; i < VARIABLES_PER_SECTION; i++) {
			variable = state_next(state, STATE_VARIABLES, &cursor);
			if (!variable)
				break;
			for (uint32_t k = 0; k < count; k++)
				used[k] |= uuid_equal(&variable->key, &keys[k].id);
		}
		state_read_end();
	} while (variable);
}

static void key_json(struct json_writer *w, const struct keyring_entry *key, const char *state)
{
	json_begin_object(w);
	json_put_string(w, "Algorithm", "xchacha20-poly1305");
	json_put_u64(w, "CreateIndex", 0);
	json_put_i64(w, "CreateTime", key->create_time_ns);
	json_put_uuid(w, "KeyID", &key->id);
	json_put_u64(w, "ModifyIndex", 0);
	json_put_string(w, "State", state);
	json_end_object(w);
}

void keyring_keys_list(struct request *request, struct reply *reply)
{
	struct keyring_entry keys[KEYRING_KEYS_MAX];
	bool used[KEYRING_KEYS_MAX] = {false};
	const struct state *state = request->api->settings.state;
	uint32_t count = keyring_list(request->api->settings.keyring, keys);
	find_used(state, keys, count, used);
	struct json_writer *w = reply_json(request, reply);
	json_begin_array(w);
	for (uint32_t i = 0; i < count; i++)
		key_json(w, &keys[i],
			i == 0                          ? "active"
			: keys[i].is_retired && used[i] ? "rekeying"
							: "inactive");
	json_end_array(w);
	reply_index(reply, state_index(request->api->settings.state));
}

static void end_object(struct request *request, struct reply *reply, struct json_writer *w)
{
	uint64_t index = state_index(request->api->settings.state);
	json_put_u64(w, "Index", index);
	json_end_object(w);
	reply_index(reply, index);
}

void keyring_key_add(struct request *request, struct reply *reply)
{
	struct keyring_entry key;
	char message[MESSAGE_BYTES];
	const char *full = request_parameter(request, "full");
	bool retires = full && strcmp(full, "false") != 0;
	int64_t now_ns = (int64_t)time_wall_ns(request->api->settings.time);
	if (!keyring_rotate(request->api->settings.keyring, now_ns, retires, &key, message,
		    sizeof message)) {
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "%s", message);
		return;
	}
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_write_key(w, "Key");
	key_json(w, &key, "active");
	end_object(request, reply, w);
}

static bool is_used(void *context, const struct uuid *key)
{
	const struct state *state = context;
	const struct variable *variable;
	bool used = false;
	uint64_t cursor = 0;
	do {
		state_read_begin();
		for (uint32_t i = 0; i < VARIABLES_PER_SECTION && !used; i++) {
			variable = state_next(state, STATE_VARIABLES, &cursor);
			if (!variable)
				break;
			used = uuid_equal(&variable->key, key);
		}
		state_read_end();
	} while (variable && !used);
	return used;
}

void keyring_key_remove(struct request *request, struct reply *reply)
{
	struct uuid id;
	char message[MESSAGE_BYTES];
	const struct api_settings *settings = &request->api->settings;
	if (!path_uuid(request, "key", &id, reply))
		return;
	if (!keyring_forget(
		    settings->keyring, &id, is_used, settings->state, message, sizeof message)) {
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "%s", message);
		return;
	}
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	end_object(request, reply, w);
}
