#include "tools/api/server/elsewhere/switched.h"
#include "state/base/bytes.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "tools/api/forward/exchange.h"
#include "tools/api/server/access.h"
#include "tools/api/server/clients/connections.h"
#include "tools/api/server/elsewhere/tunnels.h"
#include <string.h>

static const char *upgrade_of(const struct request *request)
{
	return MHD_lookup_connection_value(
		request->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_UPGRADE);
}

bool switched_is_asked(const struct request *request)
{
	return request->route->ask && upgrade_of(request);
}

void switched_ask(const struct request *request, struct exchange *x)
{
	static const char *const names[] = {MHD_HTTP_HEADER_UPGRADE, "Sec-WebSocket-Key",
		"Sec-WebSocket-Version", "Sec-WebSocket-Protocol"};
	exchange_add_header(x, MHD_HTTP_HEADER_CONNECTION, "Upgrade");
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		exchange_add_header(x, names[i],
			MHD_lookup_connection_value(
				request->connection, MHD_HEADER_KIND, names[i]));
	x->is_upgrade = true;
}

// Whether the token still holds, the leader looks of what is handed on to it.
static bool may_still_speak(void *context)
{
	struct request *request = context;
	state_read_begin();
	bool may = !access_has_ended(request);
	state_read_end();
	return may;
}

static void end_joined(void *context)
{
	struct request *request = context;
	(void)MHD_upgrade_action(request->joined, MHD_UPGRADE_ACTION_CLOSE);
}

static void join_client(struct request *request, int fd, const char *extra, size_t extra_size,
	void (*end)(void *request))
{
	const struct exchange_joint joint = {.fd = fd,
		.extra = extra,
		.extra_size = extra_size,
		.holds = may_still_speak,
		.end = end,
		.context = request};
	connection_enter(request->api->connections, request->socket, CONNECTION_PARKED);
	request->exchange->carrier->join(request->exchange, &joint);
}

static void begin_joined(void *context, struct MHD_Connection *connection, void *request_context,
	const char *extra, size_t extra_size, MHD_socket socket,
	struct MHD_UpgradeResponseHandle *handle)
{
	struct request *request = context;
	request->joined = handle;
	join_client(request, socket, extra, extra_size, end_joined);
}

struct MHD_Response *switched_response(struct request *request)
{
	struct MHD_Response *response = MHD_create_response_for_upgrade(begin_joined, request);
	const struct answer_head *head = &request->exchange->head;
	if (!response)
		return NULL;
	// Fails only without memory, and then the client refuses.
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_UPGRADE, upgrade_of(request));
	for (uint32_t i = 0; i < head->count; i++)
		(void)MHD_add_response_header(
			response, head->headers[i].name, head->headers[i].value);
	return response;
}

// The client has limited time to take the last words.
static void end_tunnelled(void *context)
{
	struct request *request = context;
	connection_enter(request->api->connections, request->socket, CONNECTION_SENDING);
	tunnel_leave(request->tunnel); // from here on the request may be gone
}

// libmicrohttpd asks anew for an answer, gets none, and closes the connection with a farewell of TLS.
static void give_back(void *context)
{
	struct request *request = context;
	MHD_resume_connection(request->connection);
}

static enum MHD_Result write_header(
	void *to, enum MHD_ValueKind kind, const char *name, const char *value)
{
	bytes_put(to, name, strlen(name));
	bytes_put(to, ": ", 2);
	bytes_put(to, value, strlen(value));
	bytes_put(to, "\r\n", 2);
	return MHD_YES;
}

static struct bytes_writer write_head(struct MHD_Response *response)
{
	static const char status[] = "HTTP/1.1 101 Switching Protocols\r\n";
	struct bytes_writer head = bytes_writer_growing(1024);
	bytes_put(&head, status, sizeof status - 1);
	(void)MHD_get_response_headers(response, write_header, &head);
	bytes_put(&head, "\r\n", 2);
	return head;
}

// libmicrohttpd 0.9.75 fills the connection's memory with the buffer of the head before it looks there for buffers of
// what is said under TLS, and then has 4 bytes each way, each time in a record of its own. So the connection is
// suspended instead, and its session is spoken over here.
static enum MHD_Result begin_tunnelled(
	struct request *request, struct gnutls_session_int *session, struct MHD_Response *response)
{
	struct bytes_writer head = write_head(response);
	MHD_suspend_connection(request->connection);
	int fd = tunnels_open(request->api->tunnels, session, connection_fd(request->socket),
		head.data, head.size, give_back, request, &request->tunnel);
	if (fd < 0) {
		log_warn("tunnel-not-opened", "error=\"%s\" meaning=\"a client is cut off\"",
			error_text(fd));
		MHD_resume_connection(request->connection);
	} else {
		join_client(request, fd, NULL, 0, end_tunnelled);
	}
	bytes_writer_free(&head);
	return MHD_YES;
}

enum MHD_Result switched_begin(struct request *request, struct MHD_Response *response)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	return info ? begin_tunnelled(request, info->tls_session, response)
		    : MHD_queue_response(
			      request->connection, MHD_HTTP_SWITCHING_PROTOCOLS, response);
}
