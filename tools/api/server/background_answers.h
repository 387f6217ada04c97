// A thread for answers that take long (plans, explanations, filtered pages visit every node): it works them off in
// order, so that each holds up only its own connection.
#pragma once
#include "tools/api/server/request.h"

struct background_answers;

// Returns 0 or -errno.
int background_answers_start(struct api *, struct background_answers **);
void background_answers_stop(struct background_answers *); // call it when none is waiting; frees it

// Called by the answer or submit of a route: work fills the reply later, on the thread. The reply says at once when too
// many wait already.
void answer_in_background(struct request *, struct reply *, route_answer *work);
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
