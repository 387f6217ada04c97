#include "tools/agent/service/service_request.h"
#include "tools/agent/service/service_inner.h"
#include "tools/json/json_writer.h"
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *service_parameter(const struct service_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *service_header(const struct service_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

void service_put_header(struct MHD_Response *response, const char *name, const char *value)
{
	if (response)
		(void)MHD_add_response_header(response, name, value);
}

// Owns the text.
static struct MHD_Response *response_of_text(char *text, size_t size, const char *content_type)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer_with_free_callback(size, text, free);
	if (!response)
		free(text);
	service_put_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
	return response;
}

struct MHD_Response *service_say(unsigned *status, unsigned value, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	*status = value;
	va_start(arguments, format);
	int size = vasprintf(&text, format, arguments);
	va_end(arguments);
	return size < 0 ? NULL : response_of_text(text, (size_t)size, SERVICE_TEXT);
}

struct MHD_Response *service_json(unsigned *status, struct json_writer *json)
{
	size_t size = json->size;
	*status = MHD_HTTP_OK;
	return response_of_text(json_writer_take(json), size, SERVICE_JSON);
}

struct MHD_Response *service_nothing(unsigned *status)
{
	*status = MHD_HTTP_OK;
	return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
}

// libmicrohttpd counts from the last byte that moved; a timeout that is set anew counts from now.
static void stay_awake(const struct service_request *request)
{
	const struct agent_service *s = request->service;
	(void)MHD_set_connection_option(request->connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
	(void)MHD_set_connection_option(
		request->connection, MHD_CONNECTION_OPTION_TIMEOUT, s->settings.idle_s);
}

static int socket_of_request(const struct service_request *request)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	return info ? info->connect_fd : -1;
}

enum service_event service_wait(const struct service_request *request, int fd, int timeout_ms)
{
	struct pollfd polled[] = {{.fd = request->service->stop_fd, .events = POLLIN},
		{.fd = socket_of_request(request), .events = POLLRDHUP},
		{.fd = fd, .events = POLLIN}};
	int count = poll(polled, 3, timeout_ms);
	stay_awake(request);
	// No signal comes to the service's threads, so that a poll that fails will again.
	if (count < 0 || polled[0].revents || polled[1].revents)
		return SERVICE_OVER;
	return polled[2].revents ? SERVICE_READABLE : SERVICE_TIME_OVER;
}

static void hold_talk(void *context, struct MHD_Connection *connection, void *request_context,
	const char *extra, size_t extra_size, MHD_socket socket,
	struct MHD_UpgradeResponseHandle *handle)
{
	const struct service_request *request = context;
	request->talk(request->talk_context, socket, extra, extra_size, request->service->stop_fd);
	(void)MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}

// The service waits for talks until libmicrohttpd has got their connections back.
struct MHD_Response *service_upgrade(struct service_request *request, unsigned *status,
	service_talk *talk, void *context, void (*free_context)(void *))
{
	*status = MHD_HTTP_SWITCHING_PROTOCOLS;
	request->talk = talk;
	request->talk_context = context;
	request->free_talk = free_context;
	atomic_fetch_add(&request->service->talks, 1);
	return MHD_create_response_for_upgrade(hold_talk, request);
}
