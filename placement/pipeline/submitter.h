// Commands of the pipeline on their way to the applier and back. Several threads; after submitter_stop nothing is
// sent any more, so that whoever stops the applier next knows that it has seen everything.
#pragma once
#include "placement/broker/plan_queue.h"
#include "state/base/time_source.h"

struct submitter;

struct submitter_settings {
	struct command_queue *queue;
	struct plan_queue *plans;
	const struct time_source *time;
	// Without an applier thread: lets the applier work on the calling thread. NULL: it has its own.
	void (*step)(void *context);
	void *step_context;
};

struct submitter *submitter_create(const struct submitter_settings *);
void submitter_destroy(struct submitter *);
void submitter_stop(struct submitter *); // ends every sleep
bool submitter_is_stopping(struct submitter *);
// False: the submitter stops. Returns at once when there is no applier thread.
bool submitter_sleep(struct submitter *, int64_t ns);

// Sends and waits: 0 when the command was done, otherwise what its outcome means (-ERROR_STOPPING,
// -ERROR_STORE_FULL, -ERROR_TABLE_FULL, -ERROR_CONFLICT, -ERROR_NOT_FOUND, -EINVAL).
int submitter_run(struct submitter *, struct command *);
// The same through the queue of plans.
int submitter_run_plan(struct submitter *, struct command *);
// Sends only; the command's own `done` is called later. Negative: it is not going to be.
int submitter_send(struct submitter *, struct command *);

int outcome_error(enum command_outcome);
