#include "tools/api/server/blocking_query.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/api/events/event_log.h"
#include "tools/api/events/event_stream.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/connections.h"
#include "tools/api/server/submission.h"
#include "tools/json/duration.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

// Looks at everything that is parked are at least this far apart, however fast the state changes.
#define LOOK_PACE_NS (5 * NS_PER_MS)
#define SWEEP_PERIOD_NS NS_PER_S
#define EVENTS_MAX 64

struct watcher {
	struct api *api;
	pthread_t thread;
	int epoll_fd, wake_fd, state_fd;
	int events_fd;        // of the event log; -1: there is none
	_Atomic bool urgent;  // look now, whatever the pace
	pthread_mutex_t lock; // guards what follows
	struct cds_list_head parked;
	bool parks, runs;
	struct watcher_counts counts;
};

enum wake_reason { WAKE_NOT, WAKE_CHANGE, WAKE_DEADLINE };

static uint64_t now_ns(const struct watcher *w)
{
	return time_monotonic_ns(w->api->settings.time);
}

static void poke(struct watcher *w)
{
	uint64_t one = 1;
	// Fails only when the counter is full, and then the watcher is awake anyway.
	ssize_t written = write(w->wake_fd, &one, sizeof one);
	(void)written;
}

void watcher_wake(struct watcher *w)
{
	atomic_store(&w->urgent, true);
	poke(w);
}

static void drain(int fd)
{
	uint64_t count;
	ssize_t got = read(fd, &count, sizeof count);
	(void)got;
}

// Under read lock. A thing that was there and is gone has changed too.
static bool watched_moved(const struct request *r)
{
	uint64_t index = r->route->watched(r);
	return index > r->wait_index || (index == 0 && r->wait_existed);
}

// Writes, and answers that are being worked out, are waited for even when their client went, and
// when the server stops.
static bool is_reading(const struct request *r)
{
	return r->stage != REQUEST_COMMANDS && r->stage != REQUEST_WORKING;
}

// Under read lock.
static bool has_answer(const struct request *r)
{
	switch (r->stage) {
	case REQUEST_COMMANDS: return submission_is_done(r->submission);
	case REQUEST_STREAMING: return event_stream_is_ready(r->events);
	case REQUEST_WORKING: return heavy_is_done(r);
	default: return watched_moved(r);
	}
}

// Under read lock.
static enum wake_reason wake_reason(const struct request *r, uint64_t now)
{
	if (has_answer(r))
		return WAKE_CHANGE;
	return now >= r->deadline_ns ? WAKE_DEADLINE : WAKE_NOT;
}

// Watcher thread, under the lock: nobody else takes a request from the list.
static void unpark(struct watcher *w, struct request *r)
{
	if (is_reading(r))
		epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, connection_fd(r->socket), NULL);
	cds_list_del(&r->parked);
	w->counts.parked--;
	MHD_resume_connection(r->connection);
}

void watcher_park(struct watcher *w, struct request *r, uint64_t deadline_ns)
{
	MHD_suspend_connection(r->connection);
	connection_enter(w->api->connections, r->socket, CONNECTION_PARKED);
	pthread_mutex_lock(&w->lock);
	if (!w->parks && is_reading(r)) {
		pthread_mutex_unlock(&w->lock);
		MHD_resume_connection(r->connection);
		return;
	}
	r->deadline_ns = deadline_ns;
	cds_list_add_tail(&r->parked, &w->parked);
	if (++w->counts.parked > w->counts.parked_most)
		w->counts.parked_most = w->counts.parked;
	if (is_reading(r)) {
		// libmicrohttpd does not look at a suspended socket: we notice that its client
		// went.
		struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data.ptr = r};
		epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, connection_fd(r->socket), &event);
	}
	pthread_mutex_unlock(&w->lock);
	// The watcher learns of the deadline, and sees what came before the request was on the
	// list.
	poke(w);
}

