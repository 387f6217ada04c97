#include "tools/agent/service/service_socket.h"
#include "state/base/memory.h"
#include "tools/web_socket/handshake.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct socket_talk {
	struct service_socket_start start;
};

static void socket_talk_free(void *context)
{
	struct socket_talk *t = context;
	t->start.free_context(t->start.context);
	free(t);
}

static void hold_socket_talk(
	void *context, int socket, const char *extra, size_t extra_size, int stop_fd)
{
	const struct socket_talk *t = context;
	struct web_socket_stream stream = web_socket_stream_of(&socket);
	struct web_socket *s =
		web_socket_open(&stream, false, t->start.message_max, extra, extra_size);
	t->start.talk(t->start.context, s, &stream, stop_fd);
	web_socket_free(s);
}

// Whether a header's list of words has this one.
static bool header_has(const struct service_request *request, const char *name, const char *word)
{
	const char *at = service_header(request, name);
	while (at && *at) {
		at += strspn(at, " \t,");
		size_t size = strcspn(at, " \t,");
		if (size == strlen(word) && strncasecmp(at, word, size) == 0)
			return true;
		at += size;
	}
	return false;
}

static const char *why_no_socket(
	const struct service_request *request, char accept[static WEB_SOCKET_ACCEPT_BYTES])
{
	const char *key = service_header(request, "Sec-WebSocket-Key");
	if (!header_has(request, MHD_HTTP_HEADER_CONNECTION, "upgrade"))
		return "the client is not using the websocket protocol: 'upgrade' token not found "
		       "in "
		       "'Connection' header";
	if (!header_has(request, MHD_HTTP_HEADER_UPGRADE, "websocket"))
		return "the client is not using the websocket protocol: 'websocket' token not "
		       "found in "
		       "'Upgrade' header";
	if (!header_has(request, "Sec-WebSocket-Version", "13"))
		return "unsupported version: 13 not found in 'Sec-Websocket-Version' header";
	if (!key || !*key || !web_socket_accept(key, accept))
		return "not a websocket handshake: 'Sec-WebSocket-Key' header is missing or blank";
	return NULL;
}

struct MHD_Response *service_socket_begin(
	struct service_request *request, unsigned *status, const struct service_socket_start *start)
{
	char accept[WEB_SOCKET_ACCEPT_BYTES];
	const char *why = why_no_socket(request, accept);
	struct MHD_Response *response;
	if (why) {
		start->free_context(start->context);
		response = service_say(status, MHD_HTTP_BAD_REQUEST,
			"Bad Request\nfailed to upgrade connection: websocket: %s", why);
		service_put_header(response, "Sec-Websocket-Version", "13");
		return response;
	}
	struct socket_talk *t = memory_take(sizeof *t);
	t->start = *start;
	response = service_upgrade(request, status, hold_socket_talk, t, socket_talk_free);
	service_put_header(response, MHD_HTTP_HEADER_UPGRADE, "websocket");
	service_put_header(response, "Sec-WebSocket-Accept", accept);
	return response;
}

bool service_parameter_bool(const struct service_request *request, const char *name, bool *value)
{
	static const char *const words[] = {
		"0", "f", "F", "FALSE", "false", "False", "1", "t", "T", "TRUE", "true", "True"};
	const char *given = service_parameter(request, name);
	*value = false;
	if (!given || !*given)
		return true;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(words[i], given) == 0) {
			*value = i >= 6;
			return true;
		}
	return false;
}
