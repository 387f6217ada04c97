// The path of a request: line → route → body → answer. Only this file drives libmicrohttpd.
#include "tools/agent/service/service.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/agent/service/service_inner.h"
#include "tools/agent/service/service_routes.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// Of each connection: the headers of a request, and a frame of a log in base64 with its chunk.
#define CONNECTION_MEMORY_BYTES (320u * 1024)
#define THREAD_STACK_BYTES (256u * 1024)

static void request_destroy(struct service_request *request)
{
	if (request->free_talk)
		request->free_talk(request->talk_context);
	free(request->body);
	free(request);
}

static struct service_request *request_begin(struct agent_service *s,
	struct MHD_Connection *connection, const char *method, const char *path)
{
	struct service_request *request = memory_take(sizeof *request);
	request->service = s;
	request->settings = &s->settings;
	request->connection = connection;
	request->route = service_route_find(s->settings.routes, method, path, request->id);
	return request;
}

static void add_to_body(struct service_request *request, const char *data, size_t size)
{
	if (request->body_size + size > SERVICE_BODY_BYTES_MAX) {
		request->is_too_large = true;
		return;
	}
	request->body = memory_resize(request->body, request->body_size + size + 1);
	memcpy(request->body + request->body_size, data, size);
	request->body_size += size;
	request->body[request->body_size] = '\0';
}

// A value with a zero byte would be taken for what is before it.
static enum MHD_Result find_zero_byte(void *found, enum MHD_ValueKind kind, const char *name,
	size_t name_size, const char *value, size_t value_size)
{
	bool *has = found;
	*has |= strlen(name) != name_size || (value && strlen(value) != value_size);
	return MHD_YES;
}

static struct MHD_Response *answer_of(struct service_request *request, unsigned *status)
{
	bool has_zero = false;
	if (atomic_load(&request->service->is_stopping))
		return service_say(status, MHD_HTTP_SERVICE_UNAVAILABLE, "the node's agent stops");
	if (!request->route)
		return service_say(status, MHD_HTTP_NOT_FOUND, "resource not found");
	if (request->is_too_large)
		return service_say(status, MHD_HTTP_CONTENT_TOO_LARGE,
			"the body is larger than %u bytes, the most that is read",
			SERVICE_BODY_BYTES_MAX);
	(void)MHD_get_connection_values_n(
		request->connection, MHD_GET_ARGUMENT_KIND, find_zero_byte, &has_zero);
	if (has_zero)
		return service_say(status, MHD_HTTP_BAD_REQUEST,
			"a query parameter has a zero byte; leave it out");
	return request->route->answer(request, status);
}

