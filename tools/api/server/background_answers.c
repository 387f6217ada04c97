#include "tools/api/server/background_answers.h"
#include "state/base/memory.h"
#include "tools/api/server/parking.h"
#include <stdlib.h>

// Most requests that wait together for a thread; others are told to come back.
static const struct {
	const char *name;
	uint32_t waiting_max;
} threads[BACKGROUND_THREADS] = {
	[BACKGROUND_WORK] = {"api-background", 32},
	[BACKGROUND_LISTS] = {"api-lists", UINT32_MAX},
	[BACKGROUND_SNAPSHOTS] = {"api-snapshots", 2},
};

struct background_answer {
	struct request *request;
	route_answer *work;
	struct reply reply;
	_Atomic bool done;
	struct background_answer *next;
};

struct background_answers {
	struct api *api;
	enum background_thread kind;
	pthread_t thread;
	pthread_mutex_t lock; // guards what follows
	pthread_cond_t come;
	struct background_answer *first, *last;
	bool stops;
	struct background_answers_counts counts;
};

static struct background_answer *take_next(struct background_answers *b)
{
	pthread_mutex_lock(&b->lock);
	while (!b->first && !b->stops)
		pthread_cond_wait(&b->come, &b->lock);
	struct background_answer *item = b->first;
	if (item)
		b->first = item->next;
	if (!b->first)
		b->last = NULL;
	pthread_mutex_unlock(&b->lock);
	return item;
}

// False: there is more to do, after the answers that wait.
static bool work_out(struct background_answers *b, struct background_answer *item)
{
	// Nobody waits for a long row of lists when the server stops.
	if (parking_is_open(b->api->parking))
		item->work(item->request, &item->reply);
	else
		reply_error(&item->reply, MHD_HTTP_SERVICE_UNAVAILABLE, "the server stops");
	return item->reply.status != 0;
}

// Under the lock.
static void add_last(struct background_answers *b, struct background_answer *item)
{
	item->next = NULL;
	if (b->last)
		b->last->next = item;
	else
		b->first = item;
	b->last = item;
}

static void end_turn(
	struct background_answers *b, struct background_answer *item, bool is_worked_out)
{
	pthread_mutex_lock(&b->lock);
	if (is_worked_out) {
		b->counts.waiting--;
		b->counts.done++;
	} else {
		add_last(b, item);
	}
	pthread_mutex_unlock(&b->lock);
}

static void *background_answers_main(void *argument)
{
	struct background_answers *b = argument;
	struct background_answer *item;
	while ((item = take_next(b))) {
		bool is_worked_out = work_out(b, item);
		end_turn(b, item, is_worked_out);
		if (!is_worked_out)
			continue;
		// From here on the request owns the item again.
		atomic_store(&item->done, true);
		parking_wake(b->api->parking);
		// Last access: api_server_stop() waits for it.
		atomic_fetch_sub(&b->api->commands_under_way, 1);
	}
	return NULL;
}

int background_answers_start(
	struct api *api, enum background_thread kind, struct background_answers **out)
{
	struct background_answers *b = memory_take(sizeof *b);
	b->api = api;
	b->kind = kind;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->come, NULL);
	int error = -pthread_create(&b->thread, NULL, background_answers_main, b);
	if (error) {
		free(b);
		return error;
	}
	pthread_setname_np(b->thread, threads[kind].name);
	*out = b;
	return 0;
}

void background_answers_stop(struct background_answers *b)
{
	pthread_mutex_lock(&b->lock);
	b->stops = true;
	pthread_cond_signal(&b->come);
	pthread_mutex_unlock(&b->lock);
	pthread_join(b->thread, NULL);
	pthread_cond_destroy(&b->come);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

// False when too many wait.
static bool append_answer(struct background_answers *b, struct background_answer *item)
{
	pthread_mutex_lock(&b->lock);
	bool room = b->counts.waiting < threads[b->kind].waiting_max;
	b->counts.refused += !room;
	if (room) {
		b->counts.waiting++;
		add_last(b, item);
		pthread_cond_signal(&b->come);
	}
	pthread_mutex_unlock(&b->lock);
	return room;
}

void answer_in_background(struct request *request, struct reply *reply,
	enum background_thread thread, route_answer *work)
{
	struct api *api = request->api;
	struct background_answer *item = memory_take(sizeof *item);
	item->request = request;
	item->work = work;
	request->background = item;
	request->stage = REQUEST_WORKING;
	atomic_fetch_add(&api->commands_under_way, 1);
	if (append_answer(api->background[thread], item))
		return;
	atomic_fetch_sub(&api->commands_under_way, 1);
	request->stage = REQUEST_HEADERS;
	request->background = NULL;
	free(item);
	reply_error(reply, MHD_HTTP_TOO_MANY_REQUESTS,
		"too many plans, explanations, filtered pages or snapshots are being worked out; "
		"try again in a second");
	reply->retry_after_s = 1;
}

bool list_begins_in_background(struct request *request, struct reply *reply, route_answer *work)
{
	const struct state *state = request->api->settings.state;
	struct state_counts counts;

	if (request->stage == REQUEST_WORKING)
		return false;
	state_counts(state, &counts);
	uint64_t records = (uint64_t)state_node_slots(state) + counts.allocations +
			   counts.evaluations + counts.deployments + counts.jobs;
	if (records <= RECORDS_VISITED_AT_ONCE)
		return false;
	answer_in_background(request, reply, BACKGROUND_LISTS, work);
	return true;
}

static bool answer_is_done(const void *context)
{
	const struct background_answer *item = context;
	return atomic_load(&item->done);
}

void background_answer_park(struct request *request)
{
	static const struct parked_kind kind = {.is_ready = answer_is_done, .is_kept = true};
	// No deadline: the request waits however long the work takes.
	parking_park(request->api->parking, request, &kind, request->background, UINT64_MAX);
}

struct reply background_answer_take(struct request *request)
{
	struct reply reply = request->background->reply;
	free(request->background);
	request->background = NULL;
	return reply;
}

void background_answer_drop(struct request *request)
{
	if (!request->background)
		return;
	struct reply reply = background_answer_take(request);
	reply_free(&reply);
}

void background_answers_count(
	struct background_answers *b, struct background_answers_counts *counts)
{
	pthread_mutex_lock(&b->lock);
	*counts = b->counts;
	pthread_mutex_unlock(&b->lock);
}
