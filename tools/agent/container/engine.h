// Requests of a container's process to its engine, over the engine's socket: the part of Docker's API that podman has,
// too. Each waits for its answer, and looks at the process's signals meanwhile.
#pragma once
#include <curl/curl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENGINE_REPLY_BYTES_MAX (4u << 20)
#define ENGINE_TIMEOUT_MS 60000u

struct engine {
	const char *socket;
	int signal_fd; // -1: signals do not end a request
};

// Takes a piece of a body that streams. False: enough of it.
typedef bool engine_sink(void *context, const char *bytes, size_t size);

struct engine_request {
	const char *method, *path; // with its query
	const char *auth;          // of a registry; NULL: none
	const json_t *body;        // NULL: none
	uint32_t timeout_ms;       // 0: none
	engine_sink *sink;         // NULL: the reply keeps the body
	void *context;
};

struct engine_reply {
	long status;       // 0: the engine did not answer
	bool is_told;      // a signal came meanwhile; the answer did not
	json_t *body;      // NULL: none, or no JSON
	char message[256]; // what the engine says is wrong, or why it did not answer
};

void engine_ask(const struct engine *, const struct engine_request *, struct engine_reply *);
void engine_reply_free(struct engine_reply *);
// Of a status that is set: the body, and what it says is wrong. The body's bytes need no NUL.
void engine_reply_fill(struct engine_reply *, const char *body, size_t size);
static inline bool engine_is_good(const struct engine_reply *reply)
{
	return reply->status >= 200 && reply->status < 400;
}

// A stream that goes on beside other requests.
struct engine_stream;
// NULL: memory is short. The sink gets what comes in engine_streams_step(). Caller closes.
struct engine_stream *engine_stream_open(
	const struct engine *, CURLM *, const struct engine_request *);
void engine_stream_close(struct engine_stream *); // NULL is allowed
// Once it is over: its reply, without a body if there is a sink.
bool engine_stream_is_over(const struct engine_stream *);
void engine_stream_reply(struct engine_stream *, struct engine_reply *);
// Waits for something to do, at most so long, and does it; returns at once when a signal waits.
void engine_streams_step(CURLM *, const struct engine *, int timeout_ms);
