// Metadata of nodes, as Nomad's clients read and set it. A node's metadata is what it registered: nothing can be set
// from here.
#include "tools/api/nomad/nodes/routes.h"
#include "tools/api/server/body.h"
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

static void put_pairs(struct json_writer *w, const struct attribute *pairs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		json_put_string(w, pairs[i].name, pairs[i].value);
}

static void put_meta(struct json_writer *w, const char *key, const struct node *node)
{
	json_open_object(w, key);
	put_pairs(w, node->node_class->meta, node->node_class->meta_count);
	put_pairs(w, node->unique_meta, node->unique_meta_count);
	json_end_object(w);
}

void node_meta_read(struct request *request, struct reply *reply)
{
	state_read_begin();
	const struct node *node = find_node(request, request_parameter(request, "node_id"), reply);
	if (node) {
		struct json_writer *w = reply_json(request, reply);
		json_begin_object(w);
		put_meta(w, "Meta", node);
		json_open_object(w, "Dynamic");
		json_end_object(w);
		put_meta(w, "Static", node);
		json_end_object(w);
	}
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

// False with a reply.
static bool meta_is_fit_to_set(json_t *meta, struct reply *reply)
{
	const char *key;
	json_t *value;
	if (json_object_size(meta) == 0) {
		reply_error(reply, MHD_HTTP_BAD_REQUEST, "missing required Meta object");
		return false;
	}
	json_object_foreach(meta, key, value)
	{
		if (is_key(key))
			continue;
		reply_error(reply, MHD_HTTP_BAD_REQUEST,
			"\"%.128s\" is invalid; metadata keys must be valid dotted hcl identifiers",
			key);
		return false;
	}
	return true;
}

void node_meta_not_set(struct request *request, struct reply *reply)
{
	json_t *body = body_read_some(request, reply);
	const char *named = json_string_value(json_object_get(body, "NodeID"));
	const char *id = named && *named ? named : request_parameter(request, "node_id");
	if (body && meta_is_fit_to_set(json_object_get(body, "Meta"), reply)) {
		state_read_begin();
		if (find_node(request, id, reply))
			reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED,
				"a node's metadata is what its agent was started with; start it "
				"with other metadata");
		state_read_end();
	}
	json_decref(body);
}
