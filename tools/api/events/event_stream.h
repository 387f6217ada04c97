// GET /v1/event/stream: changes of the state as lines of JSON, as they come.
#pragma once
#include "tools/api/server/http.h"

struct event_stream;

// For libmicrohttpd.
struct MHD_Response *event_stream_response(struct event_stream *);
void event_stream_free(struct event_stream *);

// For the watcher, under its lock: there is something to send, or nothing to wait for.
bool event_stream_is_ready(const struct event_stream *);

struct event_stream_counts {
	uint32_t open;
	uint64_t lost; // ended because they were read too slowly
};
void event_stream_count(struct event_stream_counts *); // of the process
