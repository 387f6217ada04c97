#include "tools/api/server/background_answers.h"
#include "state/base/memory.h"
#include "tools/api/server/blocking_query.h"
#include "tools/api/server/list_stream.h"
#include <stdlib.h>

// Waiting together at most; more are told to come back.
#define WAITING_MAX 32u

struct heavy_item {
	struct request *request;
	route_answer *work;
	struct reply reply;
	_Atomic bool done;
	struct heavy_item *next;
};

struct heavy {
	struct api *api;
	pthread_t thread;
	pthread_mutex_t lock; // guards what follows
	pthread_cond_t come;
	struct heavy_item *first, *last;
	bool stops;
	struct heavy_counts counts;
};

static struct heavy_item *take_next(struct heavy *h)
{
	pthread_mutex_lock(&h->lock);
	while (!h->first && !h->stops)
		pthread_cond_wait(&h->come, &h->lock);
	struct heavy_item *item = h->first;
	if (item)
		h->first = item->next;
	if (!h->first)
		h->last = NULL;
	pthread_mutex_unlock(&h->lock);
	return item;
}

static void *heavy_main(void *argument)
{
	struct heavy *h = argument;
	struct heavy_item *item;
	while ((item = take_next(h))) {
		item->work(item->request, &item->reply);
		pthread_mutex_lock(&h->lock);
		h->counts.waiting--;
		h->counts.done++;
		pthread_mutex_unlock(&h->lock);
		// From here on the item is the request's again.
		atomic_store(&item->done, true);
		watcher_wake(h->api->watcher);
		// The last touch: api_stop() waits for it.
		atomic_fetch_sub(&h->api->commands_under_way, 1);
	}
	return NULL;
}

int heavy_start(struct api *api, struct heavy **out)
{
	struct heavy *h = memory_take(sizeof *h);
	h->api = api;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->come, NULL);
	int error = -pthread_create(&h->thread, NULL, heavy_main, h);
	if (error) {
		free(h);
		return error;
	}
	pthread_setname_np(h->thread, "api-heavy");
	*out = h;
	return 0;
}

void heavy_stop(struct heavy *h)
{
	pthread_mutex_lock(&h->lock);
	h->stops = true;
	pthread_cond_signal(&h->come);
	pthread_mutex_unlock(&h->lock);
	pthread_join(h->thread, NULL);
	pthread_cond_destroy(&h->come);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

// False when there is no room.
static bool append(struct heavy *h, struct heavy_item *item)
{
	pthread_mutex_lock(&h->lock);
	bool room = h->counts.waiting < WAITING_MAX;
	h->counts.refused += !room;
	if (room) {
		h->counts.waiting++;
		if (h->last)
			h->last->next = item;
		else
			h->first = item;
		h->last = item;
		pthread_cond_signal(&h->come);
	}
	pthread_mutex_unlock(&h->lock);
	return room;
}

void heavy_answer(struct request *request, struct reply *reply, route_answer *work)
{
	struct api *api = request->api;
	struct heavy_item *item = memory_take(sizeof *item);
	item->request = request;
	item->work = work;
	request->heavy = item;
	request->stage = REQUEST_WORKING;
	atomic_fetch_add(&api->commands_under_way, 1);
	if (append(api->heavy, item))
		return;
	atomic_fetch_sub(&api->commands_under_way, 1);
	request->stage = REQUEST_HEADERS;
	request->heavy = NULL;
	free(item);
	reply_error(reply, MHD_HTTP_TOO_MANY_REQUESTS,
		"too many plans, explanations and filtered pages are being worked out; try again "
		"in a second");
	reply->retry_after_s = 1;
}

bool heavy_is_done(const struct request *request)
{
	return atomic_load(&request->heavy->done);
}

struct reply heavy_take(struct request *request)
{
	struct reply reply = request->heavy->reply;
	free(request->heavy);
	request->heavy = NULL;
	return reply;
}

void heavy_drop(struct request *request)
{
	if (!request->heavy)
		return;
	struct reply reply = heavy_take(request);
	json_writer_free(&reply.body);
	free(reply.next_token);
	if (reply.stream)
		list_stream_free(reply.stream);
}

void heavy_count(struct heavy *h, struct heavy_counts *counts)
{
	pthread_mutex_lock(&h->lock);
	*counts = h->counts;
	pthread_mutex_unlock(&h->lock);
}
