// Answers that take long to work out (plans, explanations, filtered pages look at every node): one thread of their own
// works them off in order, so that they hold up no connection but their own.
#pragma once
#include "tools/api/server/http.h"

struct heavy;

// Returns 0 or -errno.
int heavy_start(struct api *, struct heavy **);
void heavy_stop(struct heavy *); // nothing is waiting any more; frees it

// From the answer or submit of a route: work fills the reply later, on the thread. When too many
// wait already the reply says so at once.
void heavy_answer(struct request *, struct reply *, route_answer *work);
bool heavy_is_done(const struct request *);
// The reply that was worked out; the request's no longer.
struct reply heavy_take(struct request *);
void heavy_drop(struct request *); // frees a reply that was never taken

struct heavy_counts {
	uint32_t waiting;
	uint64_t done, refused;
};
void heavy_count(struct heavy *, struct heavy_counts *);
