#include "tools/api/server/submission.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "tools/api/server/parking.h"
#include <stddef.h>
#include <stdlib.h>

// A piece of memory that the submission owns.
struct submission_piece {
	struct submission_piece *next;
	_Alignas(max_align_t) char bytes[];
};

// Whoever changes it to WAIT_OVER from WAIT_PARKED resumes the connection: the applier, or the parking at the deadline.
enum wait { WAIT_NONE, WAIT_PARKED, WAIT_OVER };

struct submission {
	struct api *api;
	struct MHD_Connection *connection; // of the request
	_Atomic uint32_t wait;             // enum wait
	submission_free *free;
	struct submission_piece *pieces;
	_Atomic uint32_t references; // the request, and the applier while commands are under way
	_Atomic uint32_t under_way;
	uint32_t count;
	struct command commands[];
};

struct submission *submission_create(
	struct request *request, uint32_t count, submission_free *free_command)
{
	CHECK(count > 0 && count <= SUBMISSION_COMMANDS_MAX && !request->submission);
	struct submission *s = memory_take(sizeof *s + count * sizeof s->commands[0]);
	s->api = request->api;
	s->connection = request->connection;
	s->free = free_command;
	s->count = count;
	atomic_store(&s->references, 1);
	request->submission = s;
	return s;
}

struct command *submission_one(
	struct request *request, enum command_type type, submission_free *free_command)
{
	struct command *command = &submission_create(request, 1, free_command)->commands[0];
	command->type = type;
	return command;
}

void *submission_take(struct request *request, size_t size)
{
	struct submission_piece *piece = memory_take(sizeof *piece + size);
	piece->next = request->submission->pieces;
	request->submission->pieces = piece;
	return piece->bytes;
}

struct command *submission_command(struct submission *s, uint32_t number)
{
	CHECK(number < s->count);
	return &s->commands[number];
}

uint32_t submission_count(const struct submission *s)
{
	return s->count;
}

void submission_release(struct submission *s)
{
	if (atomic_fetch_sub(&s->references, 1) != 1)
		return;
	for (uint32_t i = 0; s->free && i < s->count; i++)
		s->free(&s->commands[i]);
	for (struct submission_piece *piece = s->pieces, *next; piece; piece = next) {
		next = piece->next;
		free(piece);
	}
	free(s);
}

static void command_finished(struct submission *s)
{
	if (atomic_fetch_sub(&s->under_way, 1) != 1)
		return;
	if (atomic_exchange(&s->wait, WAIT_OVER) == WAIT_PARKED)
		MHD_resume_connection(s->connection);
	submission_release(s);
}

// Applier thread.
static void command_done(struct command *command)
{
	struct submission *s = command->context;
	struct api *api = s->api;
	command_finished(s);
	// Last access: api_server_stop() waits for it.
	atomic_fetch_sub(&api->commands_under_way, 1);
}

bool submission_push(struct submission *s)
{
	struct api *api = s->api;
	uint32_t pushed = 0;
	atomic_fetch_add(&s->references, 1);
	// One more than are pushed, so that the count cannot reach zero before all are.
	atomic_store(&s->under_way, s->count + 1);
	for (uint32_t i = 0; i < s->count; i++) {
		struct command *command = &s->commands[i];
		command->done = command_done;
		command->context = s;
		command->submitted_ns = time_monotonic_ns(api->settings.time);
		atomic_fetch_add(&api->commands_under_way, 1);
		if (command_queue_push(api->settings.queue, COMMAND_PRODUCER_SHARED, command)) {
			pushed++;
			continue;
		}
		command->outcome = (enum command_outcome)OUTCOME_NOT_QUEUED;
		command_finished(s);
		atomic_fetch_sub(&api->commands_under_way, 1);
	}
	command_finished(s);
	return pushed > 0;
}

bool submission_is_done(const struct submission *s)
{
	return atomic_load(&s->under_way) == 0;
}

static bool wait_change(struct submission *s, uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong(&s->wait, &from, to);
}

static bool wait_expire(const void *context)
{
	return wait_change((struct submission *)(uintptr_t)context, WAIT_PARKED, WAIT_OVER);
}

// Without a word to the parking's thread: to wake it, so that it wakes another one, takes longer than all else that is
// done for the answer.
void submission_await(struct request *request, uint64_t deadline_ns)
{
	static const struct parked_kind kind = {.expire = wait_expire, .is_kept = true};
	struct submission *s = request->submission;
	parking_park(s->api->parking, request, &kind, s, deadline_ns);
	if (!wait_change(s, WAIT_NONE, WAIT_PARKED))
		MHD_resume_connection(request->connection);
}

