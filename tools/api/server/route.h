// Routes: the requests that the API knows, and how a request line finds its row in their table.
//
// Each folder of handlers has a routes.h with one row per route, as a list for a macro; the rows declare the handlers
// and make the table.
#pragma once
#include "state/tables/state.h"
#include "tools/api/access/rights.h"

struct request;
struct reply;
struct one_record;
struct record_kind;

// Under no read lock. Fills the reply.
typedef void route_answer(struct request *, struct reply *);
// The index of the last change to what the request reads, 0 when it does not exist. Under read lock.
typedef uint64_t route_watched(const struct request *);
// Turns a write's body into commands and submits them (submission.h); route_answer is called when they are done. Or
// fills the reply at once.
typedef void route_submit(struct request *, struct reply *);
// Asks a node, which answers in the server's place (elsewhere/node_line.h). target: path and query as they were sent.
typedef void route_ask(struct request *, struct reply *, const char *target);

struct route {
	const char *method; // "PUT" also means POST
	const char *
		pattern; // ":id" stands for one path segment; at the end ":rest" for all that follow, and
			 // ":path" for all that follow as one id, which may be empty
	enum right right; // what it asks of whoever sends a request
	route_answer *answer;
	route_watched *watched;         // NULL: answers at once
	route_submit *submit;           // NULL: the route changes nothing
	enum state_table table;         // for table_watched
	const struct record_kind *list; // for record_list_read and record_list_watched
	const struct one_record *one;   // for one_record_read and one_record_watched
	route_ask *ask;                 // for node_is_asked; NULL: no node is asked
};

// The last change of the route's table, as far as this process knows.
route_watched table_watched;
// Read the record that the path names, and the index of its last change (one_record.h).
route_answer one_record_read;
route_watched one_record_watched;
// Answers and submits: asks a node, which only the leader of a cluster can.
route_answer node_is_asked;
// List the records of the route's kind, and tell when one of them may have changed (tools/api/lists/record_list.h).
route_answer record_list_read;
route_watched record_list_watched;

// READ(pattern, right, answer); WATCH(pattern, right, answer, watched): a read that can wait for a change;
// TABLE(pattern, right, answer, table): a read that can wait for a change of a table; LIST(pattern, right,
// record_kind): the same for a list of records; ONE(pattern, right, one_record): the same for the record that the path
// names; WRITE(method, pattern, right, submit, answer); ASK(method, pattern, right, submit): has a body and changes
// nothing; NODE(GET or PUT, pattern, right, ask): a node may be what answers.
// The right is what the route asks of whoever sends a request (tools/api/access/rights.h): RIGHT_ and this word.
#define ROUTE_DECLARE_READ(pattern_, right_, answer_) route_answer answer_;
#define ROUTE_DECLARE_WATCH(pattern_, right_, answer_, watched_) \
	route_answer answer_;                                    \
	route_watched watched_;
#define ROUTE_DECLARE_TABLE(pattern_, right_, answer_, table_) route_answer answer_;
#define ROUTE_DECLARE_LIST(pattern_, right_, kind_) extern const struct record_kind kind_;
#define ROUTE_DECLARE_ONE(pattern_, right_, one_) extern const struct one_record one_;
#define ROUTE_DECLARE_WRITE(method_, pattern_, right_, submit_, answer_) \
	route_submit submit_;                                            \
	route_answer answer_;
#define ROUTE_DECLARE_ASK(method_, pattern_, right_, submit_) route_submit submit_;
#define ROUTE_DECLARE_NODE(method_, pattern_, right_, ask_) route_ask ask_;
#define ROUTES_DECLARE(ROUTES)                                                                   \
	ROUTES(ROUTE_DECLARE_READ, ROUTE_DECLARE_WATCH, ROUTE_DECLARE_TABLE, ROUTE_DECLARE_LIST, \
		ROUTE_DECLARE_ONE, ROUTE_DECLARE_WRITE, ROUTE_DECLARE_ASK, ROUTE_DECLARE_NODE)

#define ROUTE_ROW_READ(pattern_, right_, answer_) \
	{"GET", pattern_, RIGHT_##right_, answer_, NULL, NULL},
#define ROUTE_ROW_WATCH(pattern_, right_, answer_, watched_) \
	{"GET", pattern_, RIGHT_##right_, answer_, watched_, NULL},
#define ROUTE_ROW_TABLE(pattern_, right_, answer_, table_) \
	{"GET", pattern_, RIGHT_##right_, answer_, table_watched, NULL, table_},
#define ROUTE_ROW_LIST(pattern_, right_, kind_) \
	{"GET", pattern_, RIGHT_##right_, record_list_read, record_list_watched, .list = &kind_},
#define ROUTE_ROW_ONE(pattern_, right_, one_) \
	{"GET", pattern_, RIGHT_##right_, one_record_read, one_record_watched, .one = &one_},
#define ROUTE_ROW_WRITE(method_, pattern_, right_, submit_, answer_) \
	{method_, pattern_, RIGHT_##right_, answer_, NULL, submit_},
#define ROUTE_ROW_ASK(method_, pattern_, right_, submit_) \
	{method_, pattern_, RIGHT_##right_, NULL, NULL, submit_},
#define ROUTE_NODE_GET .answer = node_is_asked
#define ROUTE_NODE_PUT .submit = node_is_asked
#define ROUTE_ROW_NODE(method_, pattern_, right_, ask_) \
	{#method_, pattern_, RIGHT_##right_, ROUTE_NODE_##method_, .ask = ask_},
#define ROUTES_ROWS(ROUTES)                                                                     \
	ROUTES(ROUTE_ROW_READ, ROUTE_ROW_WATCH, ROUTE_ROW_TABLE, ROUTE_ROW_LIST, ROUTE_ROW_ONE, \
		ROUTE_ROW_WRITE, ROUTE_ROW_ASK, ROUTE_ROW_NODE)

struct route_table {
	const struct route *routes; // the first route that fits a path counts
	uint32_t count;
	// Whether the route is one of Orchard's: those refuse with {"message": "…"} instead of plain text, and take
	// names and tokens of accounts by HTTP's basic scheme.
	bool (*is_of_orchard)(const struct route *);
	// Whether what it tells is about this very server, so that every member of a cluster answers itself.
	bool (*is_of_itself)(const struct route *);
	// Whether its body goes into a file (request_file_open): all others are read into memory, up to 1 MiB.
	bool (*takes_file)(const struct route *);
};

enum route_match { ROUTE_FOUND, ROUTE_UNKNOWN_PATH, ROUTE_WRONG_METHOD, ROUTE_BAD_ENCODING };

#define ROUTE_IDS_MAX 2u

// path is still encoded, and is split in place. On ROUTE_FOUND sets the route and the ids, which point into path. Each
// segment is decoded once, after the split, so that an encoded slash belongs to its segment.
enum route_match route_find(const struct route_table *, const char *method, char *path,
	const struct route **, const char *ids[static ROUTE_IDS_MAX]);

// Percent-decodes once, in place. False when an escape is broken or gives NUL.
bool percent_decode(char *text);
