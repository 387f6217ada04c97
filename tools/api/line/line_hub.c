// The hub's thread: who connects, who waits for whom, and what took too long.
#include "tools/api/line/line_hub.h"
#include "state/base/check.h"
#include "state/base/clock/waited.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/api/line/line_hub_private.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS_MAX 64
#define LOOK_MS 50u
#define REST_MS 1000
// Connections that are accepted before others have their turn.
#define ACCEPTED_AT_ONCE 64

const char *const line_refusal_names[] = {"accepted", "identity", "unknown_node", "unknown_key",
	"revoked", "not_leading", "bad_key", "tls", "protocol", "left", "slow", "crowded",
	"too_many"};

uint64_t hub_now_ns(const struct line_hub *hub)
{
	return time_monotonic_ns(hub->settings.time);
}

void hub_wake_reader(struct line_hub *hub, struct exchange *x)
{
	if (exchange_wakes(x))
		hub->settings.wake(hub->settings.wake_context);
}

void hub_exchange_turns(struct line_hub *hub, struct exchange *x, enum exchange_stage stage)
{
	exchange_turn(x, stage);
	hub_wake_reader(hub, x);
}

void hub_exchange_fails(struct line_hub *hub, struct exchange *x, unsigned status, const char *why)
{
	x->failure_status = status;
	snprintf(x->failure, sizeof x->failure, "%s", why);
	hub_exchange_turns(hub, x, EXCHANGE_HAS_FAILED);
}

static struct exchange *first_waiting(struct line_hub *hub, const struct uuid *node)
{
	struct exchange *x;
	cds_list_for_each_entry (x, &hub->waiting, on_the_way)
		if (uuid_equal(&x->node, node))
			return x;
	return NULL;
}

static void leave_waiting(struct line_hub *hub, struct exchange *x)
{
	const struct line_hub_settings *s = &hub->settings;
	cds_list_del(&x->on_the_way);
	x->is_on_the_way = false;
	if (!first_waiting(hub, &x->node))
		s->call_no_more(s->context, &x->node);
}

void hub_link_is_free(struct line_hub *hub, struct link *link)
{
	struct exchange *x = first_waiting(hub, &link->identity.node);
	link_enter(link, LINK_IDLE);
	if (!x) {
		link->may_be_stale = true;
		return;
	}
	leave_waiting(hub, x);
	// Others of this node still wait: it is to dial once more.
	if (first_waiting(hub, &x->node))
		hub->settings.call(hub->settings.context, &x->node);
	link_ask(link, x);
}

uint32_t hub_links_of_node(struct line_hub *hub, const struct uuid *node)
{
	struct link *link;
	uint32_t count = 0;
	cds_list_for_each_entry (link, &hub->links, all)
		count += link->is_named && uuid_equal(&link->identity.node, node);
	return count;
}

static struct link *idle_link(struct line_hub *hub, const struct uuid *node)
{
	struct link *link, *found = NULL;
	// The newest is the likeliest to be alive.
	cds_list_for_each_entry (link, &hub->links, all)
		if (link->state == LINK_IDLE && uuid_equal(&link->identity.node, node))
			found = link;
	return found;
}

static void wait_for_node(struct line_hub *hub, struct exchange *x)
{
	x->is_on_the_way = true;
	cds_list_add_tail(&x->on_the_way, &hub->waiting);
	x->repeat_ns = hub_now_ns(hub) + LINE_CALL_AGAIN_MS * NS_PER_MS;
	hub->settings.call(hub->settings.context, &x->node);
}

void hub_wait_again(struct line_hub *hub, struct exchange *x)
{
	answer_head_clear(&x->head);
	wait_for_node(hub, x);
}

static void begin_exchange(struct line_hub *hub, struct exchange *x)
{
	struct link *link = idle_link(hub, &x->node);
	x->give_up_ns = hub_now_ns(hub) + hub->settings.dial_wait_ms * NS_PER_MS;
	if (link)
		link_ask(link, x);
	else
		wait_for_node(hub, x);
}

static void end_exchange_of_line(struct line_hub *hub, struct exchange *x)
{
	if (x->is_on_the_way)
		leave_waiting(hub, x);
	if (x->link)
		link_end(x->link);
	if (x->joint.end)
		x->joint.end(x->joint.context);
	free((void *)x->joint.extra);
	exchange_free(x);
	pthread_mutex_lock(&hub->lock);
	hub->under_way--;
	pthread_mutex_unlock(&hub->lock);
}

