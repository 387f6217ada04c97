#include "tools/agent/container/engine_watch.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// An answer of this version of HTTP is whole when the connection ends.
static const char question[] = "GET /version HTTP/1.0\r\nHost: engine\r\n\r\n";

void engine_watch_open(struct engine_watch *w, const char *socket)
{
	*w = (struct engine_watch){.socket = socket, .fd = -1};
}

void engine_watch_close(struct engine_watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}

static bool set_health(struct engine_watch *w, bool is_healthy, const char *version)
{
	bool has_changed =
		w->is_healthy != is_healthy || (is_healthy && strcmp(w->version, version) != 0);
	w->is_healthy = is_healthy;
	w->is_seen |= is_healthy;
	if (is_healthy)
		snprintf(w->version, sizeof w->version, "%s", version);
	return has_changed;
}

static bool end_question(
	struct engine_watch *w, bool is_healthy, const char *version, uint64_t now_ns)
{
	engine_watch_close(w);
	w->due_ns = now_ns + ENGINE_WATCH_INTERVAL_MS * NS_PER_MS;
	return set_health(w, is_healthy, version);
}

static bool ask_version(struct engine_watch *w, int epoll_fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
	if (strlen(w->socket) >= sizeof address.sun_path)
		return false;
	memcpy(address.sun_path, w->socket, strlen(w->socket));
	w->size = 0;
	w->fd = CAN_FAIL(
		ENGINE_SOCKET, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	return w->fd >= 0 &&
	       CAN_FAIL(ENGINE_CONNECT,
		       connect(w->fd, (struct sockaddr *)&address, sizeof address)) == 0 &&
	       CAN_FAIL(ENGINE_SEND, send(w->fd, question, sizeof question - 1, MSG_NOSIGNAL)) ==
		       (ssize_t)sizeof question - 1 &&
	       CAN_FAIL(ENGINE_WATCH, epoll_ctl(epoll_fd, EPOLL_CTL_ADD, w->fd, &event)) == 0;
}

static bool take_version(struct engine_watch *w, uint64_t now_ns)
{
	char version[sizeof w->version] = "";
	const char *body = memmem(w->answer, w->size, "\r\n\r\n", 4);
	json_t *json = body ? json_loadb(body + 4, w->size - (size_t)(body + 4 - w->answer),
				      JSON_DISABLE_EOF_CHECK, NULL)
			    : NULL;
	const char *said = json_string_value(json_object_get(json, "Version"));
	if (said)
		snprintf(version, sizeof version, "%s", said);
	json_decref(json);
	return end_question(w, *version != '\0', version, now_ns);
}

bool engine_watch_step(struct engine_watch *w, int epoll_fd, uint64_t now_ns)
{
	if (!*w->socket || (w->fd < 0 && now_ns < w->due_ns))
		return false;
	if (w->fd < 0) {
		if (!ask_version(w, epoll_fd))
			return end_question(w, false, "", now_ns);
		w->due_ns = now_ns + ENGINE_WATCH_TIMEOUT_MS * NS_PER_MS;
	}
	ssize_t n;
	while ((n = CAN_FAIL(ENGINE_RECEIVE,
			recv(w->fd, w->answer + w->size, sizeof w->answer - w->size, 0))) > 0)
		w->size += (uint32_t)n;
	if (n == 0) // the answer is over, or it is longer than anything that is wanted
		return take_version(w, now_ns);
	if (errno == EAGAIN && now_ns < w->due_ns)
		return false;
	return end_question(w, false, "", now_ns);
}

uint64_t engine_watch_due_ns(const struct engine_watch *w)
{
	return *w->socket ? w->due_ns : UINT64_MAX;
}
