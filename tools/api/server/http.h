// What the parts of the API share: a server, a request on its way, and the reply it becomes.
//
// A request lives on one of libmicrohttpd's threads. It may be parked: a blocking query until what
// it watches changes, a write until its commands are durable. Parked requests hold no thread; the
// watcher (blocking_query.c) wakes them.
#pragma once
#include "state/base/limits.h"
#include "state/base/prng.h"
#include "state/base/time_source.h"
#include "tools/api/api.h"
#include "tools/json/json_writer.h"
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <urcu/list.h>

#define API_THREADS 4u
#define API_CONNECTIONS_MAX 4096u
// Longest request line and headers; libmicrohttpd answers 431 beyond.
#define API_HEADER_BYTES_MAX (32u * 1024)
#define API_PARAMETERS_MAX 16u
#define API_PATH_IDS_MAX 2u
// Nomad's default and maximum of a blocking query, and its jitter: up to a sixteenth more.
#define API_WAIT_MS_MAX 300000ull
#define API_WAIT_JITTER 16u
// A write that is not durable by then is answered with 503; it may still take effect.
#define API_COMMAND_WAIT_MS 30000ull
#define API_TEXT_JSON "application/json"
#define API_TEXT_PLAIN "text/plain; charset=utf-8"

struct api;
struct request;
struct submission;
struct list_stream;
struct event_stream;
struct heavy;
struct heavy_item;

struct reply {
	unsigned status; // 0: not decided yet
	const char *content_type;
	struct json_writer body;
	bool has_index;
	uint64_t index;              // X-Nomad-Index
	bool is_packed;              // sent compressed
	bool is_read;                // though its route takes a body: headers as of reads
	char *next_token;            // X-Nomad-NextToken; owned
	unsigned retry_after_s;      // 0: no such header
	struct list_stream *stream;  // instead of body; owned
	struct event_stream *events; // instead of body; owned
};

// Under no read lock. Fills the reply.
typedef void route_answer(struct request *, struct reply *);
// The index at which what the request looks at last changed, 0 when it is not there. Under read
// lock.
typedef uint64_t route_watched(const struct request *);
// Turns a write's body into commands and submits them (submission.h); then route_answer is called
// when they are done. Or fills the reply at once.
typedef void route_submit(struct request *, struct reply *);

struct route {
	const char *method;  // "PUT" also means POST
	const char *pattern; // ":id" stands for one path segment
	route_answer *answer;
	route_watched *watched; // NULL: answers at once
	route_submit *submit;   // NULL: changes nothing
};

struct parameter {
	char *name, *value; // decoded; value "" when it has none
};

enum request_stage {
	REQUEST_HEADERS,   // just begun
	REQUEST_BODY,      // a write whose body arrives
	REQUEST_WATCHING,  // a blocking query, parked or about to look
	REQUEST_COMMANDS,  // a write whose commands are under way
	REQUEST_STREAMING, // answered with events, and waiting for more
	REQUEST_WORKING,   // its answer is being worked out (heavy.h)
	REQUEST_ANSWERED,
};

struct request {
	struct api *api;
	struct MHD_Connection *connection;
	struct connection *socket;
	const struct route *route;
	enum request_stage stage;
	char *path; // decoded segments, NUL-separated; ids point into it
	const char *ids[API_PATH_IDS_MAX];
	uint32_t parameter_count;
	struct parameter parameters[API_PARAMETERS_MAX];
	char *body;
	size_t body_size, body_capacity, body_seen;
	bool body_too_large;
	uint64_t wait_index; // of a blocking query
	struct submission *submission;
	void *context; // of the route, between submit and answer; see context_free
	void (*context_free)(void *);
	unsigned status; // as answered, for the counters
	// Parked: owned by blocking_query.c.
	struct cds_list_head parked;
	uint64_t deadline_ns;        // 0: was not parked
	bool wait_existed;           // what a blocking query watches was there when it began
	bool hung_up;                // its client went while it was parked
	struct event_stream *events; // while it streams
	struct heavy_item *heavy;    // while its answer is worked out
};

struct api {
	struct api_settings settings;
	char *address, *region, *datacenter, *name; // copies
	struct MHD_Daemon *daemon;
	uint16_t port;
	struct uuid id;
	uint64_t started_ns;
	uint64_t first_index; // of the state, when the server started
	_Atomic uint32_t requests_active;
	_Atomic uint32_t commands_under_way;
	struct watcher *watcher;
	struct heavy *heavy;
	struct connections *connections;
	struct request_counters *counters;
	pthread_mutex_t prng_lock;
	struct prng prng;
};

// When a table last changed, as far as this process knows.
uint64_t table_watched(const struct request *, enum state_table);

// Value of a query parameter, or NULL when it is not there.
const char *request_parameter(const struct request *, const char *name);
// True for "?name", "?name=true", "?name=1".
bool request_flag(const struct request *, const char *name);
// The namespace asked for; "default" when none is. "*" stands for all where lists are concerned.
const char *request_namespace(const struct request *);

// A plain-text answer; a sentence of what, where and what to do.
void reply_error(struct reply *, unsigned status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
// Starts a JSON answer with 200.
struct json_writer *reply_json(struct request *, struct reply *);
void reply_index(struct reply *, uint64_t index);
