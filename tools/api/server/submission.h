// One request's commands on their way through the applier.
#pragma once
#include "state/log/command.h"
#include "tools/api/server/request.h"

#define SUBMISSION_COMMANDS_MAX 32u
// Instead of an outcome: the queue was full, so the command was never pushed.
#define OUTCOME_NOT_QUEUED COMMAND_OUTCOMES

struct submission;

// Frees what a command owns outside the submission's memory, once both request and applier are done with it.
typedef void submission_free(struct command *);

// The request owns the submission. free: NULL when there is nothing to free.
struct submission *submission_create(struct request *, uint32_t count, submission_free *);
// Creates a submission of a single command of this type.
struct command *submission_one(struct request *, enum command_type, submission_free *);
// Zeroed memory for data of the commands; lives as long as the request's submission.
void *submission_take(struct request *, size_t size);
struct command *submission_command(struct submission *, uint32_t number);
uint32_t submission_count(const struct submission *);
// Pushes all commands to the applier; false when the queue had no room for any.
bool submission_push(struct submission *);
bool submission_is_done(const struct submission *);
// Suspends the request until its submission, which was pushed, is done, or the deadline has passed. Called as
// parking_park is. When the request goes on it calls parking_leave.
void submission_await(struct request *, uint64_t deadline_ns);
// The request lets go; commands under way stay alive until they are done.
void submission_release(struct submission *);

// The answer to an outcome that is not OUTCOME_DONE.
void reply_outcome(struct reply *, int outcome);
// For routes whose answer is the outcome of one command, done or not, and nothing else.
route_answer outcome_answer;
// The answer to a command with a message of its own, which gets that status; "": the outcome's usual answer.
void reply_refusal(struct reply *, const struct command *, const char *message, unsigned status);

// Begins the answer about a request's first command: an open object when the command was done; else NULL with a reply.
// The second form is for commands with a message, as in reply_refusal.
struct json_writer *done_begin(struct request *, struct reply *, const struct command **);
struct json_writer *done_begin_or_say(struct request *, struct reply *, const struct command **,
	const char *message, unsigned status);
// Closes the object and sets the command's index.
void done_end(struct json_writer *, struct reply *, const struct command *);
