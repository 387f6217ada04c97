// The thread that blocks in the log in place of the applier: one batch at a time. What the applier writes by itself
// goes the same way, so that whoever looks sees one journal.
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

// Caller destroys. Kicks the queue whenever the applier has to act on the status.
struct journal_thread *journal_thread_create(struct command_log, const struct time_source *,
	struct command_queue *, struct applier_counters *,
	void (*log_failed)(void *context, int error), void *context);
void journal_thread_destroy(struct journal_thread *);
int journal_thread_start(struct journal_thread *);
// Ends the thread. It gives up a batch that waits for room once the deadline has passed.
void journal_thread_stop(struct journal_thread *);
void journal_thread_deadline(struct journal_thread *, uint64_t monotonic_ns);

// Appends once, on the calling thread. Returns append's result; counts and measures.
int journal_thread_append(struct journal_thread *, const struct batch *);

// Applier thread only.
void journal_thread_hand_over(struct journal_thread *, const struct batch *); // status is IDLE
// Writes the batch on the calling thread, and hands it over when the log has no room. Status is IDLE.
void journal_thread_write(struct journal_thread *, const struct batch *);
enum journal_thread_status journal_thread_status(const struct journal_thread *);
void journal_thread_take_back(struct journal_thread *); // DONE or GAVE_UP becomes IDLE
void journal_thread_wait(struct journal_thread *);      // until it is not BUSY
bool journal_thread_has_no_room(const struct journal_thread *);

// When the append that is going on began, monotonic; 0: none is. Any thread.
uint64_t journal_thread_began_ns(const struct journal_thread *);
