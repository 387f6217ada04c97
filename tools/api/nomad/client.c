// What only nodes can answer: files, logs, processes and measurements. Who may ask is settled here, and so is which
// node that is; the rest is the node's answer. The words of refusals are those that Nomad's clients look for.
#include "state/records/allocation.h"
#include "state/records/nodes/node.h"
#include "tools/api/nomad/routes.h"
#include "tools/api/server/elsewhere/node_line.h"
#include "tools/api/server/web_socket.h"
#include <string.h>

#define BAD_UUID "index error: UUID must be 36 characters"

enum found { FOUND_NODE, FOUND_NO_PATH, FOUND_NOTHING, FOUND_BAD_ID };

static bool is_reachable(const struct node *node)
{
	return node && node->status != NODE_DOWN && node->status != NODE_DISCONNECTED;
}

// The node of the allocation that the path names.
static enum found find_node_of_allocation(const struct request *request, struct uuid *node)
{
	const struct state *state = request->api->settings.state;
	enum found found = FOUND_NOTHING;
	struct uuid id;
	if (!uuid_parse(request->ids[0], &id))
		return FOUND_BAD_ID;
	state_read_begin();
	const struct allocation *a = state_allocation(state, &id);
	if (a) {
		*node = a->node_id;
		found = is_reachable(state_node_by_id(state, node)) ? FOUND_NODE : FOUND_NO_PATH;
	}
	state_read_end();
	return found;
}

static enum found find_node(const struct request *request, struct uuid *id)
{
	const struct state *state = request->api->settings.state;
	const char *text = request_parameter(request, "node_id");
	if (!uuid_parse(text ? text : "", id))
		return FOUND_BAD_ID;
	state_read_begin();
	const struct node *node = state_node_by_id(state, id);
	enum found found = is_reachable(node) ? FOUND_NODE : FOUND_NO_PATH;
	if (!node)
		found = FOUND_NOTHING;
	state_read_end();
	return found;
}

static bool pattern_is_of(const struct request *request, const char *beginning)
{
	return strncmp(request->route->pattern, beginning, strlen(beginning)) == 0;
}

// Of these, clients show the text of any answer as if it was the file.
static bool says_mistakes_in_its_text(const struct request *request)
{
	return pattern_is_of(request, "/v1/client/fs/cat/") ||
	       pattern_is_of(request, "/v1/client/fs/readat/");
}

static void refuse_allocation(struct request *request, struct reply *reply, enum found found)
{
	bool in_text = says_mistakes_in_its_text(request);
	switch (found) {
	case FOUND_NO_PATH:
		reply_error(reply, in_text ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND, "No path to node");
		break;
	case FOUND_NOTHING:
		reply_error(reply, in_text ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND,
			"Unknown allocation \"%s\"", request->ids[0]);
		break;
	case FOUND_BAD_ID:
		if (*request->ids[0])
			reply_error(reply, in_text ? MHD_HTTP_OK : MHD_HTTP_INTERNAL_SERVER_ERROR,
				"alloc lookup failed: " BAD_UUID);
		else
			reply_mistake(reply, "must provide a valid alloc id");
		break;
	case FOUND_NODE: break;
	}
}

void client_of_allocation(struct request *request, struct reply *reply, const char *target)
{
	struct uuid node;
	enum found found = find_node_of_allocation(request, &node);
	if (found == FOUND_NODE)
		ask_node(request, reply, &node, target);
	else
		refuse_allocation(request, reply, found);
}

// A client runs a command through a WebSocket, and shows only with what that was closed.
void client_exec(struct request *request, struct reply *reply, const char *target)
{
	struct uuid node;
	switch (find_node_of_allocation(request, &node)) {
	case FOUND_NODE:
		ask_node(request, reply, &node, target);
		if (reply->status) {
			reply_free(reply);
			web_socket_refuse(request, reply, WEB_SOCKET_FAULT, "No path to node");
		}
		break;
	case FOUND_NO_PATH:
		web_socket_refuse(request, reply, WEB_SOCKET_FAULT, "No path to node");
		break;
	case FOUND_NOTHING:
	case FOUND_BAD_ID:
		web_socket_refuse(request, reply, WEB_SOCKET_POLICY, "Unknown allocation \"%s\"",
			request->ids[0]);
		break;
	}
}

void client_of_node(struct request *request, struct reply *reply, const char *target)
{
	bool is_stats = pattern_is_of(request, "/v1/client/stats");
	const char *given = request_parameter(request, "node_id");
	struct uuid node;
	if (!given || !*given) {
		reply_mistake(reply, "say of which node: this server is none (parameter node_id)");
		return;
	}
	switch (find_node(request, &node)) {
	case FOUND_NODE: ask_node(request, reply, &node, target); break;
	case FOUND_NO_PATH: reply_error(reply, MHD_HTTP_NOT_FOUND, "No path to node"); break;
	case FOUND_NOTHING:
		reply_error(reply, is_stats ? MHD_HTTP_NOT_FOUND : MHD_HTTP_INTERNAL_SERVER_ERROR,
			"Unknown node ID");
		break;
	case FOUND_BAD_ID:
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "node lookup failed: " BAD_UUID);
		break;
	}
}
