// Sends the pipeline's commands to the applier and takes the answers. Several threads. After submitter_stop nothing
// more is sent, so that whoever stops the applier next knows that it has every command.
#pragma once
#include "placement/broker/plan_queue.h"
#include "state/base/time_source.h"

struct submitter;

struct submitter_settings {
	struct command_queue *queue;
	struct plan_queue *plans;
	const struct time_source *time;
	// Without an applier thread: runs the applier on the calling thread. NULL: it has its own thread.
	void (*step)(void *context);
	void *step_context;
};

struct submitter *submitter_create(const struct submitter_settings *);
void submitter_destroy(struct submitter *);
void submitter_stop(struct submitter *); // ends every sleep
bool submitter_is_stopping(struct submitter *);
// False: the submitter stops. Returns at once without an applier thread.
bool submitter_sleep(struct submitter *, int64_t ns);

// Sends and waits: 0 when the command was done, otherwise the error of its outcome (-ERROR_STOPPING,
// -ERROR_STORE_FULL, -ERROR_TABLE_FULL, -ERROR_CONFLICT, -ERROR_NOT_FOUND, -EINVAL).
int submitter_run(struct submitter *, struct command *);
// The same through the queue of plans; -ERROR_PLANS_OFF or -ERROR_PLANS_FLUSHED where that was switched off.
int submitter_run_plan(struct submitter *, struct command *);
// Only sends; the command's own `done` is called later. Negative: it will not be called.
int submitter_send(struct submitter *, struct command *);

int outcome_error(enum command_outcome);
