// Answers to clients that ask for a WebSocket: none is kept open here, so the server opens one (RFC 6455) only to close
// it with a reason. Such clients do not show the text of an answer that is a status.
#pragma once
#include "tools/api/server/request.h"
#include "tools/web_socket/handshake.h"

// The most bytes of a close frame's reason.
#define WEB_SOCKET_REASON_BYTES 123u

enum web_socket_close { WEB_SOCKET_POLICY = 1008, WEB_SOCKET_FAULT = 1011 };

// Whether the request asks for a WebSocket, of a route whose clients see with what it is closed, and no status.
bool web_socket_shows_reason(const struct request *);
// Decides the reply: opened and closed with this, or 400 when the request asks for no WebSocket. A longer reason is
// cut.
void web_socket_refuse(struct request *, struct reply *, enum web_socket_close, const char *format,
	...) __attribute__((format(printf, 4, 5)));
// What a client is told that may not do what it asks for.
const char *web_socket_refusal_text(const struct refusal *);
// Says farewell over a connection that is open, as far as it takes it at once: a client that left does not get to know
// the reason. Nothing is said after it.
void web_socket_farewell(int fd, enum web_socket_close, const char *reason);
// The response of such a reply; NULL: memory is short. The request lives until the connection is closed.
struct MHD_Response *web_socket_response(struct request *);