static void join_exchange(struct exchange *x, const struct exchange_joint *joint)
{
	x->joint = *joint;
	if (x->link && x->link->state == LINK_SWITCHED) {
		link_join(x->link, x->joint.fd, x->joint.extra, x->joint.extra_size);
		return;
	}
	x->joint.end(x->joint.context);
	x->joint.end = NULL;
}

// What somebody wants of an exchange.
struct wish {
	struct exchange *exchange;
	bool is_dropped, is_joined;
	struct exchange_joint joint;
};

static bool take_wish(struct line_hub *hub, struct wish *wish)
{
	pthread_mutex_lock(&hub->lock);
	bool has = !cds_list_empty(&hub->queue);
	if (has) {
		struct exchange *x = cds_list_first_entry(&hub->queue, struct exchange, queued);
		cds_list_del(&x->queued);
		x->is_queued = false;
		*wish = (struct wish){x, x->is_dropped, x->is_joined, x->offered};
		x->is_joined = false;
	}
	pthread_mutex_unlock(&hub->lock);
	return has;
}

static void grant_wishes(struct line_hub *hub)
{
	for (struct wish w; take_wish(hub, &w);) {
		struct exchange *x = w.exchange;
		if (w.is_joined)
			join_exchange(x, &w.joint);
		if (w.is_dropped) {
			end_exchange_of_line(hub, x);
		} else if (w.is_joined) {
			continue;
		} else if (x->link) {
			x->link->is_held = false;
			link_turn(x->link);
		} else if (!x->give_up_ns) {
			begin_exchange(hub, x);
		}
	}
}

static uint32_t links_of(struct line_hub *hub)
{
	uint32_t count = 0;
	for (int i = 0; i < LINK_DEAD; i++)
		count += hub->states[i];
	return count;
}

// The oldest handshake makes room, so that who opens connections and says nothing does not keep others out.
static void make_room(struct line_hub *hub)
{
	struct link *link;
	if (hub->states[LINK_HANDSHAKE] < LINE_HANDSHAKES_MAX &&
		links_of(hub) < LINE_CONNECTIONS_MAX)
		return;
	cds_list_for_each_entry (link, &hub->links, all) {
		if (link->state == LINK_HANDSHAKE) {
			link_refuse(link, LINE_REFUSED_CROWDED);
			return;
		}
	}
}

static void listen_for(struct line_hub *hub, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = hub};
	CHECK(epoll_ctl(hub->epoll_fd, EPOLL_CTL_MOD, hub->settings.listen_fd, &event) == 0);
}

// Who dials waits in the socket's queue, and epoll would tell of that without end.
static void pause_accepting(struct line_hub *hub, int error)
{
	atomic_fetch_add(&hub->accepts_failed, 1);
	hub->accept_again_ns = hub_now_ns(hub) + LINE_ACCEPT_PAUSE_MS * NS_PER_MS;
	listen_for(hub, 0);
	if (!hub->is_short)
		log_error("line-not-accepting",
			"error=\"%s\" meaning=\"nodes that dial wait\" action=\"see the limit of "
			"open "
			"files (ulimit -n) and the memory; it is tried again every %u ms\"",
			error_text(error), LINE_ACCEPT_PAUSE_MS);
	hub->is_short = true;
}

static void go_on_accepting(struct line_hub *hub, uint64_t now_ns)
{
	if (!hub->accept_again_ns || now_ns < hub->accept_again_ns || hub->has_ended)
		return;
	hub->accept_again_ns = 0;
	listen_for(hub, EPOLLIN);
}

// True: there may be another one.
static bool accept_fails(struct line_hub *hub, int error)
{
	bool has_left = error == ECONNABORTED || error == EINTR;
	if (!has_left && error != EAGAIN)
		pause_accepting(hub, -error);
	return has_left;
}

