#include "tools/agent/container/engine_hijack.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/agent/task/spec.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// Of an answer that refuses.
#define BODY_BYTES_MAX 4096u

struct hijack {
	int fd;
	const struct engine *engine;
	struct engine_reply *reply;
	uint64_t end_ns; // monotonic
};

static bool hijack_fails(struct hijack *h, const char *why)
{
	snprintf(h->reply->message, sizeof h->reply->message, "%.100s does not answer: %.130s",
		h->engine->socket, why);
	return false;
}

static bool await_engine(struct hijack *h, short events)
{
	struct pollfd polled[2] = {
		{.fd = h->fd, .events = events}, {.fd = h->engine->signal_fd, .events = POLLIN}};
	for (;;) {
		uint64_t now_ns = time_monotonic_ns(&time_source_real);
		if (now_ns >= h->end_ns)
			return hijack_fails(h, "it takes too long");
		uint64_t left_ms = (h->end_ns - now_ns) / NS_PER_MS + 1;
		int count = poll(polled, 2, left_ms < 60000 ? (int)left_ms : 60000);
		if (count < 0 && errno != EINTR)
			return hijack_fails(h, strerror(errno));
		h->reply->is_told = count > 0 && polled[1].revents != 0;
		if (h->reply->is_told)
			return hijack_fails(h, "it was not waited for");
		if (count > 0 && polled[0].revents)
			return true;
	}
}

static bool connect_engine(struct hijack *h)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (strlen(h->engine->socket) >= sizeof address.sun_path)
		return hijack_fails(h, "the path of its socket is too long");
	memcpy(address.sun_path, h->engine->socket, strlen(h->engine->socket));
	h->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->fd < 0 || connect(h->fd, (struct sockaddr *)&address, sizeof address) < 0)
		return hijack_fails(h, strerror(errno));
	return true;
}

static bool send_text(struct hijack *h, const char *text)
{
	for (size_t at = 0, size = strlen(text); at < size;) {
		ssize_t n = send(h->fd, text + at, size - at, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return hijack_fails(h, strerror(errno));
		if (n < 0 && !await_engine(h, POLLOUT))
			return false;
		at += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool ask_to_hijack(struct hijack *h, const struct engine_request *request)
{
	char head[2500];
	char *body = request->body ? spec_dump(request->body) : NULL;
	snprintf(head, sizeof head,
		"%s %.2000s HTTP/1.1\r\nHost: engine\r\nContent-Type: application/json\r\n"
		"Connection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: %zu\r\n\r\n",
		request->method, request->path, body ? strlen(body) : 0);
	bool is_sent = send_text(h, head) && (!body || send_text(h, body));
	free(body);
	return is_sent;
}

static ssize_t take_bytes(struct hijack *h, char *bytes, size_t size)
{
	ssize_t n;
	while ((n = recv(h->fd, bytes, size, 0)) < 0 && (errno == EINTR || errno == EAGAIN))
		if (!await_engine(h, POLLIN))
			return -1;
	if (n <= 0)
		hijack_fails(h, n < 0 ? strerror(errno) : "it closes the connection");
	return n;
}

// Byte by byte, so that nothing is taken of what comes behind.
static bool take_answer_head(struct hijack *h, char head[static ENGINE_HEAD_BYTES_MAX])
{
	for (size_t at = 0; at < ENGINE_HEAD_BYTES_MAX - 1;) {
		if (take_bytes(h, head + at, 1) <= 0)
			return false;
		if (head[at] == '\0')
			return hijack_fails(h, "what it says is no HTTP");
		head[++at] = '\0';
		if (at >= 4 && memcmp(head + at - 4, "\r\n\r\n", 4) == 0)
			return true;
	}
	return hijack_fails(h, "the head of its answer does not end");
}

bool engine_head_read(const char *head, long *status, size_t *body_size)
{
	static const char length[] = "\r\nContent-Length:";
	const char *announced = strcasestr(head, length);
	*status = 0;
	*body_size = announced ? strtoul(announced + sizeof length - 1, NULL, 10) : 0;
	return (strncmp(head, "HTTP/1.1 ", 9) == 0 || strncmp(head, "HTTP/1.0 ", 9) == 0) &&
	       (*status = strtol(head + 9, NULL, 10)) >= 100 && *status <= 999;
}

// Keeps what it says of an answer that refuses.
static void take_refusal(struct hijack *h, size_t size)
{
	char body[BODY_BYTES_MAX];
	size_t at = 0, wanted = size < sizeof body ? size : sizeof body;
	for (ssize_t n; at < wanted; at += (size_t)n)
		if ((n = take_bytes(h, body + at, wanted - at)) <= 0)
			break;
	engine_reply_fill(h->reply, body, at);
	if (engine_is_good(h->reply))
		snprintf(h->reply->message, sizeof h->reply->message,
			"HTTP status %ld, and no connection", h->reply->status);
}

static bool is_handed_over(struct hijack *h)
{
	char head[ENGINE_HEAD_BYTES_MAX];
	size_t body_size;
	if (!take_answer_head(h, head))
		return false;
	if (!engine_head_read(head, &h->reply->status, &body_size))
		return hijack_fails(h, "what it says is no HTTP");
	if (h->reply->status == 101 || h->reply->status == 200)
		return true;
	take_refusal(h, body_size);
	return false;
}

int engine_hijack(const struct engine *engine, const struct engine_request *request,
	struct engine_reply *reply)
{
	struct hijack h = {.fd = -1,
		.engine = engine,
		.reply = reply,
		.end_ns = time_monotonic_ns(&time_source_real) +
			  (uint64_t)request->timeout_ms * NS_PER_MS};
	*reply = (struct engine_reply){0};
	if (connect_engine(&h) && ask_to_hijack(&h, request) && is_handed_over(&h))
		return h.fd;
	if (h.fd >= 0)
		close(h.fd);
	return -1;
}
