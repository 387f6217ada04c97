// The thread that blocks in the log, so that the applier does not: one batch at a time.
#pragma once
#include "state/applier/command_log.h"
#include "state/applier/command_queue.h"
#include "state/base/time_source.h"
#include "state/decide/decide.h"

enum writer_status {
	WRITER_IDLE,
	WRITER_BUSY,
	WRITER_DONE,    // the batch is durable
	WRITER_GAVE_UP, // stopping, while the log had no room: the batch was not written
	WRITER_FAILED,  // for good; nothing may be acknowledged any more
};

struct writer;

// Caller destroys. queue is kicked whenever the status becomes something to act on.
struct writer *writer_create(struct command_log, const struct time_source *, struct command_queue *,
	struct applier_counters *, void (*log_failed)(void *context, int error), void *context);
void writer_destroy(struct writer *);
int writer_start(struct writer *);
// Ends the thread. A batch that waits for room is given up once the deadline is over.
void writer_stop(struct writer *);
void writer_deadline(struct writer *, uint64_t monotonic_ns);

// Appends once, on the calling thread. Returns what append said; counts and measures.
int writer_append(struct writer *, const struct batch *);

// Applier thread.
void writer_hand_over(struct writer *, const struct batch *); // status is IDLE
enum writer_status writer_status(const struct writer *);
void writer_take_back(struct writer *); // DONE or GAVE_UP becomes IDLE
void writer_wait(struct writer *);      // until it is not BUSY
bool writer_has_no_room(const struct writer *);