static const struct {
	unsigned status;
	unsigned retry_after_s;
} answers[COMMAND_OUTCOMES + 1] = {
	[OUTCOME_DONE] = {MHD_HTTP_OK, 0},
	[OUTCOME_STALE_GENERATION] = {MHD_HTTP_CONFLICT, 0},
	[OUTCOME_STALE_REGISTRATION] = {MHD_HTTP_CONFLICT, 0},
	[OUTCOME_BAD_DESCRIPTION] = {MHD_HTTP_BAD_REQUEST, 0},
	[OUTCOME_PART_STORED] = {MHD_HTTP_ACCEPTED, 0},
	[OUTCOME_UNKNOWN_NODE] = {MHD_HTTP_NOT_FOUND, 0},
	[OUTCOME_UNKNOWN_JOB] = {MHD_HTTP_NOT_FOUND, 0},
	[OUTCOME_UNKNOWN_GROUP] = {MHD_HTTP_NOT_FOUND, 0},
	[OUTCOME_NOT_DIRECT] = {MHD_HTTP_BAD_REQUEST, 0},
	[OUTCOME_JOB_STOPPED] = {MHD_HTTP_CONFLICT, 0},
	[OUTCOME_NO_NODE] = {MHD_HTTP_CONFLICT, 0},
	[OUTCOME_TOO_OLD] = {MHD_HTTP_BAD_REQUEST, 0},
	[OUTCOME_CONFLICT] = {MHD_HTTP_INTERNAL_SERVER_ERROR, 0},
	[OUTCOME_UNKNOWN_ALLOCATION] = {MHD_HTTP_NOT_FOUND, 0},
	[OUTCOME_NODE_NOT_ALLOWED] = {MHD_HTTP_FORBIDDEN, 0},
	[OUTCOME_DRAINING] = {MHD_HTTP_INTERNAL_SERVER_ERROR, 0},
	[OUTCOME_REJECTED] = {MHD_HTTP_FORBIDDEN, 0},
	[OUTCOME_UNKNOWN_DEPLOYMENT] = {MHD_HTTP_NOT_FOUND, 0},
	[OUTCOME_UNKNOWN_VERSION] = {MHD_HTTP_NOT_FOUND, 0},
	[OUTCOME_TERMINAL] = {MHD_HTTP_INTERNAL_SERVER_ERROR, 0},
	[OUTCOME_NOT_NOW] = {MHD_HTTP_BAD_REQUEST, 0},
	[OUTCOME_UNKNOWN_VM] = {MHD_HTTP_NOT_FOUND, 0},
	[OUTCOME_UNKNOWN_WORKER] = {MHD_HTTP_NOT_FOUND, 0},
	[OUTCOME_UNKNOWN_POOL] = {MHD_HTTP_INTERNAL_SERVER_ERROR, 0},
	[OUTCOME_UNKNOWN_POLICY] = {MHD_HTTP_NOT_FOUND, 0},
	[OUTCOME_UNKNOWN_ROLE] = {MHD_HTTP_NOT_FOUND, 0},
	[OUTCOME_UNKNOWN_TOKEN] = {MHD_HTTP_NOT_FOUND, 0},
	[OUTCOME_UNKNOWN_VARIABLE] = {MHD_HTTP_NOT_FOUND, 0},
	[OUTCOME_TABLE_FULL] = {MHD_HTTP_INSUFFICIENT_STORAGE, 0},
	[OUTCOME_STORE_FULL] = {MHD_HTTP_INSUFFICIENT_STORAGE, 5},
	[OUTCOME_STOPPING] = {MHD_HTTP_SERVICE_UNAVAILABLE, 1},
	[OUTCOME_CLIENT_NOT_ALLOWED] = {MHD_HTTP_FORBIDDEN, 0},
	[OUTCOME_REVOKED] = {MHD_HTTP_CONFLICT, 0},
	[OUTCOME_NOT_ADMITTED] = {MHD_HTTP_CONFLICT, 0},
	[OUTCOME_UNKNOWN_SENDER] = {MHD_HTTP_NOT_FOUND, 0},
	[OUTCOME_UNKNOWN_RULE] = {MHD_HTTP_NOT_FOUND, 0},
	[OUTCOME_QUARANTINED] = {MHD_HTTP_CONFLICT, 0},
	[OUTCOME_UNKNOWN_QUARANTINE] = {MHD_HTTP_NOT_FOUND, 0},
	[OUTCOME_LOG_AWAY] = {MHD_HTTP_SERVICE_UNAVAILABLE, 1},
	[OUTCOME_NOT_QUEUED] = {MHD_HTTP_TOO_MANY_REQUESTS, 1},
};

static const char *outcome_text(int outcome)
{
	return outcome == OUTCOME_NOT_QUEUED ? "too many changes are under way; nothing was "
					       "changed; try again in a second"
					     : command_outcomes[outcome].text;
}

void reply_outcome(struct reply *reply, int outcome)
{
	CHECK(outcome >= 0 && outcome <= OUTCOME_NOT_QUEUED);
	reply_error(reply, answers[outcome].status, "%s", outcome_text(outcome));
	reply->retry_after_s = answers[outcome].retry_after_s;
}

void outcome_answer(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	reply_outcome(reply, (int)command->outcome);
	if (command->outcome == OUTCOME_DONE)
		reply_index(reply, command->index);
}

void reply_refusal(
	struct reply *reply, const struct command *command, const char *message, unsigned status)
{
	// A record that is not found gives 404, also when the command has a message.
	unsigned usual = answers[command->outcome].status;
	if (*message)
		reply_error(reply, usual == MHD_HTTP_NOT_FOUND ? usual : status, "%s", message);
	else
		reply_outcome(reply, (int)command->outcome);
}

struct json_writer *done_begin_or_say(struct request *request, struct reply *reply,
	const struct command **command, const char *message, unsigned status)
{
	*command = submission_command(request->submission, 0);
	if ((*command)->outcome != OUTCOME_DONE) {
		reply_refusal(reply, *command, message, status);
		return NULL;
	}
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	return w;
}

struct json_writer *done_begin(
	struct request *request, struct reply *reply, const struct command **command)
{
	return done_begin_or_say(request, reply, command, "", 0);
}

void done_end(struct json_writer *w, struct reply *reply, const struct command *command)
{
	json_end_object(w);
	reply_index(reply, command->index);
}
