#include "tools/api/server/parking.h"
#include "state/base/clock/waited.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/api/server/access.h"
#include "tools/api/server/clients/connections.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

// Least time between two checks of all parked requests, however fast the state changes.
#define LOOK_PACE_NS (5 * NS_PER_MS)
#define SWEEP_PERIOD_NS NS_PER_S
#define EVENTS_MAX 64

struct parking {
	struct api *api;
	pthread_t thread;
	int epoll_fd, wake_fd, state_fd;
	int more_fd;          // another eventfd that wakes the thread; -1: none
	_Atomic bool urgent;  // check now, without the pace
	pthread_mutex_t lock; // guards what follows
	struct cds_list_head parked;
	bool is_open, runs;
	uint32_t
		watching; // parked requests that are not kept: while there are none, changes wake nobody
	struct parking_counts counts;
};

enum wake_reason { WAKE_NOT, WAKE_CHANGE, WAKE_DEADLINE };

static uint64_t now_ns(const struct parking *p)
{
	return time_monotonic_ns(p->api->settings.time);
}

static void poke(struct parking *p)
{
	uint64_t one = 1;
	// Fails only when the counter is full, and then the thread is awake anyway.
	ssize_t written = write(p->wake_fd, &one, sizeof one);
	(void)written;
}

void parking_wake_soon(struct parking *p)
{
	poke(p);
}

void parking_wake(struct parking *p)
{
	atomic_store(&p->urgent, true);
	poke(p);
}

static void drain(int fd)
{
	uint64_t count;
	ssize_t got = read(fd, &count, sizeof count);
	(void)got;
}

// Under read lock.
static enum wake_reason wake_reason(const struct request *r, uint64_t now)
{
	const struct parked_kind *kind = r->parked_kind;
	if (kind->is_ready && kind->is_ready(r->parked_context))
		return WAKE_CHANGE;
	if (now < r->deadline_ns)
		return WAKE_NOT;
	return !kind->expire || kind->expire(r->parked_context) ? WAKE_DEADLINE : WAKE_NOT;
}

static int add_descriptor(struct parking *p, int *fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = fd};
	return CAN_FAIL(HTTP_WATCH, epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, *fd, &event)) == 0
		       ? 0
		       : -errno;
}

// Changes of the state come with each batch of the applier, and to be woken costs more than a look. What came while
// nobody watched is seen as one change when somebody does. Under the lock.
static void watch_changes(struct parking *p, bool watched)
{
	int *descriptors[] = {&p->state_fd, &p->more_fd};
	for (int i = 0; i < 2; i++) {
		if (*descriptors[i] < 0)
			continue;
		int error = watched ? add_descriptor(p, descriptors[i]) : 0;
		if (error)
			log_warn("changes-not-watched",
				"error=\"%s\" meaning=\"who waits for a change learns of it at the "
				"next sweep, within a second\"",
				error_text(error));
		if (!watched)
			(void)epoll_ctl(p->epoll_fd, EPOLL_CTL_DEL, *descriptors[i], NULL);
	}
}

// Under the lock.
static void list_add(struct parking *p, struct request *r)
{
	r->is_parked = true;
	cds_list_add_tail(&r->parked, &p->parked);
	if (++p->counts.parked > p->counts.parked_most)
		p->counts.parked_most = p->counts.parked;
	if (r->parked_kind->is_kept)
		return;
	if (p->watching++ == 0)
		watch_changes(p, true);
	// libmicrohttpd does not watch a suspended socket: the parking thread sees that its client left.
	struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data.ptr = r};
	if (CAN_FAIL(HTTP_ENTER,
		    epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, connection_fd(r->socket), &event)) < 0)
		log_warn("client-not-watched",
			"error=\"%s\" meaning=\"if it leaves, its question waits on\"",
			error_text(-errno));
}

// A request leaves the list. Under the lock.
static void list_left(struct parking *p, struct request *r)
{
	r->is_parked = false;
	p->counts.parked--;
	if (r->parked_kind->is_kept)
		return;
	epoll_ctl(p->epoll_fd, EPOLL_CTL_DEL, connection_fd(r->socket), NULL);
	if (--p->watching == 0)
		watch_changes(p, false);
}

