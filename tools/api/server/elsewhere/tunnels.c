#include "tools/api/server/elsewhere/tunnels.h"
#include "state/base/clock/waited.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "tools/tls/tunnel.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <urcu/list.h>

#define EVENTS_AT_ONCE 64

struct open_tunnel {
	struct cds_list_head all, due;
	struct tunnels *of;
	struct tunnel tunnel;
	int session_fd, clear_fd;
	bool is_due;
	bool is_let_go; // the session is used no more, and the other side is yet to leave
	bool is_left;
	void (*ended)(void *context);
	void *context;
};

struct tunnels {
	pthread_t thread;
	int epoll_fd, wake_fd;
	pthread_mutex_t lock; // guards what follows, and every tunnel
	struct cds_list_head all, due;
	bool stops;
};

// Under the lock.
static void tunnel_is_due(struct tunnels *t, struct open_tunnel *o)
{
	if (!o->is_due)
		cds_list_add_tail(&o->due, &t->due);
	o->is_due = true;
}

static void let_session_go(struct tunnels *t, struct open_tunnel *o)
{
	if (o->is_let_go)
		return;
	o->is_let_go = true;
	(void)epoll_ctl(t->epoll_fd, EPOLL_CTL_DEL, o->session_fd, NULL);
	(void)shutdown(o->tunnel.fd, SHUT_WR);
}

// Some of what the other side says meanwhile, which nobody hears any more. False: it says nothing.
static bool pass_over_some(struct open_tunnel *o)
{
	return recv(o->tunnel.fd, o->tunnel.out.bytes, TUNNEL_BYTES, MSG_DONTWAIT) > 0;
}

// Both ends are told of once, when they change: a turn leaves nothing that could be moved, or is due again. True: it
// is over. Under the lock.
static bool take_turn(struct tunnels *t, struct open_tunnel *o)
{
	if (!o->is_let_go && !tunnel_turn(&o->tunnel))
		let_session_go(t, o);
	if (o->is_let_go && o->is_left)
		return true;
	if (o->is_let_go ? pass_over_some(o) : o->tunnel.has_more)
		tunnel_is_due(t, o);
	return false;
}

// Under the lock.
static void forget_tunnel(struct tunnels *t, struct open_tunnel *o)
{
	(void)epoll_ctl(t->epoll_fd, EPOLL_CTL_DEL, o->tunnel.fd, NULL);
	cds_list_del(&o->all);
}

// Without the lock: whoever is told may have one of its own.
static void end_tunnel(struct open_tunnel *o)
{
	close(o->tunnel.fd);
	o->ended(o->context);
	explicit_bzero(&o->tunnel, sizeof o->tunnel);
	free(o);
}

// Each of those that are due now has one turn.
static void take_turns(struct tunnels *t)
{
	CDS_LIST_HEAD(turns);
	pthread_mutex_lock(&t->lock);
	cds_list_splice(&t->due, &turns);
	CDS_INIT_LIST_HEAD(&t->due);
	while (!cds_list_empty(&turns)) {
		struct open_tunnel *o = cds_list_first_entry(&turns, struct open_tunnel, due);
		cds_list_del(&o->due);
		o->is_due = false;
		bool is_over = take_turn(t, o);
		if (is_over)
			forget_tunnel(t, o);
		// Others open theirs in between.
		pthread_mutex_unlock(&t->lock);
		if (is_over)
			end_tunnel(o);
		pthread_mutex_lock(&t->lock);
	}
	pthread_mutex_unlock(&t->lock);
}

static void note_events(struct tunnels *t, const struct epoll_event *events, int count)
{
	uint64_t number;
	pthread_mutex_lock(&t->lock);
	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr == t)
			(void)!read(t->wake_fd, &number, sizeof number);
		else
			tunnel_is_due(t, events[i].data.ptr);
	}
	pthread_mutex_unlock(&t->lock);
}

// Under the lock.
static void let_all_go(struct tunnels *t)
{
	struct open_tunnel *o;
	cds_list_for_each_entry (o, &t->all, all) {
		if (o->is_let_go)
			continue;
		let_session_go(t, o);
		tunnel_is_due(t, o);
	}
}