static enum MHD_Result take_request(void *context, struct MHD_Connection *connection,
	const char *path, const char *method, const char *version, const char *data, size_t *size,
	void **request_at)
{
	struct service_request *request = *request_at;
	unsigned status = 0;
	if (!request) {
		*request_at = request_begin(context, connection, method, path);
		return MHD_YES;
	}
	if (*size > 0) {
		add_to_body(request, data, *size);
		*size = 0;
		return MHD_YES;
	}
	struct MHD_Response *response =
		CAN_BREAK(SERVICE_ANSWER, NULL, answer_of(request, &status));
	if (!response)
		return MHD_NO;
	enum MHD_Result result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static void end_request(void *context, struct MHD_Connection *connection, void **request_at,
	enum MHD_RequestTerminationCode how)
{
	struct service_request *request = *request_at;
	struct agent_service *s = context;
	if (!request)
		return;
	*request_at = NULL;
	bool was_talk = request->talk != NULL;
	request_destroy(request);
	if (was_talk)
		atomic_fetch_sub(&s->talks, 1);
}

static void count_socket(void *context, struct MHD_Connection *connection, void **unused,
	enum MHD_ConnectionNotificationCode what)
{
	struct agent_service *s = context;
	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		atomic_fetch_add(&s->sockets, 1);
	else
		atomic_fetch_sub(&s->sockets, 1);
}

// Connections come over a pair of sockets that are not TCP's, and the library complains of that at every chunk: whoever
// follows the log would be told of each line that it was sent.
static bool complains_of_no_tcp(const char *text)
{
	return strncmp(text, "Setting TCP_", 12) == 0 ||
	       strncmp(text, "Failed to push the data", 23) == 0;
}

__attribute__((format(printf, 2, 0))) static void log_http_complaint(
	void *context, const char *format, va_list arguments)
{
	char text[256], quoted[300];
	vsnprintf(text, sizeof text, format, arguments);
	text[strcspn(text, "\n")] = '\0';
	if (!complains_of_no_tcp(text))
		log_debug("service", "message=%s", log_quote(text, quoted, sizeof quoted));
}

static struct MHD_Daemon *start_http(struct agent_service *s)
{
	return MHD_start_daemon(MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_THREAD_PER_CONNECTION |
					MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC | MHD_ALLOW_UPGRADE |
					MHD_USE_ERROR_LOG,
		0, NULL, NULL, take_request, s, MHD_OPTION_EXTERNAL_LOGGER, log_http_complaint, s,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)s->settings.connections_max,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)s->settings.idle_s,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY_BYTES,
		MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_STACK_BYTES,
		MHD_OPTION_NOTIFY_CONNECTION, count_socket, s, MHD_OPTION_NOTIFY_COMPLETED,
		end_request, s, MHD_OPTION_END);
}

int agent_service_start(const struct agent_service_settings *settings, struct agent_service **out,
	char *message, uint32_t message_size)
{
	sigset_t all, before;
	*out = NULL;
	int stop_fd = CAN_FAIL(SERVICE_STOP, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (stop_fd < 0) {
		snprintf(message, message_size, "service: eventfd: %m");
		return -errno;
	}
	struct agent_service *s = memory_take(sizeof *s);
	s->settings = *settings;
	s->stop_fd = stop_fd;
	if (!s->settings.routes)
		s->settings.routes = service_routes;
	if (!s->settings.connections_max)
		s->settings.connections_max = AGENT_SERVICE_CONNECTIONS_MAX;
	if (!s->settings.idle_s)
		s->settings.idle_s = AGENT_SERVICE_IDLE_S;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	s->daemon = CAN_BREAK(SERVICE_START, NULL, start_http(s));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (s->daemon) {
		*out = s;
		return 0;
	}
	snprintf(message, message_size, "service: libmicrohttpd does not start: %m");
	close(stop_fd);
	free(s);
	return -EIO;
}

int agent_service_take(struct agent_service *s, int fd)
{
	struct sockaddr_storage peer = {.ss_family = AF_UNIX};
	socklen_t size = sizeof peer;
	int error = 0;
	if (atomic_load(&s->sockets) >= s->settings.connections_max)
		error = -EUSERS;
	else if (atomic_load(&s->is_stopping))
		error = -ESHUTDOWN;
	// A task must not keep it.
	else if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ||
		 CAN_FAIL(SERVICE_TAKE, getpeername(fd, (struct sockaddr *)&peer, &size)) < 0)
		error = -errno;
	if (error) {
		close(fd);
		return error;
	}
	// libmicrohttpd closes what it does not take.
	return MHD_add_connection(s->daemon, fd, (struct sockaddr *)&peer, size) == MHD_YES
		       ? 0
		       : -ENOMEM;
}

void agent_service_stop(struct agent_service *s)
{
	const struct timespec millisecond = {.tv_nsec = (long)NS_PER_MS};
	if (!s)
		return;
	atomic_store(&s->is_stopping, 1);
	(void)eventfd_write(s->stop_fd, 1); // only that it is not 0 matters
	// libmicrohttpd takes back no connection that was upgraded.
	while (atomic_load(&s->talks) > 0)
		nanosleep(&millisecond, NULL);
	MHD_stop_daemon(s->daemon);
	close(s->stop_fd);
	free(s);
}
