// Parked requests and the one thread that wakes them: on a change of the state, when a submission
// is done, at their deadline, when their client hangs up, or at shutdown.
#pragma once
#include "tools/api/server/request.h"

// What a request waits for.
struct parked_kind {
	// Under read lock, on the parking's thread: it can go on. context: as it was parked with.
	bool (*is_ready)(const void *context);
	// It is waited for even when its client went, and when the server stops.
	bool is_kept;
};

struct parking;

// wake_fd: an eventfd after which it looks at all that is parked, or -1. Returns 0 or -errno.
int parking_start(struct api *, int wake_fd, struct parking **);
// Wakes whatever is parked and parks nothing from now on.
void parking_close(struct parking *);
void parking_stop(struct parking *); // ends the thread and frees it

// False once nothing is parked any more: the server stops.
bool parking_is_open(struct parking *);
// On the request's libmicrohttpd thread, from its access handler or the reader of its answer, as the
// last thing there.
void parking_park(struct parking *, struct request *, const struct parked_kind *,
	const void *context, uint64_t deadline_ns);
// Any thread; never blocks.
void parking_wake(struct parking *);

struct parking_counts {
	uint32_t parked, parked_most;
	uint64_t looks, woken_by_change, woken_by_deadline, woken_by_hangup;
};
void parking_count(struct parking *, struct parking_counts *);
