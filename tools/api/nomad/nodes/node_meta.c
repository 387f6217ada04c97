// Metadata of nodes, as Nomad's clients read and set it: what a node registered, and what an operator put over it.
#include "state/base/limits.h"
#include "state/records/nodes/node_metadata.h"
#include "state/records/nodes/node_own.h"
#include "tools/api/nomad/nodes/routes.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include "tools/forms/node_json.h"
#include <ctype.h>

// NULL with a reply. Under read lock.
static const struct node *find_node(
	const struct request *request, const char *text, struct reply *reply)
{
	struct uuid id;
	bool is_id = text && uuid_parse(text, &id);
	const struct node *node =
		is_id ? state_node_by_id(request->api->settings.state, &id) : NULL;
	if (!is_id)
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "Unknown node ID");
	else if (!node)
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "Unknown node %s", text);
	return node;
}

// What was set: null is what was taken away.
static void put_dynamic(struct json_writer *w, const struct node_metadata *set)
{
	json_open_object(w, "Dynamic");
	for (uint32_t i = 0; set && i < set->items.count; i++) {
		const struct node_metadatum *item = ARRAY_AT(&set->items, struct node_metadatum, i);
		if (item->is_set)
			json_put_string(w, item->name, item->value ? item->value : "");
		else
			json_put_null(w, item->name);
	}
	json_end_object(w);
}

static void put_said_pairs(struct json_writer *w, const struct node_metadata *set,
	const struct attribute *pairs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!node_metadata_find(set, pairs[i].name))
			json_put_string(w, pairs[i].name, pairs[i].value);
}

// What the node says, also where something else was set.
static void put_static(
	struct json_writer *w, const struct node *node, const struct node_metadata *set)
{
	json_open_object(w, "Static");
	put_said_pairs(w, set, node->node_class->meta, node->node_class->meta_count);
	struct attribute own;
	for (struct own_walk walk = node_own_meta(node); own_walk_next(&walk, &own);)
		put_said_pairs(w, set, &own, 1);
	for (uint32_t i = 0; set && i < set->items.count; i++) {
		const struct node_metadatum *item = ARRAY_AT(&set->items, struct node_metadatum, i);
		if (item->is_said)
			json_put_string(w, item->name, item->said ? item->said : "");
	}
	json_end_object(w);
}

// Under read lock.
static void reply_meta(struct request *request, struct reply *reply, const struct node *node)
{
	const struct node_metadata *set =
		state_node_metadata(request->api->settings.state, &node->id);
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_open_object(w, "Meta");
	node_json_pairs(w, node->node_class->meta, node->node_class->meta_count);
	node_json_own(w, node_own_meta(node));
	json_end_object(w);
	put_dynamic(w, set);
	put_static(w, node, set);
	json_end_object(w);
}

void node_meta_read(struct request *request, struct reply *reply)
{
	state_read_begin();
	const struct node *node = find_node(request, request_parameter(request, "node_id"), reply);
	if (node)
		reply_meta(request, reply, node);
	state_read_end();
}

// Words with dots between them; each begins with a letter or an underscore.
static bool is_key(const char *key)
{
	bool begins = true;
	for (; *key; key++) {
		unsigned char c = (unsigned char)*key;
		bool goes_on = !begins && (isdigit(c) || c == '-' || c == '.');
		if (!isalpha(c) && c != '_' && !goes_on)
			return false;
		begins = c == '.';
	}
	return !begins;
}

static bool pair_is_fit_to_set(const char *key, const json_t *value, struct reply *reply)
{
	if (!*key)
		reply_mistake(reply, "metadata keys must not be empty");
	else if (!is_key(key))
		reply_mistake(reply,
			"\"%.128s\" is invalid; metadata keys must be valid dotted hcl identifiers",
			key);
	else if (!json_is_string(value) && !json_is_null(value))
		reply_mistake(
			reply, "Meta.%.128s: a text is expected, or null to take it away", key);
	else
		return true;
	return false;
}

// False with a reply.
static bool meta_is_fit_to_set(json_t *meta, struct reply *reply)
{
	const char *key;
	json_t *value;
	if (json_object_size(meta) == 0)
		return reply_mistake(reply, "missing required Meta object");
	json_object_foreach(meta, key, value)
	{
		if (!pair_is_fit_to_set(key, value, reply))
			return false;
	}
	return true;
}

static void submit_meta(struct request *request, const struct uuid *node, json_t *meta)
{
	struct command *command = submission_one(request, COMMAND_NODE_METADATA, NULL);
	struct metadata_change *changes =
		submission_take(request, json_object_size(meta) * sizeof *changes);
	struct command_node_metadata *c = &command->node_metadata;
	const char *key;
	json_t *value;
	*c = (struct command_node_metadata){.node = *node, .changes = changes};
	json_object_foreach(meta, key, value)
	{
		changes[c->count++] = (struct metadata_change){.name = command_text(request, key),
			.value = command_text(request, json_string_value(value)),
			.is_unset = json_is_null(value)};
	}
}

void node_meta_set(struct request *request, struct reply *reply)
{
	json_t *body = body_read_some(request, reply);
	json_t *meta = json_object_get(body, "Meta");
	const char *named = json_string_value(json_object_get(body, "NodeID"));
	const char *id = named && *named ? named : request_parameter(request, "node_id");
	if (body && meta_is_fit_to_set(meta, reply)) {
		state_read_begin();
		const struct node *node = find_node(request, id, reply);
		struct uuid found = node ? node->id : (struct uuid){0};
		state_read_end();
		if (node)
			submit_meta(request, &found, meta);
	}
	json_decref(body);
}

void node_meta_was_set(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	char id[UUID_TEXT_BYTES];
	if (command->outcome == OUTCOME_BAD_DESCRIPTION) {
		reply_mistake(reply,
			"metadata is too large: of a node at most %u values are set, names of %u "
			"and values of %u bytes without control characters",
			NODE_METADATA_MAX, ATTRIBUTE_NAME_BYTES_MAX, ATTRIBUTE_VALUE_BYTES_MAX);
		return;
	}
	if (command->outcome != OUTCOME_DONE && command->outcome != OUTCOME_UNKNOWN_NODE) {
		reply_outcome(reply, (int)command->outcome);
		return;
	}
	state_read_begin();
	const struct node *node =
		find_node(request, uuid_format(&command->node_metadata.node, id), reply);
	if (node)
		reply_meta(request, reply, node);
	state_read_end();
}
