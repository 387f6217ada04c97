// Routes that become a WebSocket.
#pragma once
#include "tools/agent/service/service_request.h"
#include "tools/web_socket/web_socket.h"

// What follows 101, on the thread of the connection, as a service_talk. The socket and the stream are the caller's.
typedef void service_socket_talk(
	void *context, struct web_socket *, const struct web_socket_stream *, int stop_fd);

struct service_socket_start {
	service_socket_talk *talk;
	void *context;
	void (*free_context)(void *); // called in any case
	size_t message_max;           // bytes of a message that comes
};
// Answers 101, or 400 to a request that asks for no WebSocket.
struct MHD_Response *service_socket_begin(
	struct service_request *, unsigned *status, const struct service_socket_start *);

// A parameter in the words of Go's strconv.ParseBool, false when it is not given. False: it is another word.
bool service_parameter_bool(const struct service_request *, const char *name, bool *value);
