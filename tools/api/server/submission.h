// Commands of one request on their way through the applier.
#pragma once
#include "state/log/command.h"
#include "tools/api/server/request.h"

#define SUBMISSION_COMMANDS_MAX 32u
// In place of an outcome: the queue was full, the command was never handed over.
#define OUTCOME_NOT_QUEUED COMMAND_OUTCOMES

struct submission;

// What a command points to and must outlive it: freed when both the request and the applier are
// done.
typedef void submission_free(struct command *);

// The request owns it from now on.
struct submission *submission_create(struct request *, uint32_t count, submission_free *);
struct command *submission_command(struct submission *, uint32_t number);
// The first command of a request's, when it was done; else NULL, and the reply says why not.
const struct command *submission_done(const struct request *, struct reply *);
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
