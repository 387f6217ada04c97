// The thread that blocks in the log, so that the applier does not: one batch at a time.
#pragma once
#include "state/applier/command_log.h"
#include "state/applier/command_queue.h"
#include "state/base/time_source.h"
#include "state/decide/decide.h"

enum journal_thread_status {
	JOURNAL_IDLE,
	JOURNAL_BUSY,
	JOURNAL_DONE,    // the batch is durable
	JOURNAL_GAVE_UP, // stopping, while the log had no room: the batch was not written
	JOURNAL_FAILED,  // for good; nothing may be acknowledged any more
};

struct journal_thread;

// Caller destroys. queue is kicked whenever the status becomes something to act on.
struct journal_thread *journal_thread_create(struct command_log, const struct time_source *,
	struct command_queue *, struct applier_counters *,
	void (*log_failed)(void *context, int error), void *context);
void journal_thread_destroy(struct journal_thread *);
int journal_thread_start(struct journal_thread *);
// Ends the thread. A batch that waits for room is given up once the deadline is over.
void journal_thread_stop(struct journal_thread *);
void journal_thread_deadline(struct journal_thread *, uint64_t monotonic_ns);

// Appends once, on the calling thread. Returns what append said; counts and measures.
int journal_thread_append(struct journal_thread *, const struct batch *);

// Applier thread.
void journal_thread_hand_over(struct journal_thread *, const struct batch *); // status is IDLE
enum journal_thread_status journal_thread_status(const struct journal_thread *);
void journal_thread_take_back(struct journal_thread *); // DONE or GAVE_UP becomes IDLE
void journal_thread_wait(struct journal_thread *);      // until it is not BUSY
bool journal_thread_has_no_room(const struct journal_thread *);