// Moves what is ready to a list of its own; returns when the next one is due. Under the lock.
static uint64_t gather(struct watcher *w, struct cds_list_head *ready)
{
	uint64_t now = now_ns(w), next = now + SWEEP_PERIOD_NS;
	struct request *r, *after;
	state_read_begin();
	cds_list_for_each_entry_safe (r, after, &w->parked, parked) {
		enum wake_reason reason = wake_reason(r, now);
		if (!w->parks && is_reading(r))
			reason = WAKE_DEADLINE;
		if (reason == WAKE_NOT) {
			next = r->deadline_ns < next ? r->deadline_ns : next;
			continue;
		}
		w->counts.woken_by_change += reason == WAKE_CHANGE;
		w->counts.woken_by_deadline += reason == WAKE_DEADLINE;
		cds_list_move(&r->parked, ready);
	}
	state_read_end();
	return next;
}

// Wakes what is ready. Returns when the next one is due.
static uint64_t look(struct watcher *w)
{
	struct request *r, *after;
	CDS_LIST_HEAD(ready);
	pthread_mutex_lock(&w->lock);
	w->counts.looks++;
	uint64_t next = gather(w, &ready);
	cds_list_for_each_entry_safe (r, after, &ready, parked)
		unpark(w, r);
	pthread_mutex_unlock(&w->lock);
	return next;
}

static void take_events(struct watcher *w, const struct epoll_event *events, int count)
{
	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr == &w->state_fd) {
			drain(w->state_fd);
		} else if (events[i].data.ptr == &w->wake_fd) {
			drain(w->wake_fd);
		} else if (events[i].data.ptr == &w->events_fd) {
			drain(w->events_fd);
		} else {
			struct request *r = events[i].data.ptr;
			pthread_mutex_lock(&w->lock);
			w->counts.woken_by_hangup++;
			r->hung_up = true;
			unpark(w, r);
			pthread_mutex_unlock(&w->lock);
		}
	}
}

static bool watcher_runs(struct watcher *w)
{
	pthread_mutex_lock(&w->lock);
	bool runs = w->runs;
	pthread_mutex_unlock(&w->lock);
	return runs;
}

static void *watcher_main(void *argument)
{
	struct watcher *w = argument;
	struct epoll_event events[EVENTS_MAX];
	uint64_t looked = 0, due = 0, swept = now_ns(w);
	while (watcher_runs(w)) {
		uint64_t now = now_ns(w);
		uint64_t wait_ns = due > now ? due - now : 0;
		int count = epoll_wait(
			w->epoll_fd, events, EVENTS_MAX, (int)((wait_ns + 999999) / NS_PER_MS));
		take_events(w, events, count);
		now = now_ns(w);
		bool urgent = atomic_exchange(&w->urgent, false);
		if (count > 0 && !urgent && now < looked + LOOK_PACE_NS) {
			due = due < looked + LOOK_PACE_NS ? due : looked + LOOK_PACE_NS;
			continue;
		}
		due = look(w);
		looked = now;
		if (now - swept >= SWEEP_PERIOD_NS) {
			connections_sweep(w->api->connections);
			swept = now;
		}
	}
	return NULL;
}

static int add_descriptor(struct watcher *w, int *fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = fd};
	return epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, *fd, &event) == 0 ? 0 : -errno;
}

