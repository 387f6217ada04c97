#include "tools/api/forward/curl_events.h"
#include "state/base/clock/waited.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENTS_MAX 64
#define IDLE_CONNECTIONS 64L

struct curl_events {
	const struct time_source *time;
	void (*unwatched)(CURL *easy);
	CURLM *multi;
	int epoll_fd, wake_fd;
	int watched_fd;  // -1: none
	uint64_t due_ns; // when libcurl wants to be asked without an event; UINT64_MAX: never
};

static uint64_t events_now_ns(const struct curl_events *e)
{
	return time_monotonic_ns(e->time);
}

// As libcurl's CURLMOPT_SOCKETFUNCTION.
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *unused)
{
	const struct curl_events *e = context;
	struct epoll_event event = {.data.fd = fd};
	if (what == CURL_POLL_REMOVE) {
		// One that was closed is off the list already.
		(void)epoll_ctl(e->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		return 0;
	}
	event.events =
		(what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
	bool is_watched =
		epoll_ctl(e->epoll_fd, EPOLL_CTL_MOD, fd, &event) == 0 ||
		CAN_FAIL(FORWARD_WATCH, epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, fd, &event)) == 0;
	// libcurl that is told so goes on with sockets of transfers that are gone.
	if (!is_watched)
		e->unwatched(easy);
	return 0;
}

// As libcurl's CURLMOPT_TIMERFUNCTION.
static int on_timer(CURLM *multi, long timeout_ms, void *context)
{
	struct curl_events *e = context;
	e->due_ns =
		timeout_ms < 0 ? UINT64_MAX : events_now_ns(e) + (uint64_t)timeout_ms * NS_PER_MS;
	return 0;
}

static void tell_libcurl(struct curl_events *e, curl_socket_t fd, int what)
{
	int running;
	curl_multi_socket_action(e->multi, fd, what, &running);
}

static void take_event(struct curl_events *e, const struct epoll_event *event)
{
	uint64_t count;
	if (event->data.fd == e->wake_fd) {
		ssize_t got = read(e->wake_fd, &count, sizeof count);
		(void)got;
		return;
	}
	if (event->data.fd == e->watched_fd)
		return;
	int what = (event->events & EPOLLIN ? CURL_CSELECT_IN : 0) |
		   (event->events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
		   (event->events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
	tell_libcurl(e, event->data.fd, what);
}

void curl_events_await(struct curl_events *e, uint32_t most_ms)
{
	struct epoll_event events[EVENTS_MAX];
	uint64_t now_ns = events_now_ns(e);
	uint64_t wait_ms = most_ms;
	uint64_t due_ms = e->due_ns > now_ns ? (e->due_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS : 0;
	wait_ms = due_ms < wait_ms ? due_ms : wait_ms;
	int count = WAITED(
		CAN_FAIL(FORWARD_WAIT, epoll_wait(e->epoll_fd, events, EVENTS_MAX, (int)wait_ms)),
		"forwarder");
	for (int i = 0; i < count; i++)
		take_event(e, &events[i]);
	if (events_now_ns(e) >= e->due_ns) {
		e->due_ns = UINT64_MAX;
		tell_libcurl(e, CURL_SOCKET_TIMEOUT, 0);
	}
}

static int set_up_multi(struct curl_events *e)
{
	e->due_ns = UINT64_MAX;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
		!(e->multi = CAN_BREAK(FORWARD_HANDLES, NULL, curl_multi_init())))
		return -ENOMEM;
	curl_multi_setopt(e->multi, CURLMOPT_MAXCONNECTS, IDLE_CONNECTIONS);
	curl_multi_setopt(e->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(e->multi, CURLMOPT_SOCKETDATA, e);
	curl_multi_setopt(e->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(e->multi, CURLMOPT_TIMERDATA, e);
	return 0;
}

static int set_up_epoll(struct curl_events *e)
{
	struct epoll_event event = {.events = EPOLLIN};
	e->epoll_fd = CAN_FAIL(FORWARD_EPOLL, epoll_create1(EPOLL_CLOEXEC));
	e->wake_fd = CAN_FAIL(FORWARD_WAKE, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
	if (e->epoll_fd < 0 || e->wake_fd < 0)
		return -errno;
	event.data.fd = e->wake_fd;
	return epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, e->wake_fd, &event) == 0 ? 0 : -errno;
}

int curl_events_create(
	const struct time_source *time, void (*unwatched)(CURL *), struct curl_events **out)
{
	struct curl_events *e = memory_take(sizeof *e);
	e->time = time;
	e->unwatched = unwatched;
	e->watched_fd = -1;
	int error = set_up_epoll(e);
	error = error ? error : set_up_multi(e);
	if (error)
		curl_events_destroy(e);
	else
		*out = e;
	return error;
}

int curl_events_watch(struct curl_events *e, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
	e->watched_fd = fd;
	return epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

void curl_events_destroy(struct curl_events *e)
{
	if (!e)
		return;
	if (e->multi)
		curl_multi_cleanup(e->multi);
	if (e->wake_fd >= 0)
		close(e->wake_fd);
	if (e->epoll_fd >= 0)
		close(e->epoll_fd);
	free(e);
}

CURLM *curl_events_multi(struct curl_events *e)
{
	return e->multi;
}

void curl_events_wake(struct curl_events *e)
{
	uint64_t one = 1;
	// Fails only when the counter is full, and then the thread is awake anyway.
	ssize_t written = write(e->wake_fd, &one, sizeof one);
	(void)written;
}
