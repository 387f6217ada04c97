// A request under way, on the thread of its connection, and how it is answered.
#pragma once
#include "state/base/text.h"
#include "tools/agent/service/service_settings.h"
#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent_service;
struct json_writer;
struct service_route;

#define SERVICE_ID_BYTES 128u
// A body is small: which task, which signal.
#define SERVICE_BODY_BYTES_MAX 65536u

// A talk after 101, on the thread of its connection. It reads and writes the socket, which is not blocking and not its
// own to close; extra is what the peer sent already. It polls stop_fd, too, and returns soon once that is readable: the
// service stops.
typedef void service_talk(
	void *context, int socket, const char *extra, size_t extra_size, int stop_fd);
struct service_request {
	struct agent_service *service;
	const struct agent_service_settings *settings; // the service's
	struct MHD_Connection *connection;
	const struct service_route *route;
	char id[SERVICE_ID_BYTES]; // what stands for :id in the path, decoded; "": nothing
	char *body;                // NUL-terminated; NULL: there is none
	size_t body_size;
	bool is_too_large; // the body
	// After service_upgrade().
	service_talk *talk; // NULL: none
	void *talk_context;
	void (*free_talk)(void *);
};

// The value of a query parameter, decoded; NULL: it is not given. Lives as long as the request.
const char *service_parameter(const struct service_request *, const char *name);
// A header of the request; NULL: it is not given.
const char *service_header(const struct service_request *, const char *name);

#define SERVICE_TEXT "text/plain; charset=utf-8"
#define SERVICE_JSON "application/json"

// Responses to give to libmicrohttpd; NULL: memory is short, and the connection is closed.
//
// A text, mostly what is wrong. *status becomes the given one.
struct MHD_Response *service_say(unsigned *status, unsigned value, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
// JSON with 200; takes the writer's text over.
struct MHD_Response *service_json(unsigned *status, struct json_writer *);
// 200 and nothing.
struct MHD_Response *service_nothing(unsigned *status);
// Copies the header into the response; an answer without it still is one when memory is short.
void service_put_header(struct MHD_Response *, const char *name, const char *value);

// What ended a wait.
enum service_event {
	SERVICE_TIME_OVER,
	SERVICE_READABLE, // the descriptor
	SERVICE_OVER,     // the peer has hung up, or the service stops: end the answer
};
// Waits, within an answer, for a descriptor (-1: for none) or the time. Also tells libmicrohttpd that the connection
// does not idle, so that a follower may wait for as long as it likes.
enum service_event service_wait(const struct service_request *, int fd, int timeout_ms);

// The response that begins a talk, with 101: add the headers Upgrade and those of the protocol to it. context is freed
// after the talk, or when there is none because the peer is gone; free may be NULL.
struct MHD_Response *service_upgrade(struct service_request *, unsigned *status, service_talk *,
	void *context, void (*free)(void *));
