#include "tools/api/server/elsewhere/node_line.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "state/records/nodes/node.h"
#include "tools/api/server/clients/connections.h"
#include "tools/api/server/elsewhere/forwarding.h"
#include "tools/api/server/elsewhere/greeting.h"
#include "tools/api/server/elsewhere/switched.h"
#include "tools/api/server/parking.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static enum line_refusal find_node_key(
	void *context, const struct psk_identity *identity, uint8_t key[static PSK_KEY_BYTES])
{
	const struct api *api = context;
	return api->settings.line_key(api->settings.context, identity, key);
}

// The node's slot, or false when there is none.
static bool slot_of(const struct api *api, const struct uuid *node, uint32_t *slot)
{
	state_read_begin();
	const struct node *n = state_node_by_id(api->settings.state, node);
	if (n)
		*slot = n->slot;
	state_read_end();
	return n != NULL;
}

static void call_node(void *context, const struct uuid *node)
{
	const struct api *api = context;
	uint32_t slot;
	if (slot_of(api, node, &slot))
		node_table_call(state_node_table(api->settings.state), slot);
}

static void call_node_no_more(void *context, const struct uuid *node)
{
	const struct api *api = context;
	uint32_t slot;
	if (slot_of(api, node, &slot))
		node_table_call_no_more(state_node_table(api->settings.state), slot);
}

static int answer_node(void *context, const struct uuid *node, int fd)
{
	struct api *api = context;
	const struct sockaddr_un from = {.sun_family = AF_UNIX};
	connections_expect(api->connections, fd, node);
	// The socket is closed when that fails.
	if (CAN_BREAK(HTTP_TAKE, (close(fd), MHD_NO),
		    MHD_add_connection(api->daemons[LISTENER_LINE], fd,
			    (const struct sockaddr *)&from, sizeof from)) == MHD_YES)
		return 0;
	connections_expect_no_more(api->connections, fd);
	return -EAGAIN;
}

static void wake_who_waits(void *context)
{
	const struct api *api = context;
	parking_wake(api->parking);
}

int node_line_start(struct api *api)
{
	const struct api_settings *s = &api->settings;
	int listen_fd = s->line_fd;
	if (!s->line_key)
		return 0;
	api->settings.line_fd = -1;
	return line_hub_start(&(struct line_hub_settings){.listen_fd = listen_fd,
				      .time = s->time,
				      .node_key = find_node_key,
				      .call = call_node,
				      .call_no_more = call_node_no_more,
				      .answer = answer_node,
				      .context = api,
				      .wake = wake_who_waits,
				      .wake_context = api,
				      .dial_wait_ms = s->line_wait_ms},
		&api->line);
}

// What a request of a client says that the node needs to hear. Its token is no business of a node's.
static struct exchange *exchange_for_node(const struct request *request, const char *target)
{
	static const char *const names[] = {
		MHD_HTTP_HEADER_CONTENT_TYPE, MHD_HTTP_HEADER_ACCEPT_ENCODING};
	struct exchange *x =
		exchange_create(request->route->method, target, request->body, request->body_size);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		exchange_add_header(x, names[i],
			MHD_lookup_connection_value(
				request->connection, MHD_HEADER_KIND, names[i]));
	if (switched_is_asked(request))
		switched_ask(request, x);
	return x;
}

void ask_node(
	struct request *request, struct reply *reply, const struct uuid *node, const char *target)
{
	struct api *api = request->api;
	if (!api->line) {
		reply_error(reply, MHD_HTTP_NOT_FOUND,
			"No path to node: this server takes no connections of nodes; see "
			"agents.address, "
			"and the log of its start");
		return;
	}
	struct exchange *x = exchange_for_node(request, target);
	x->judge = request->is_greeted ? greeting_judge : NULL;
	if (!line_hub_begin(api->line, x, node)) {
		exchange_free(x);
		reply_error(reply, MHD_HTTP_TOO_MANY_REQUESTS,
			"too many requests wait for nodes; try again in a second");
		reply->retry_after_s = 1;
		return;
	}
	request->exchange = x;
	request->stage = REQUEST_FORWARDED;
}

void node_is_asked(struct request *request, struct reply *reply)
{
	request->route->ask(request, reply, request->target);
}