// Under the lock.
static void list_remove(struct parking *p, struct request *r)
{
	cds_list_del(&r->parked);
	list_left(p, r);
}

// Whether the thread must look at it before it would anyway. Under the lock.
static bool is_urgent(const struct parking *p, const struct request *r)
{
	const struct parked_kind *kind = r->parked_kind;
	if (r->deadline_ns < now_ns(p) + SWEEP_PERIOD_NS)
		return true;
	state_read_begin();
	bool is_ready = kind->is_ready && kind->is_ready(r->parked_context);
	state_read_end();
	return is_ready;
}

void parking_park(struct parking *p, struct request *r, const struct parked_kind *kind,
	const void *context, uint64_t deadline_ns)
{
	r->parked_kind = kind;
	r->parked_context = context;
	MHD_suspend_connection(r->connection);
	connection_enter(p->api->connections, r->socket, CONNECTION_PARKED);
	pthread_mutex_lock(&p->lock);
	if (!p->is_open && !r->parked_kind->is_kept) {
		pthread_mutex_unlock(&p->lock);
		MHD_resume_connection(r->connection);
		return;
	}
	r->deadline_ns = deadline_ns;
	list_add(p, r);
	// The thread learns of a near deadline, and sees changes from before the request was on the list.
	bool urgent = is_urgent(p, r);
	pthread_mutex_unlock(&p->lock);
	if (urgent)
		poke(p);
}

bool parking_await(struct request *r, const struct parked_kind *kind, uint64_t wait_ns)
{
	uint64_t now = now_ns(r->api->parking);
	if (!r->awaited_until_ns) {
		uint64_t end_ns = access_end_ns(r);
		r->awaited_until_ns = now + wait_ns < end_ns ? now + wait_ns : end_ns;
	}
	if (now >= r->awaited_until_ns || r->hung_up || !parking_is_open(r->api->parking))
		return false;
	r->awaited = kind;
	r->stage = REQUEST_AWAITING;
	return true;
}

void parking_leave(struct parking *p, struct request *r)
{
	pthread_mutex_lock(&p->lock);
	if (r->is_parked)
		list_remove(p, r);
	pthread_mutex_unlock(&p->lock);
}

// Moves requests that may go on to a list of their own; returns when the next one is due. Under the lock.
static uint64_t gather(struct parking *p, struct cds_list_head *ready)
{
	uint64_t now = now_ns(p), next = now + SWEEP_PERIOD_NS;
	struct request *r, *after;
	state_read_begin();
	cds_list_for_each_entry_safe (r, after, &p->parked, parked) {
		enum wake_reason reason = wake_reason(r, now);
		if (!p->is_open && !r->parked_kind->is_kept)
			reason = WAKE_DEADLINE;
		if (reason == WAKE_NOT) {
			if (r->deadline_ns > now && r->deadline_ns < next)
				next = r->deadline_ns;
			continue;
		}
		p->counts.woken_by_change += reason == WAKE_CHANGE;
		p->counts.woken_by_deadline += reason == WAKE_DEADLINE;
		cds_list_move(&r->parked, ready);
	}
	state_read_end();
	return next;
}

// Wakes requests that may go on: without the lock, because libmicrohttpd calls parking_leave() under one of its own,
// which resuming takes. Nobody else resumes them meanwhile. Returns when the next one is due.
static uint64_t look_at_parked(struct parking *p)
{
	struct request *r, *after;
	CDS_LIST_HEAD(ready);
	pthread_mutex_lock(&p->lock);
	p->counts.looks++;
	uint64_t next = gather(p, &ready);
	cds_list_for_each_entry (r, &ready, parked)
		list_left(p, r);
	pthread_mutex_unlock(&p->lock);
	cds_list_for_each_entry_safe (r, after, &ready, parked)
		MHD_resume_connection(r->connection);
	return next;
}

