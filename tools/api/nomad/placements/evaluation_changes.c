// DELETE /v1/evaluations: by ids, or by a filter over all of them, which a thread of its own walks through.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/evaluation.h"
#include "state/records/scheduler_config.h"
#include "tools/api/nomad/placements/routes.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/body.h"
#include "tools/api/server/submission.h"
#include "tools/forms/filter.h"
#include "tools/json/json_record.h"
#include <stdlib.h>

// Evaluations that one read section looks at, and that one command of a filter deletes.
#define LOOKED_AT_ONCE 1024u
#define DELETED_AT_ONCE 4096u

static void reply_count(
	struct request *request, struct reply *reply, uint64_t count, uint64_t index)
{
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_put_u64(w, "Count", count);
	json_put_u64(w, "Index", index);
	json_end_object(w);
	reply_index(reply, index);
}

// One command of a filter, and who waits for it.
struct round {
	struct command command;
	struct command_evaluations_delete wish;
	struct uuid ids[DELETED_AT_ONCE];
	pthread_mutex_t lock;
	pthread_cond_t come;
	bool is_done;
};

// Applier thread.
static void round_done(struct command *command)
{
	struct round *round = command->context;
	CHECK(pthread_mutex_lock(&round->lock) == 0);
	round->is_done = true;
	CHECK(pthread_cond_signal(&round->come) == 0);
	CHECK(pthread_mutex_unlock(&round->lock) == 0);
}

// Deletes what the round holds so far. The outcome, which may be OUTCOME_NOT_QUEUED.
static int round_run(struct api *api, struct round *round, uint32_t count)
{
	round->wish = (struct command_evaluations_delete){
		.ids = round->ids, .count = count, .leaves_others = true};
	round->command = (struct command){.type = COMMAND_EVALUATIONS_DELETE,
		.done = round_done,
		.context = round,
		.submitted_ns = time_monotonic_ns(api->settings.time),
		.evaluations_delete = &round->wish};
	round->is_done = false;
	if (!command_queue_push(api->settings.queue, COMMAND_PRODUCER_SHARED, &round->command))
		return OUTCOME_NOT_QUEUED;
	CHECK(pthread_mutex_lock(&round->lock) == 0);
	while (!round->is_done)
		CHECK(pthread_cond_wait(&round->come, &round->lock) == 0);
	CHECK(pthread_mutex_unlock(&round->lock) == 0);
	return (int)round->command.outcome;
}

// Where a filter stands in the list of all evaluations.
struct sweep {
	const struct state *state;
	const struct filter *filter;
	struct json_writer scratch;
	uint64_t cursor;
	bool is_over;
};

static bool sweep_fits(struct sweep *s, const struct evaluation *e)
{
	json_writer_restart(&s->scratch);
	json_record(&s->scratch, &evaluation_description, e);
	json_t *item = json_loadb(s->scratch.data, s->scratch.size, 0, NULL);
	bool fits = item && filter_fits(s->filter, item);
	json_decref(item);
	return fits;
}

// Collects ids until there is no room or no evaluation is left. Returns how many.
static uint32_t sweep_collect(struct sweep *s, struct uuid *ids)
{
	uint32_t count = 0;
	while (!s->is_over && count + LOOKED_AT_ONCE <= DELETED_AT_ONCE) {
		state_read_begin();
		for (uint32_t i = 0; i < LOOKED_AT_ONCE && !s->is_over; i++) {
			const struct evaluation *e =
				state_next(s->state, STATE_EVALUATIONS, &s->cursor);
			s->is_over = !e;
			if (e && sweep_fits(s, e))
				ids[count++] = e->id;
		}
		state_read_end();
	}
	return count;
}

