// Commands of one request on their way through the applier.
#pragma once
#include "state/log/command.h"
#include "tools/api/server/request.h"

#define SUBMISSION_COMMANDS_MAX 32u
// In place of an outcome: the queue was full, the command was never handed over.
#define OUTCOME_NOT_QUEUED COMMAND_OUTCOMES

struct submission;

// What a command owns besides memory of the submission: freed when both the request and the applier are done.
typedef void submission_free(struct command *);

// The request owns it from now on. free: NULL when there is nothing.
struct submission *submission_create(struct request *, uint32_t count, submission_free *);
// The same for a single command of this type.
struct command *submission_one(struct request *, enum command_type, submission_free *);
// Zeroed memory that lives as long as the request's submission: what its commands point to.
void *submission_take(struct request *, size_t size);
struct command *submission_command(struct submission *, uint32_t number);
uint32_t submission_count(const struct submission *);
// Hands all commands to the applier; false when the queue had no room for any.
bool submission_push(struct submission *);
bool submission_is_done(const struct submission *);
// The request lets go; commands that are under way stay alive until they are done.
void submission_release(struct submission *);

// The answer to an outcome that is not OUTCOME_DONE.
void reply_outcome(struct reply *, int outcome);
// The same for a command that says why in a message of its own ("": it does not), which is answered with status.
void reply_refusal(struct reply *, const struct command *, const char *message, unsigned status);

// An answer about the first command of a request: an object that is open when the command was done; else NULL, and the
// reply says why not. The second form is for commands with a message, as in reply_refusal.
struct json_writer *done_begin(struct request *, struct reply *, const struct command **);
struct json_writer *done_begin_or_say(struct request *, struct reply *, const struct command **,
	const char *message, unsigned status);
// Closes it. The index is that of the command.
void done_end(struct json_writer *, struct reply *, const struct command *);