static void watcher_free(struct watcher *w)
{
	if (w->state_fd >= 0)
		state_unwatch_fd(w->api->settings.state, w->state_fd);
	int descriptors[] = {w->state_fd, w->wake_fd, w->epoll_fd};
	for (int i = 0; i < 3; i++)
		if (descriptors[i] >= 0)
			close(descriptors[i]);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int watcher_start(struct api *api, struct watcher **out)
{
	struct watcher *w = memory_take(sizeof *w);
	w->api = api;
	w->parks = w->runs = true;
	pthread_mutex_init(&w->lock, NULL);
	CDS_INIT_LIST_HEAD(&w->parked);
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	int error = w->epoll_fd < 0 ? -errno : 0;
	w->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	error = w->wake_fd < 0 ? -errno : error;
	w->state_fd = state_watch_fd(api->settings.state);
	error = w->state_fd < 0 ? w->state_fd : error;
	error = error ? error : add_descriptor(w, &w->wake_fd);
	error = error ? error : add_descriptor(w, &w->state_fd);
	w->events_fd = api->settings.events ? event_log_fd(api->settings.events) : -1;
	if (!error && w->events_fd >= 0)
		error = add_descriptor(w, &w->events_fd);
	*out = w;
	error = error ? error : -pthread_create(&w->thread, NULL, watcher_main, w);
	if (error) {
		*out = NULL;
		watcher_free(w);
		return error;
	}
	pthread_setname_np(w->thread, "api-watcher");
	return 0;
}

void watcher_stop_parking(struct watcher *w)
{
	pthread_mutex_lock(&w->lock);
	w->parks = false;
	pthread_mutex_unlock(&w->lock);
	watcher_wake(w);
}

bool watcher_parks(struct watcher *w)
{
	pthread_mutex_lock(&w->lock);
	bool parks = w->parks;
	pthread_mutex_unlock(&w->lock);
	return parks;
}

void watcher_stop(struct watcher *w)
{
	pthread_mutex_lock(&w->lock);
	w->runs = false;
	pthread_mutex_unlock(&w->lock);
	watcher_wake(w);
	pthread_join(w->thread, NULL);
	watcher_free(w);
}

// Digits only: what strtoull would let pass (signs, blanks) is refused.
static bool number_parse(const char *text, uint64_t *value)
{
	if (*text < '0' || *text > '9')
		return false;
	char *end;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0';
}

static uint64_t jitter_ns(struct api *api, uint64_t wait_ns)
{
	pthread_mutex_lock(&api->prng_lock);
	uint64_t jitter = prng_below(&api->prng, wait_ns / API_WAIT_JITTER + 1);
	pthread_mutex_unlock(&api->prng_lock);
	return jitter;
}

bool blocking_query_wanted(struct request *r, uint64_t *deadline_ns, struct reply *reply)
{
	const char *index = request_parameter(r, "index"), *wait = request_parameter(r, "wait");
	int64_t wait_ns = 0;
	if (!r->route->watched)
		return false;
	if (wait && (!duration_parse(wait, &wait_ns) || wait_ns < 0)) {
		reply_error(reply, MHD_HTTP_BAD_REQUEST,
			"Invalid wait time: \"%.64s\" is no duration; write it like 30s or 5m",
			wait);
		return false;
	}
	if (index && !number_parse(index, &r->wait_index)) {
		reply_error(reply, MHD_HTTP_BAD_REQUEST,
			"Invalid index: \"%.64s\" is no number; pass the X-Nomad-Index of an "
			"earlier answer",
			index);
		return false;
	}
	if (!r->wait_index)
		return false;
	uint64_t most_ns = API_WAIT_MS_MAX * NS_PER_MS;
	uint64_t wanted_ns =
		wait_ns > 0 && (uint64_t)wait_ns < most_ns ? (uint64_t)wait_ns : most_ns;
	*deadline_ns =
		time_monotonic_ns(r->api->settings.time) + wanted_ns + jitter_ns(r->api, wanted_ns);
	return true;
}

uint64_t table_watched(const struct request *r, enum state_table table)
{
	uint64_t index = state_table_index(r->api->settings.state, table);
	return index > r->api->first_index ? index : r->api->first_index;
}

bool blocking_query_is_over(struct request *r)
{
	state_read_begin();
	bool first = !r->deadline_ns;
	if (first)
		r->wait_existed = r->route->watched(r) != 0;
	bool over = watched_moved(r);
	state_read_end();
	return over;
}

void watcher_count(struct watcher *w, struct watcher_counts *counts)
{
	pthread_mutex_lock(&w->lock);
	*counts = w->counts;
	pthread_mutex_unlock(&w->lock);
}