// False: it stops, and none is left. *wait_ms: for events, before the next turns.
static bool tunnels_go_on(struct tunnels *t, int *wait_ms)
{
	pthread_mutex_lock(&t->lock);
	if (t->stops)
		let_all_go(t);
	bool goes_on = !t->stops || !cds_list_empty(&t->all);
	*wait_ms = cds_list_empty(&t->due) ? -1 : 0;
	pthread_mutex_unlock(&t->lock);
	return goes_on;
}

static void *tunnels_main(void *argument)
{
	struct tunnels *t = argument;
	struct epoll_event events[EVENTS_AT_ONCE];
	for (int wait_ms; tunnels_go_on(t, &wait_ms); take_turns(t))
		note_events(t, events,
			WAITED(CAN_FAIL(HTTP_WAIT,
				       epoll_wait(t->epoll_fd, events, EVENTS_AT_ONCE, wait_ms)),
				"api-tunnels"));
	return NULL;
}

void tunnels_destroy(struct tunnels *t)
{
	if (!t)
		return;
	if (t->epoll_fd >= 0)
		close(t->epoll_fd);
	if (t->wake_fd >= 0)
		close(t->wake_fd);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

int tunnels_start(struct tunnels **out)
{
	struct tunnels *t = memory_take(sizeof *t);
	struct epoll_event wakes = {.events = EPOLLIN, .data.ptr = t};
	pthread_mutex_init(&t->lock, NULL);
	CDS_INIT_LIST_HEAD(&t->all);
	CDS_INIT_LIST_HEAD(&t->due);
	t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	t->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int error = t->epoll_fd < 0 || t->wake_fd < 0 ||
				    epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, t->wake_fd, &wakes) < 0
			    ? -errno
			    : 0;
	error = error ? error : -pthread_create(&t->thread, NULL, tunnels_main, t);
	if (error) {
		tunnels_destroy(t);
		return error;
	}
	pthread_setname_np(t->thread, "tls-tunnels");
	*out = t;
	return 0;
}

void tunnels_stop(struct tunnels *t)
{
	uint64_t one = 1;
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->stops = true;
	pthread_mutex_unlock(&t->lock);
	(void)!write(t->wake_fd, &one, sizeof one);
	pthread_join(t->thread, NULL);
}

static bool watch_both(const struct tunnels *t, struct open_tunnel *o)
{
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = o};
	if (epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, o->tunnel.fd, &event) < 0)
		return false;
	if (epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, o->session_fd, &event) == 0)
		return true;
	(void)epoll_ctl(t->epoll_fd, EPOLL_CTL_DEL, o->tunnel.fd, NULL);
	return false;
}

// Under the lock, so that no turn is taken before both ends are watched.
static int open_watched(struct tunnels *t, struct open_tunnel *o)
{
	if (t->stops)
		return -ESHUTDOWN;
	if (!watch_both(t, o))
		return -errno;
	cds_list_add_tail(&o->all, &t->all);
	return 0;
}

int tunnels_open(struct tunnels *t, struct gnutls_session_int *session, int session_fd,
	const void *first, size_t first_size, void (*ended)(void *context), void *context,
	struct open_tunnel **opened)
{
	const int at_once = 1;
	int fds[2];
	if (first_size > TUNNEL_BYTES)
		return -EMSGSIZE;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	// A keystroke is not to wait until what was said before it has arrived.
	(void)setsockopt(session_fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
	struct open_tunnel *o = memory_take(sizeof *o);
	o->of = t;
	o->tunnel.session = tunnel_session_of_tls(session);
	o->tunnel.fd = fds[0];
	o->clear_fd = fds[1];
	memcpy(o->tunnel.out.bytes, first, first_size);
	o->tunnel.out.size = first_size;
	o->session_fd = session_fd;
	o->ended = ended;
	o->context = context;
	pthread_mutex_lock(&t->lock);
	int error = open_watched(t, o);
	pthread_mutex_unlock(&t->lock);
	if (!error) {
		*opened = o;
		return fds[1];
	}
	free(o);
	close(fds[0]);
	close(fds[1]);
	return error;
}

// That the end is closed does not tell that it was left: whoever has it may only have said its last word.
void tunnel_leave(struct open_tunnel *o)
{
	uint64_t one = 1;
	struct tunnels *t = o->of;
	pthread_mutex_lock(&t->lock);
	close(o->clear_fd);
	o->is_left = true;
	tunnel_is_due(t, o);
	// Under the lock: once the thread has it, all may be gone.
	(void)!write(t->wake_fd, &one, sizeof one);
	pthread_mutex_unlock(&t->lock);
}