static void accept_all(struct line_hub *hub)
{
	for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
		int fd = CAN_FAIL(LINE_ACCEPT,
			accept4(hub->settings.listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
		if (fd < 0 && accept_fails(hub, errno))
			continue;
		if (fd < 0)
			return;
		if (hub->is_short)
			log_info("line-accepts-again", "failures=%lu",
				(unsigned long)atomic_load(&hub->accepts_failed));
		hub->is_short = false;
		make_room(hub);
		if (links_of(hub) < LINE_CONNECTIONS_MAX) {
			link_accept(hub, fd);
			continue;
		}
		atomic_fetch_add(&hub->refused[LINE_REFUSED_TOO_MANY], 1);
		close(fd);
	}
}

static bool took_too_long(const struct link *link, uint64_t now_ns)
{
	uint64_t ms = now_ns < link->since_ns ? 0 : (now_ns - link->since_ns) / NS_PER_MS;
	switch (link->state) {
	case LINK_HANDSHAKE: return ms >= LINE_HANDSHAKE_MS;
	case LINK_IDLE: return ms >= LINE_IDLE_MS;
	case LINK_BUSY: return link->asked_at < link->asked_size && ms >= LINE_STALL_MS;
	case LINK_SWITCHED: return ms >= LINE_STALL_MS;
	case LINK_GREETED: return ms >= LINE_GREETING_MS;
	// A terminal may be silent for as long as its user thinks.
	case LINK_JOINED:
	case LINK_DEAD:
	case LINK_STATES: break;
	}
	return false;
}

static bool may_go_on(struct line_hub *hub, struct link *link, bool looks_at_keys)
{
	const struct exchange *x = link->exchange;
	if (x && link->state == LINK_JOINED && x->joint.holds && !x->joint.holds(x->joint.context))
		return false;
	return !looks_at_keys || link->state == LINK_HANDSHAKE || link_key_holds(link);
}

static void look_at_links(struct line_hub *hub, uint64_t now_ns)
{
	struct link *link, *next;
	bool looks_at_keys = now_ns - hub->keys_looked_ns >= NS_PER_S;
	if (looks_at_keys)
		hub->keys_looked_ns = now_ns;
	cds_list_for_each_entry_safe (link, next, &hub->links, all) {
		if (took_too_long(link, now_ns) && link->state == LINK_HANDSHAKE)
			link_refuse(link, LINE_REFUSED_SLOW);
		else if (took_too_long(link, now_ns) || !may_go_on(hub, link, looks_at_keys))
			link_turn_off(link);
	}
}

static void look_at_waiting(struct line_hub *hub, uint64_t now_ns)
{
	struct exchange *x, *next;
	cds_list_for_each_entry_safe (x, next, &hub->waiting, on_the_way) {
		if (now_ns >= x->give_up_ns) {
			leave_waiting(hub, x);
			atomic_fetch_add(&hub->unreached, 1);
			hub_exchange_fails(hub, x, 404, LINE_NO_PATH);
		} else if (now_ns >= x->repeat_ns) {
			x->repeat_ns = now_ns + LINE_CALL_AGAIN_MS * NS_PER_MS;
			hub->settings.call(hub->settings.context, &x->node);
		}
	}
}

static void look_at_times(struct line_hub *hub)
{
	uint64_t now_ns = hub_now_ns(hub);
	if (now_ns - hub->looked_ns < LOOK_MS * NS_PER_MS)
		return;
	hub->looked_ns = now_ns;
	look_at_links(hub, now_ns);
	look_at_waiting(hub, now_ns);
	go_on_accepting(hub, now_ns);
}

static void show_counts(struct line_hub *hub)
{
	struct link *link;
	struct exchange *x;
	uint32_t asking = 0, waiting = 0;
	cds_list_for_each_entry (link, &hub->links, all)
		asking += link->state == LINK_JOINED && !link->exchange;
	cds_list_for_each_entry (x, &hub->waiting, on_the_way)
		waiting++;
	atomic_store(&hub->shown_handshakes, hub->states[LINK_HANDSHAKE]);
	atomic_store(&hub->shown_idle, hub->states[LINK_IDLE]);
	atomic_store(&hub->shown_busy, hub->states[LINK_BUSY] + hub->states[LINK_SWITCHED] +
					       hub->states[LINK_GREETED] +
					       hub->states[LINK_JOINED] - asking);
	atomic_store(&hub->shown_asking, asking);
	atomic_store(&hub->shown_waiting, waiting);
}

static void take_event(struct line_hub *hub, const struct epoll_event *event)
{
	uint64_t number;
	if (event->data.ptr == &hub->wake_fd) {
		(void)!read(hub->wake_fd, &number, sizeof number);
	} else if (event->data.ptr == hub) {
		accept_all(hub);
	} else {
		const struct link_end *end = event->data.ptr;
		link_turn(end->link);
	}
}

static void end_everything(struct line_hub *hub)
{
	struct link *link, *next;
	if (hub->has_ended)
		return;
	hub->has_ended = true;
	(void)epoll_ctl(hub->epoll_fd, EPOLL_CTL_DEL, hub->settings.listen_fd, NULL);
	cds_list_for_each_entry_safe (link, next, &hub->links, all)
		link_turn_off(link);
	struct exchange *x, *after;
	cds_list_for_each_entry_safe (x, after, &hub->waiting, on_the_way) {
		leave_waiting(hub, x);
		hub_exchange_fails(hub, x, 503, "the server stops");
	}
}

static void free_dead(struct line_hub *hub)
{
	struct link *link, *next;
	cds_list_for_each_entry_safe (link, next, &hub->dead, all)
		link_free(link);
}

static bool hub_goes_on(struct line_hub *hub, bool *is_closed)
{
	pthread_mutex_lock(&hub->lock);
	bool goes_on = !hub->stops;
	*is_closed = hub->is_closed;
	pthread_mutex_unlock(&hub->lock);
	return goes_on;
}

static int wait_ms(struct line_hub *hub)
{
	bool is_quiet = cds_list_empty(&hub->links) && cds_list_empty(&hub->waiting) &&
			!hub->accept_again_ns;
	return is_quiet ? REST_MS : LOOK_MS;
}

static void *hub_main(void *argument)
{
	struct line_hub *hub = argument;
	struct epoll_event events[EVENTS_MAX];
	bool is_closed;
	while (hub_goes_on(hub, &is_closed)) {
		if (is_closed)
			end_everything(hub);
		grant_wishes(hub);
		look_at_times(hub);
		show_counts(hub);
		free_dead(hub);
		int count = WAITED(CAN_FAIL(LINE_WAIT, epoll_wait(hub->epoll_fd, events, EVENTS_MAX,
							       wait_ms(hub))),
			"line-hub");
		for (int i = 0; i < count; i++)
			take_event(hub, &events[i]);
	}
	grant_wishes(hub);
	end_everything(hub);
	free_dead(hub);
	return NULL;
}

static void hub_free(struct line_hub *hub)
{
	if (hub->epoll_fd >= 0)
		close(hub->epoll_fd);
	if (hub->wake_fd >= 0)
		close(hub->wake_fd);
	close(hub->settings.listen_fd);
	psk_server_destroy(hub->server);
	pthread_mutex_destroy(&hub->lock);
	free(hub);
}

static int watch_descriptor(const struct line_hub *hub, int fd, struct epoll_event *event)
{
	return CAN_FAIL(LINE_WATCH, epoll_ctl(hub->epoll_fd, EPOLL_CTL_ADD, fd, event));
}

static int open_descriptors(struct line_hub *hub)
{
	struct epoll_event listens = {.events = EPOLLIN, .data.ptr = hub};
	struct epoll_event wakes = {.events = EPOLLIN, .data.ptr = &hub->wake_fd};
	hub->epoll_fd = CAN_FAIL(LINE_EPOLL, epoll_create1(EPOLL_CLOEXEC));
	int error = hub->epoll_fd < 0 ? -errno : 0;
	hub->wake_fd = CAN_FAIL(LINE_WAKE, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
	error = !error && hub->wake_fd < 0 ? -errno : error;
	if (!error && (watch_descriptor(hub, hub->settings.listen_fd, &listens) < 0 ||
			      watch_descriptor(hub, hub->wake_fd, &wakes) < 0))
		error = -errno;
	return error;
}

int line_hub_start(const struct line_hub_settings *settings, struct line_hub **out)
{
	struct line_hub *hub = memory_take(sizeof *hub);
	struct line_hub_settings *s = &hub->settings;
	*s = *settings;
	s->dial_wait_ms = s->dial_wait_ms ? s->dial_wait_ms : LINE_DIAL_WAIT_MS;
	pthread_mutex_init(&hub->lock, NULL);
	CDS_INIT_LIST_HEAD(&hub->queue);
	CDS_INIT_LIST_HEAD(&hub->links);
	CDS_INIT_LIST_HEAD(&hub->dead);
	CDS_INIT_LIST_HEAD(&hub->waiting);
	hub->server = psk_server_create(link_find_key);
	int error = open_descriptors(hub);
	error = !error && !hub->server ? -ENOMEM : error;
	error = error ? error
		      : -CAN_REFUSE(LINE_THREAD, pthread_create(&hub->thread, NULL, hub_main, hub));
	if (error) {
		hub_free(hub);
		return error;
	}
	pthread_setname_np(hub->thread, "api-line");
	*out = hub;
	return 0;
}

static void wake_hub(struct line_hub *hub)
{
	uint64_t one = 1;
	// Full means that it will wake up anyway.
	(void)!write(hub->wake_fd, &one, sizeof one);
}

void line_hub_close(struct line_hub *hub)
{
	pthread_mutex_lock(&hub->lock);
	hub->is_closed = true;
	pthread_mutex_unlock(&hub->lock);
	wake_hub(hub);
}

void line_hub_stop(struct line_hub *hub)
{
	if (!hub)
		return;
	pthread_mutex_lock(&hub->lock);
	hub->stops = hub->is_closed = true;
	pthread_mutex_unlock(&hub->lock);
	wake_hub(hub);
	pthread_join(hub->thread, NULL);
	CHECK(hub->under_way == 0);
	hub_free(hub);
}

// Under the lock.
static void queue_wish(struct line_hub *hub, struct exchange *x)
{
	if (!x->is_queued)
		cds_list_add_tail(&x->queued, &hub->queue);
	x->is_queued = true;
}

static void wish_for_room(struct exchange *x)
{
	struct line_hub *hub = x->owner;
	pthread_mutex_lock(&hub->lock);
	queue_wish(hub, x);
	pthread_mutex_unlock(&hub->lock);
	wake_hub(hub);
}

static void wish_for_end(struct exchange *x)
{
	struct line_hub *hub = x->owner;
	pthread_mutex_lock(&hub->lock);
	x->is_dropped = true;
	queue_wish(hub, x);
	pthread_mutex_unlock(&hub->lock);
	wake_hub(hub);
}

static void wish_to_join(struct exchange *x, const struct exchange_joint *joint)
{
	struct line_hub *hub = x->owner;
	void *extra = memory_take(joint->extra_size + 1);
	if (joint->extra_size)
		memcpy(extra, joint->extra, joint->extra_size);
	pthread_mutex_lock(&hub->lock);
	x->offered = *joint;
	x->offered.extra = extra;
	x->is_joined = true;
	queue_wish(hub, x);
	pthread_mutex_unlock(&hub->lock);
	wake_hub(hub);
}

static void note_outcome(struct exchange *x, enum forward_outcome outcome)
{
	struct line_hub *hub = x->owner;
	CHECK(outcome < FORWARD_OUTCOMES);
	atomic_fetch_add(&hub->outcomes[outcome], 1);
}

bool line_hub_begin(struct line_hub *hub, struct exchange *x, const struct uuid *node)
{
	static const struct exchange_carrier carrier = {.has_room = wish_for_room,
		.drop = wish_for_end,
		.note = note_outcome,
		.join = wish_to_join};
	pthread_mutex_lock(&hub->lock);
	bool has_room = !hub->is_closed && hub->under_way < LINE_REQUESTS_MAX;
	if (has_room) {
		hub->under_way++;
		x->owner = hub;
		x->carrier = &carrier;
		x->node = *node;
		queue_wish(hub, x);
	}
	pthread_mutex_unlock(&hub->lock);
	if (has_room)
		wake_hub(hub);
	return has_room;
}

void line_hub_count(struct line_hub *hub, struct line_hub_counts *counts)
{
	counts->handshakes = atomic_load(&hub->shown_handshakes);
	counts->idle = atomic_load(&hub->shown_idle);
	counts->busy = atomic_load(&hub->shown_busy);
	counts->asking = atomic_load(&hub->shown_asking);
	counts->waiting = atomic_load(&hub->shown_waiting);
	counts->accepted = atomic_load(&hub->accepted);
	counts->unreached = atomic_load(&hub->unreached);
	counts->accepts_failed = atomic_load(&hub->accepts_failed);
	for (int i = 0; i < LINE_REFUSALS; i++)
		counts->refused[i] = atomic_load(&hub->refused[i]);
	for (int i = 0; i < FORWARD_OUTCOMES; i++)
		counts->outcomes[i] = atomic_load(&hub->outcomes[i]);
}
