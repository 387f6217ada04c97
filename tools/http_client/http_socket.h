// Opens a WebSocket at a server of HTTP, with what http_client.h knows of addresses, TLS, proxies and tokens.
// (libcurl's own WebSockets are an experiment that Debian leaves out.) One thread at a time.
#pragma once
#include "tools/http_client/http_client.h"
#include "tools/web_socket/web_socket.h"

struct http_socket;

// Sends the request (url, path, tls, token, agent and timeout_ms count; the last one until the socket is open). NULL:
// the result tells the failure, or the status that was answered instead of 101; body has the beginning of that answer.
struct http_socket *http_socket_open(const struct http_request *, size_t message_max,
	struct http_result *, struct http_beginning *body);
void http_socket_close(struct http_socket *); // NULL is allowed

// Both live as long as it does. Poll the stream's descriptor.
struct web_socket *http_socket_messages(struct http_socket *);
const struct web_socket_stream *http_socket_stream(const struct http_socket *);
