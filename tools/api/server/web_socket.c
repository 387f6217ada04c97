// The frame that closes: 0x88, its size, the code (big endian), the reason. A server does not mask.
#include "tools/api/server/web_socket.h"
#include "state/base/check.h"
#include "tools/api/forward/answer_head.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

static const char *web_socket_header(const struct request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

bool web_socket_shows_reason(const struct request *request)
{
	return request->route && request->route->right == RIGHT_ALLOCATION_EXEC &&
	       web_socket_header(request, MHD_HTTP_HEADER_UPGRADE);
}

void web_socket_refuse(struct request *request, struct reply *reply, enum web_socket_close code,
	const char *format, ...)
{
	const char *upgrade = web_socket_header(request, MHD_HTTP_HEADER_UPGRADE);
	const char *key = web_socket_header(request, "Sec-WebSocket-Key");
	char accept[WEB_SOCKET_ACCEPT_BYTES];
	va_list arguments;
	if (!upgrade || strcasecmp(upgrade, "websocket") != 0 || !key ||
		!web_socket_accept(key, accept)) {
		reply_mistake(reply,
			"failed to upgrade connection: this is asked for with the headers of a "
			"WebSocket (Connection, Upgrade, Sec-WebSocket-Key)");
		return;
	}
	request->close_code = (uint16_t)code;
	va_start(arguments, format);
	vsnprintf(request->close_reason, sizeof request->close_reason, format, arguments);
	va_end(arguments);
	reply->status = MHD_HTTP_SWITCHING_PROTOCOLS;
}

const char *web_socket_refusal_text(const struct refusal *refusal)
{
	return refusal->status == MHD_HTTP_FORBIDDEN ? "Permission denied" : refusal->text;
}

// What came in meanwhile is read and dropped: a socket that is closed with something unread is reset.
void web_socket_farewell(int fd, enum web_socket_close code, const char *reason)
{
	unsigned char frame[4 + WEB_SOCKET_REASON_BYTES], dropped[512];
	size_t size = strlen(reason);
	CHECK(size <= WEB_SOCKET_REASON_BYTES);
	frame[0] = 0x88;
	frame[1] = (unsigned char)(2 + size);
	frame[2] = (unsigned char)(code >> 8);
	frame[3] = (unsigned char)code;
	memcpy(frame + 4, reason, size);
	if (send(fd, frame, 4 + size, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		(void)shutdown(fd, SHUT_WR);
	while (recv(fd, dropped, sizeof dropped, MSG_DONTWAIT) > 0)
		continue;
}

static void web_socket_end(void *context, struct MHD_Connection *connection, void *request_context,
	const char *extra, size_t extra_size, MHD_socket socket,
	struct MHD_UpgradeResponseHandle *handle)
{
	const struct request *request = context;
	web_socket_farewell(socket, request->close_code, request->close_reason);
	(void)MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}

struct MHD_Response *web_socket_response(struct request *request)
{
	char accept[WEB_SOCKET_ACCEPT_BYTES];
	struct MHD_Response *response = MHD_create_response_for_upgrade(web_socket_end, request);
	const char *key = web_socket_header(request, "Sec-WebSocket-Key");
	if (!response || !key || !web_socket_accept(key, accept))
		return response;
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_UPGRADE, "websocket");
	(void)MHD_add_response_header(response, "Sec-WebSocket-Accept", accept);
	if (request->is_refused_by_follower)
		(void)MHD_add_response_header(response, NOT_LEADER_HEADER, "true");
	return response;
}
