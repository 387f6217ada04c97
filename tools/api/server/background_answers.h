// Answers that take long to work out (plans, explanations, filtered pages look at every node): one thread of their own
// works them off in order, so that they hold up no connection but their own.
#pragma once
#include "tools/api/server/request.h"

struct background_answers;

// Returns 0 or -errno.
int background_answers_start(struct api *, struct background_answers **);
void background_answers_stop(struct background_answers *); // nothing is waiting any more; frees it

// From the answer or submit of a route: work fills the reply later, on the thread. When too many
// wait already the reply says so at once.
void answer_in_background(struct request *, struct reply *, route_answer *work);
// Parks the request until its answer is worked out.
void background_answer_park(struct request *);
// The reply that was worked out; the request's no longer.
struct reply background_answer_take(struct request *);
void background_answer_drop(struct request *); // frees a reply that was never taken

struct background_answers_counts {
	uint32_t waiting;
	uint64_t done, refused;
};
void background_answers_count(struct background_answers *, struct background_answers_counts *);
