// Parked requests and the one thread that wakes them: on a change of the state, when a submission
// is done, at their deadline, when their client hangs up, or at shutdown.
#pragma once
#include "tools/api/server/request.h"

// The condition that a request waits for.
struct parked_kind {
	// Whether the request can go on. Under read lock, on the parking thread; context is that of parking_park.
	// NULL: somebody else resumes the connection, and the thread looks at its deadline alone.
	bool (*is_ready)(const void *context);
	// After the deadline: whether the thread may still resume it, which is then its part. NULL: it may.
	bool (*expire)(const void *context);
	// The request waits on even when its client left or the server stops.
	bool is_kept;
};

struct parking;

// wake_fd: an eventfd after which the thread checks all parked requests, or -1. Returns 0 or -errno.
int parking_start(struct api *, int wake_fd, struct parking **);
// Wakes all parked requests but kept ones, and from now on parks only kept ones.
void parking_close(struct parking *);
void parking_stop(struct parking *); // ends the thread and frees parking

// False once the server stops: only kept requests may still be parked.
bool parking_is_open(struct parking *);
// Called on the request's libmicrohttpd thread, from its access handler or the reader of its answer, as the last thing
// there.
void parking_park(struct parking *, struct request *, const struct parked_kind *,
	const void *context, uint64_t deadline_ns);
// For an answer that has to wait for something, with the request as context: the answer is called anew when that is
// ready, or so long after it was called first. False when it has waited long enough, or nobody waits any more.
bool parking_await(struct request *, const struct parked_kind *, uint64_t wait_ns);
// Called when the connection goes on that somebody else resumed. Nothing when the parking thread did.
void parking_leave(struct parking *, struct request *);
// Any thread; never blocks.
void parking_wake(struct parking *);
// The same for what comes often: the thread keeps its pace.
void parking_wake_soon(struct parking *);

struct parking_counts {
	uint32_t parked, parked_most;
	uint64_t looks, woken_by_change, woken_by_deadline, woken_by_hangup;
};
void parking_count(struct parking *, struct parking_counts *);