static void take_events(struct parking *p, const struct epoll_event *events, int count)
{
	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr == &p->state_fd) {
			drain(p->state_fd);
		} else if (events[i].data.ptr == &p->wake_fd) {
			drain(p->wake_fd);
		} else if (events[i].data.ptr == &p->more_fd) {
			drain(p->more_fd);
		} else {
			struct request *r = events[i].data.ptr;
			pthread_mutex_lock(&p->lock);
			p->counts.woken_by_hangup++;
			r->hung_up = true;
			list_remove(p, r);
			pthread_mutex_unlock(&p->lock);
			MHD_resume_connection(r->connection);
		}
	}
}

static bool parking_runs(struct parking *p)
{
	pthread_mutex_lock(&p->lock);
	bool runs = p->runs;
	pthread_mutex_unlock(&p->lock);
	return runs;
}

static void *parking_main(void *argument)
{
	struct parking *p = argument;
	struct epoll_event events[EVENTS_MAX];
	uint64_t looked = 0, due = 0, swept = now_ns(p);
	while (parking_runs(p)) {
		uint64_t now = now_ns(p);
		uint64_t wait_ns = due > now ? due - now : 0;
		int count =
			WAITED(CAN_FAIL(HTTP_WAIT, epoll_wait(p->epoll_fd, events, EVENTS_MAX,
							   (int)((wait_ns + 999999) / NS_PER_MS))),
				"api-parking");
		take_events(p, events, count);
		now = now_ns(p);
		bool urgent = atomic_exchange(&p->urgent, false);
		if (count > 0 && !urgent && now < looked + LOOK_PACE_NS) {
			due = due < looked + LOOK_PACE_NS ? due : looked + LOOK_PACE_NS;
			continue;
		}
		due = look_at_parked(p);
		looked = now;
		if (now - swept >= SWEEP_PERIOD_NS) {
			connections_sweep(p->api->connections);
			swept = now;
		}
	}
	return NULL;
}

static void parking_free(struct parking *p)
{
	if (p->state_fd >= 0)
		state_unwatch_fd(p->api->settings.state, p->state_fd);
	int descriptors[] = {p->state_fd, p->wake_fd, p->epoll_fd};
	for (int i = 0; i < 3; i++)
		if (descriptors[i] >= 0)
			close(descriptors[i]);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

int parking_start(struct api *api, int wake_fd, struct parking **out)
{
	struct parking *p = memory_take(sizeof *p);
	p->api = api;
	p->is_open = p->runs = true;
	pthread_mutex_init(&p->lock, NULL);
	CDS_INIT_LIST_HEAD(&p->parked);
	p->epoll_fd = CAN_FAIL(HTTP_EPOLL, epoll_create1(EPOLL_CLOEXEC));
	int error = p->epoll_fd < 0 ? -errno : 0;
	p->wake_fd = CAN_FAIL(HTTP_WAKE, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
	error = p->wake_fd < 0 ? -errno : error;
	p->state_fd = state_watch_fd(api->settings.state);
	error = p->state_fd < 0 ? p->state_fd : error;
	error = error ? error : add_descriptor(p, &p->wake_fd);
	p->more_fd = wake_fd;
	*out = p;
	error = error ? error : -pthread_create(&p->thread, NULL, parking_main, p);
	if (error) {
		*out = NULL;
		parking_free(p);
		return error;
	}
	pthread_setname_np(p->thread, "api-parking");
	return 0;
}

void parking_close(struct parking *p)
{
	pthread_mutex_lock(&p->lock);
	p->is_open = false;
	pthread_mutex_unlock(&p->lock);
	parking_wake(p);
}

bool parking_is_open(struct parking *p)
{
	pthread_mutex_lock(&p->lock);
	bool is_open = p->is_open;
	pthread_mutex_unlock(&p->lock);
	return is_open;
}

void parking_stop(struct parking *p)
{
	pthread_mutex_lock(&p->lock);
	p->runs = false;
	pthread_mutex_unlock(&p->lock);
	parking_wake(p);
	pthread_join(p->thread, NULL);
	parking_free(p);
}

void parking_count(struct parking *p, struct parking_counts *counts)
{
	pthread_mutex_lock(&p->lock);
	*counts = p->counts;
	pthread_mutex_unlock(&p->lock);
}
