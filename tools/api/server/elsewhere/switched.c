#include "tools/api/server/elsewhere/switched.h"
#include "state/base/time_units.h"
#include "tools/api/forward/exchange.h"
#include "tools/api/server/access.h"
#include "tools/api/server/clients/connections.h"
#include <poll.h>

// What a client said before it left is on its way for so long.
#define LAST_WORDS_MS 1000u

static const char *upgrade_of(const struct request *request)
{
	return MHD_lookup_connection_value(
		request->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_UPGRADE);
}

bool switched_is_asked(const struct request *request)
{
	return route_goes_to_node(request->route) && upgrade_of(request);
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

// libmicrohttpd, which has the connection's TLS, tells nobody that its client has left before something is said to it.
static bool has_left(struct request *request)
{
	struct pollfd polled = {.fd = connection_fd(request->socket), .events = POLLRDHUP};
	uint64_t now_ns = time_monotonic_ns(request->api->settings.time);
	if (!MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION) ||
		poll(&polled, 1, 0) <= 0)
		return false;
	if (!request->left_ns)
		request->left_ns = now_ns;
	return now_ns >= request->left_ns + LAST_WORDS_MS * NS_PER_MS;
}

// Whether the token still holds, the leader looks of what is handed on to it.
static bool may_still_speak(void *context)
{
	struct request *request = context;
	state_read_begin();
	bool may = !access_has_ended(request);
	state_read_end();
	return may && !has_left(request);
}

static void end_joined(void *context)
{
	struct request *request = context;
	(void)MHD_upgrade_action(request->joined, MHD_UPGRADE_ACTION_CLOSE);
}

static void begin_joined(void *context, struct MHD_Connection *connection, void *request_context,
	const char *extra, size_t extra_size, MHD_socket socket,
	struct MHD_UpgradeResponseHandle *handle)
{
	struct request *request = context;
	const struct exchange_joint joint = {.fd = socket,
		.extra = extra,
		.extra_size = extra_size,
		.holds = may_still_speak,
		.end = end_joined,
		.context = request};
	request->joined = handle;
	connection_enter(request->api->connections, request->socket, CONNECTION_PARKED);
	request->exchange->carrier->join(request->exchange, &joint);
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
