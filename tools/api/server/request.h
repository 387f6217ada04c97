// A request under way.
//
// It lives on one of libmicrohttpd's threads. It may be parked (parking.h): a blocking query until what it
// watches changes, a write until its commands are durable. Parked requests hold no thread.
#pragma once
#include "state/base/limits.h"
#include "tools/api/server/reply.h"
#include "tools/api/server/server.h"
#include <urcu/list.h>

#define API_PARAMETERS_MAX 16u

struct access;
struct submission;
struct background_answer;
struct parked_kind;
struct exchange;

struct parameter {
	char *name, *value; // decoded; value is "" when the request has none
};

enum request_stage {
	REQUEST_HEADERS,  // just begun
	REQUEST_BODY,     // a write whose body arrives
	REQUEST_WATCHING, // a blocking query, parked or about to check
	REQUEST_AWAITING, // its answer found that it has to wait, and is called again (parking_await)
	REQUEST_COMMANDS,  // a write whose commands are under way
	REQUEST_WORKING,   // a thread works out its answer (background_answers.h)
	REQUEST_FORWARDED, // the leader answers it (forwarding.h), or a node does (node_line.h)
	REQUEST_ANSWERED,
};

// Why a request is refused before its route sees it. Status 0: it is not.
struct refusal {
	unsigned status;
	const char *text; // lives as long as the request; "" for an answer without a body
};

struct request {
	struct api *api;
	struct MHD_Connection *connection;
	struct connection *socket;
	const struct route *route;
	enum request_stage stage;
	bool asks_for_page; // a browser, what a page of another site may ask (cross_origin.h)
	char *asked; // method and path as they were sent, for the audit log; NULL: there is none
	char *path;  // decoded segments, NUL-separated; ids point into it
	const char *ids[ROUTE_IDS_MAX];
	uint32_t parameter_count;
	struct parameter parameters[API_PARAMETERS_MAX];
	char complaint[256]; // about a parameter, or where the body goes
	char *body;
	size_t body_size, body_capacity, body_seen;
	uint64_t held_bytes; // of the place that its client comes from (request_hold)
	bool has_body_file;  // the body goes there (route_table.takes_file)
	int body_file;
	struct refusal
		refusal;       // found in the headers or the body; said when the body has been read
	struct access *access; // of its token; NULL: it may do everything (access.h)
	struct uuid accessor;  // of its token, also when that is gone; zero: it shows none
	uint64_t access_looked_ns; // when that was found
	bool is_greeted;           // the first message of its WebSocket is for us (greeting.h),
	bool lacks_token;          // and has to have the token, because no header has one
	const struct parked_kind *awaited; // of REQUEST_AWAITING; its context is the request
	uint64_t awaited_until_ns;         // 0: it has not waited yet
	uint64_t wait_index;               // of a blocking query
	bool wait_existed;                 // what it watches existed when it began
	struct submission *submission;
	struct background_answer *background; // while its answer is worked out
	// On a member of a cluster (forwarding.h).
	bool is_forwarded;           // the leader is to answer
	bool is_stale;               // answered here, although this member does not lead
	bool is_refused_by_follower; // nothing was done, because this member does not lead
	char *target; // path and query as they were sent, of one that somebody else may answer; else NULL
	struct exchange *exchange; // while it waits for the answer of the leader or of a node
	struct MHD_UpgradeResponseHandle *joined; // while another protocol is spoken (switched.h)
	struct open_tunnel *tunnel;               // the same over TLS
	void *context; // the route's, between submit and answer; see context_free
	void (*context_free)(void *);
	uint16_t
		close_code; // of a WebSocket that is opened to be closed (tools/api/server/web_socket.h)
	char close_reason[124]; // the same
	unsigned status;        // of the answer, for the counters
	bool begins_anew;       // once it is answered, the process is replaced
	// Owned by parking.c while the request is parked.
	struct cds_list_head parked;
	bool is_parked;
	const struct parked_kind *parked_kind;
	const void *parked_context;
	uint64_t deadline_ns; // 0: was not parked
	bool hung_up;         // its client left while it was parked
};

struct request *request_create(struct api *, struct MHD_Connection *, struct connection *);
// Call it after the submission and the background answer are gone.
void request_free(struct request *);
// Decodes the query parameters. Returns NULL, or what is wrong with them.
const char *request_parameters_read(struct request *);
// Refuses what there is no memory for.
struct refusal request_body_add(struct request *, const char *data, size_t size);
// Forgets the body so far.
void request_body_drop(struct request *);
// Holds memory until the request is freed, of what the place may have that its client comes from
// (tools/api/server/clients/guests.h). False: it would have too much.
bool request_hold(struct request *, uint64_t bytes, bool must);
// The same for an answer that is about to be sent.
bool request_hold_answer(struct request *, const struct reply *);
// The same for a body that goes into a file: of any size for which there is room. announced: its bytes, 0 when nobody
// knows. What is refused has the refusal's status.
struct refusal request_file_open(struct request *, uint64_t announced);
struct refusal request_file_add(struct request *, const char *data, size_t size);

// Value of a query parameter, or NULL.
const char *request_parameter(const struct request *, const char *name);
// True for "?name", "?name=true", "?name=1". Another value than those of a boolean was refused before.
bool request_flag(const struct request *, const char *name);
// The same of a parameter that is checked elsewhere, and may have any value.
bool request_says_true(const struct request *, const char *name);
// Reads a number of digits alone, without sign or blanks. False when it is none, or above most.
bool number_parse(const char *text, uint64_t most, uint64_t *number);
// The requested namespace, by default "default". Lists take "*" for all.
const char *request_namespace(const struct request *);

// The secret of the token that the request shows, or NULL. It is never read from the query, which ends up in logs.
const char *request_secret(const struct request *);
// The header Authorization, or NULL.
const char *request_authorization(const struct request *);

// Starts a JSON answer with 200.
struct json_writer *reply_json(struct request *, struct reply *);