static void sweep_all(struct request *request, struct reply *reply, const struct filter *filter)
{
	struct sweep sweep = {.state = request->api->settings.state, .filter = filter};
	struct round *round = memory_take(sizeof *round);
	uint64_t deleted = 0, index = 0;
	CHECK(pthread_mutex_init(&round->lock, NULL) == 0);
	CHECK(pthread_cond_init(&round->come, NULL) == 0);
	while (!sweep.is_over && !reply->status) {
		uint32_t count = sweep_collect(&sweep, round->ids);
		int outcome = count ? round_run(request->api, round, count) : OUTCOME_DONE;
		if (outcome == OUTCOME_NOT_QUEUED)
			reply_outcome(reply, outcome);
		else if (outcome != OUTCOME_DONE)
			reply_refusal(reply, &round->command, round->wish.message,
				MHD_HTTP_INTERNAL_SERVER_ERROR);
		else if (count && round->wish.deleted)
			index = round->command.index;
		deleted += count ? round->wish.deleted : 0;
	}
	if (!reply->status)
		reply_count(request, reply, deleted, index);
	CHECK(pthread_cond_destroy(&round->come) == 0);
	CHECK(pthread_mutex_destroy(&round->lock) == 0);
	free(round);
	json_writer_free(&sweep.scratch);
}

static bool broker_is_paused(const struct request *request)
{
	state_read_begin();
	bool paused = state_scheduler_config(request->api->settings.state)->pause_eval_broker;
	state_read_end();
	return paused;
}

// On a thread of its own.
static void delete_by_filter(struct request *request, struct reply *reply)
{
	char message[FILTER_MESSAGE_BYTES];
	struct filter *filter = filter_parse(text_of(request->context), message);
	if (!broker_is_paused(request))
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"eval broker is enabled; eval broker must be paused to delete evals");
	else if (!filter)
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "%s", message);
	else
		sweep_all(request, reply, filter);
	filter_free(filter);
}

static void delete_by_ids(struct request *request, struct reply *reply, json_t *ids)
{
	size_t count = json_array_size(ids);
	if (count > EVALUATION_IDS_MAX) {
		reply_mistake(reply, "request includes %zu evaluation IDs, must be %u or fewer",
			count, EVALUATION_IDS_MAX);
		return;
	}
	struct command *command = submission_one(request, COMMAND_EVALUATIONS_DELETE, NULL);
	struct command_evaluations_delete *wish = submission_take(request, sizeof *wish);
	wish->ids = submission_take(request, count * sizeof wish->ids[0]);
	wish->count = (uint32_t)count;
	// What is no id names no evaluation, as the zero id does.
	for (size_t i = 0; i < count; i++) {
		const char *text = json_string_value(json_array_get(ids, i));
		if (!text || !uuid_parse(text, &wish->ids[i]))
			wish->ids[i] = (struct uuid){0};
	}
	command->evaluations_delete = wish;
}

void evaluations_delete(struct request *request, struct reply *reply)
{
	json_t *body = body_read_some(request, reply);
	json_t *ids = json_object_get(body, "EvalIDs");
	const char *filter = json_string_value(json_object_get(body, "Filter"));
	bool has_filter = filter && *filter;
	if (body && has_filter && json_array_size(ids))
		reply_mistake(reply, "evals cannot be deleted by both ID and filter");
	else if (body && !has_filter && !json_array_size(ids))
		reply_mistake(reply, "evals must be deleted by either ID or filter");
	else if (body && !has_filter)
		delete_by_ids(request, reply, ids);
	if (body && has_filter && !reply->status) {
		request->context = text_copy(text_of(filter));
		request->context_free = free;
		answer_in_background(request, reply, BACKGROUND_WORK, delete_by_filter);
	}
	json_decref(body);
}

void evaluations_deleted(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	const struct command_evaluations_delete *wish = command->evaluations_delete;
	if (command->outcome == OUTCOME_DONE)
		reply_count(request, reply, wish->deleted, command->index);
	else
		reply_refusal(reply, command, wish->message, MHD_HTTP_INTERNAL_SERVER_ERROR);
}
