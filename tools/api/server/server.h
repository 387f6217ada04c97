// The server that all requests share.
#pragma once
#include "state/base/prng.h"
#include "state/base/time_source.h"
#include "tools/api/server/route.h"
#include "tools/api/server/settings.h"
#include <pthread.h>
#include <stdatomic.h>

#define API_THREADS 4u
#define API_CONNECTIONS_MAX 4096u
// Of bodies that came and answers that are being sent.
#define API_MEMORY_BYTES_MAX (256ull * 1024 * 1024)
// Longest request line and headers; libmicrohttpd answers longer ones with 431.
#define API_HEADER_BYTES_MAX (32u * 1024)

// Threads for answers that take long (background_answers.h).
enum background_thread {
	BACKGROUND_WORK, // plans, explanations: visit every node, some of them more than once
	BACKGROUND_LISTS, // pages and counts that take long, and what was searched for, a piece of each in turn
	BACKGROUND_SNAPSHOTS, // the whole state, written and packed, which takes seconds
	BACKGROUND_THREADS,
};

// LISTENER_LINE listens nowhere: it is given the connections over which nodes ask.
enum api_listener { LISTENER_ADDRESS, LISTENER_SOCKET, LISTENER_LINE, API_LISTENERS };

struct api {
	struct api_settings settings;
	const struct route_table *routes;
	char *address, *region, *datacenter, *name; // copies
	char *hosts;                                // names that a Host header may have
	char *origins;                              // sites whose pages may read, too
	char *socket_path;                          // "": none
	struct identity *identity;                  // NULL: HTTP without TLS
	struct MHD_Daemon *daemons[API_LISTENERS];  // NULL: does not listen there
	uint16_t port;                              // 0: at no address
	struct uuid id;
	uint64_t started_ns;
	uint64_t first_index; // of the state, when the server started
	_Atomic uint32_t requests_active;
	_Atomic uint32_t commands_under_way;
	_Atomic bool is_stopping; // whoever connects is sent away
	struct parking *parking;
	struct background_answers *background[BACKGROUND_THREADS];
	struct guests *guests;
	struct connections *connections;
	struct request_counters *counters;
	struct audit_log *audit;       // NULL: none
	struct audit_ring *audit_ring; // its newest lines; NULL: none
	struct token_keeper *tokens;
	struct tunnels *tunnels;     // of WebSockets over TLS; NULL: HTTP without TLS
	struct forwarder *forwarder; // NULL: of no cluster
	struct line_hub *line;       // NULL: no node can be asked
	pthread_mutex_t prng_lock;
	struct prng prng;
};
