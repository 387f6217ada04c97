// Parked requests and the one thread that wakes them: on a change of the state, when a submission
// is done, at their deadline, when their client hangs up, or at shutdown.
#pragma once
#include "tools/api/server/http.h"

struct watcher;

// Returns 0 or -errno.
int watcher_start(struct api *, struct watcher **);
// Wakes whatever is parked and parks nothing from now on.
void watcher_stop_parking(struct watcher *);
void watcher_stop(struct watcher *); // ends the thread and frees it

// False once nothing is parked any more: the server stops.
bool watcher_parks(struct watcher *);
// On the request's libmicrohttpd thread, from its access handler or the reader of its answer, as the
// last thing there.
void watcher_park(struct watcher *, struct request *, uint64_t deadline_ns);
// Any thread; never blocks.
void watcher_wake(struct watcher *);

// True when the request asks to wait for something newer than it has seen; sets its wait index and
// *deadline_ns. On a parameter that does not parse fills the reply.
bool blocking_query_wanted(struct request *, uint64_t *deadline_ns, struct reply *);
// True when a blocking query has its answer. Under no read lock.
bool blocking_query_is_over(struct request *);

struct watcher_counts {
	uint32_t parked, parked_most;
	uint64_t looks, woken_by_change, woken_by_deadline, woken_by_hangup;
};
void watcher_count(struct watcher *, struct watcher_counts *);
