// Threads for answers that take long: each works off what is handed to it in order, so that an answer holds up only its
// own connection and none of those that share its thread of libmicrohttpd.
#pragma once
#include "tools/api/server/request.h"

struct background_answers;

// Returns 0 or -errno.
int background_answers_start(struct api *, enum background_thread, struct background_answers **);
void background_answers_stop(struct background_answers *); // call it when none is waiting; frees it

// Called by the answer or submit of a route: work fills the reply later, on the thread. Work that leaves the reply's
// status at 0 is called again, after the others that wait have had their turn. The reply says at once when too many
// wait already. A list is never too many: there are no more than connections.
void answer_in_background(
	struct request *, struct reply *, enum background_thread, route_answer *work);
// Up to so many records are visited within a millisecond or two.
#define RECORDS_VISITED_AT_ONCE 16384u
// The same for the begin of a list, when there are more records than that: work is called again, with the request's
// stage REQUEST_WORKING. False: there are few, and the caller visits them itself.
bool list_begins_in_background(struct request *, struct reply *, route_answer *work);
// Parks the request until its reply is filled.
void background_answer_park(struct request *);
// The filled reply, which the caller then owns.
struct reply background_answer_take(struct request *);
void background_answer_drop(struct request *); // frees a reply that nobody took

struct background_answers_counts {
	uint32_t waiting;
	uint64_t done, refused;
};
void background_answers_count(struct background_answers *, struct background_answers_counts *);
