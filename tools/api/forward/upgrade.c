#include "state/base/check.h"
#include "state/base/clock/waited.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/api/forward/answer_reader.h"
#include "tools/api/forward/forwarder_private.h"
#include "tools/tls/tunnel.h"
#include "tools/web_socket/frame.h"
#include "tools/web_socket/frame_walk.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

// In one turn; others have theirs.
#define EVENTS_AT_ONCE 64
// Codes of frames that close.
#define CODE_GOING_AWAY 1001u
#define CODE_FAULT 1011u

struct upgrade_end {
	struct upgrade *upgrade;
	int fd;          // -1: not there
	uint32_t events; // that epoll waits for
};

struct upgrade {
	struct forwarder *forwarder;
	struct exchange *exchange;
	struct upgrade_end leader, client;
	char *asked; // the request, as it is sent
	size_t asked_at, asked_size;
	struct answer_reader reader;
	bool is_held;     // the answer's reader has no room
	bool is_switched; // 101: from here on bytes go both ways, once the client is joined
	bool is_web_socket;
	bool leader_ended;
	struct frame_walk walk; // of what the leader says
	uint64_t moved_ns;
	struct tunnel tunnel;
};

int upgrades_open(struct forwarder *f)
{
	f->upgrades_fd = epoll_create1(EPOLL_CLOEXEC);
	return f->upgrades_fd < 0 ? -errno : curl_events_watch(f->events, f->upgrades_fd);
}

static bool end_open(struct upgrade_end *end, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = end};
	if (CAN_FAIL(FORWARD_ENTER,
		    epoll_ctl(end->upgrade->forwarder->upgrades_fd, EPOLL_CTL_ADD, fd, &event)) < 0)
		return false;
	end->fd = fd;
	end->events = events;
	return true;
}

// An end that is gone is told of whatever is waited for: once, where nothing is.
static void end_await(struct upgrade_end *end, uint32_t wanted)
{
	uint32_t events = wanted ? wanted : EPOLLET;
	struct epoll_event event = {.events = events, .data.ptr = end};
	if (end->events == events)
		return;
	CHECK(epoll_ctl(end->upgrade->forwarder->upgrades_fd, EPOLL_CTL_MOD, end->fd, &event) == 0);
	end->events = events;
}

static void end_close(struct upgrade_end *end)
{
	if (end->fd >= 0)
		(void)epoll_ctl(end->upgrade->forwarder->upgrades_fd, EPOLL_CTL_DEL, end->fd, NULL);
	end->fd = -1;
}

static ssize_t receive_of_leader(void *context, void *data, size_t size)
{
	struct upgrade *u = context;
	size_t got = 0;
	CURLcode code = curl_easy_recv(u->exchange->easy, data, size, &got);
	if (code == CURLE_AGAIN)
		return -EAGAIN;
	u->leader_ended = code != CURLE_OK || got == 0;
	if (u->is_switched)
		frame_walk_pass(&u->walk, data, got);
	return code == CURLE_OK ? (ssize_t)got : -EIO;
}

static ssize_t send_to_leader(void *context, const void *data, size_t size)
{
	struct upgrade *u = context;
	size_t sent = 0;
	CURLcode code = curl_easy_send(u->exchange->easy, data, size, &sent);
	if (code == CURLE_AGAIN)
		return -EAGAIN;
	u->leader_ended = u->leader_ended || code != CURLE_OK;
	return code == CURLE_OK ? (ssize_t)sent : -EIO;
}

static bool asks_for_web_socket(const struct exchange *x)
{
	for (uint32_t i = 0; i < x->header_count; i++)
		if (strcasecmp(x->headers[i], "Upgrade: websocket") == 0)
			return true;
	return false;
}

// "https://10.0.0.1:4646/" is of the host "10.0.0.1:4646".
static char *request_of(const struct forwarder *f, const struct exchange *x, size_t *size)
{
	const char *url = f->status.leader.http, *scheme = strstr(url, "://");
	const char *host = scheme ? scheme + 3 : url;
	char name[sizeof f->status.leader.http];
	snprintf(name, sizeof name, "%.*s", (int)strcspn(host, "/"), host);
	return exchange_write(x, name, size);
}

bool upgrade_begin(struct forwarder *f, struct exchange *x)
{
	curl_socket_t fd = CURL_SOCKET_BAD;
	struct upgrade *u = memory_take(sizeof *u);
	CHECK(!x->upgrade && x->easy);
	u->forwarder = f;
	u->exchange = x;
	u->leader = (struct upgrade_end){u, -1, 0};
	u->client = (struct upgrade_end){u, -1, 0};
	u->tunnel.session = (struct tunnel_session){receive_of_leader, send_to_leader, u};
	u->is_web_socket = asks_for_web_socket(x);
	u->asked = request_of(f, x, &u->asked_size);
	u->moved_ns = forwarder_now_ns(f);
	answer_reader_begin(&u->reader);
	x->upgrade = u;
	return curl_easy_getinfo(x->easy, CURLINFO_ACTIVESOCKET, &fd) == CURLE_OK &&
	       fd != CURL_SOCKET_BAD && end_open(&u->leader, fd, EPOLLOUT);
}

// True: all is sent. False: not yet.
static bool send_request(struct upgrade *u)
{
	while (u->asked_at < u->asked_size) {
		ssize_t sent =
			send_to_leader(u, u->asked + u->asked_at, u->asked_size - u->asked_at);
		if (sent == -EAGAIN)
			return false;
		// Whether an answer is there all the same, reading tells.
		u->asked_at = sent < 0 ? u->asked_size : u->asked_at + (size_t)sent;
		u->moved_ns = forwarder_now_ns(u->forwarder);
	}
	return true;
}

// The kernel takes a leader that is held up, by a node that reads nothing, for one that is silent. One that is gone is
// no leader soon, which ends this, too. Where the limit stays, it only is held up for no longer than that.
static void lift_limit_of_silence(const struct upgrade *u)
{
	const unsigned none_ms = 0;
	(void)setsockopt(u->leader.fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &none_ms, sizeof none_ms);
}

static void begin_switch(struct upgrade *u)
{
	struct exchange *x = u->exchange;
	const struct tunnel_flow *in = &u->tunnel.in;
	if (x->head.is_of_follower) {
		x->was_refused = true;
		forwarder_ends_way(u->forwarder, x, false);
		return;
	}
	u->is_switched = true;
	lift_limit_of_silence(u);
	frame_walk_pass(&u->walk, in->bytes + in->at, in->size - in->at);
	end_await(&u->leader, 0);
	forwarder_turns(u->forwarder, x, EXCHANGE_IS_SWITCHED);
}

static bool take_head(struct upgrade *u)
{
	struct exchange *x = u->exchange;
	x->was_refused = x->head.is_of_follower;
	if (x->was_refused)
		forwarder_ends_way(u->forwarder, x, false);
	else
		forwarder_turns(u->forwarder, x, EXCHANGE_ANSWERS);
	return !x->was_refused;
}

// Hands on what came. False: nothing is left of it, or no more is to be taken; the upgrade may be gone.
static bool take_answer_of_leader(struct upgrade *u)
{
	struct forwarder *f = u->forwarder;
	struct exchange *x = u->exchange;
	struct tunnel_flow *in = &u->tunnel.in;
	struct answer_piece came = {in->bytes + in->at, in->size - in->at}, piece;
	enum answer_step step = answer_reader_next(&u->reader, &x->head, &came, &piece);
	in->at = in->size - came.size;
	switch (step) {
	case ANSWER_HEAD: return take_head(u);
	case ANSWER_BODY:
		u->is_held = piece.size && !exchange_take(x, piece.data, piece.size);
		if (u->is_held) {
			answer_reader_put_back(&u->reader, &piece);
			in->at -= piece.size;
			return false;
		}
		forwarder_wake_reader(f, x);
		return true;
	case ANSWER_SWITCHED: begin_switch(u); return false;
	case ANSWER_END: forwarder_ends_way(f, x, true); return false;
	case ANSWER_BAD: forwarder_ends_way(f, x, false); return false;
	case ANSWER_MORE: break;
	}
	return in->at < in->size;
}

// False: nothing came.
static bool receive_answer_of_leader(struct upgrade *u)
{
	struct tunnel_flow *in = &u->tunnel.in;
	CHECK(in->at == in->size);
	ssize_t size = receive_of_leader(u, in->bytes, TUNNEL_BYTES);
	if (size == -EAGAIN)
		return false;
	in->has_ended = size <= 0;
	in->at = 0;
	in->size = size > 0 ? (size_t)size : 0;
	u->moved_ns = forwarder_now_ns(u->forwarder);
	return size > 0;
}

// Its exchange, which is not gone, says whether the upgrade still is and asks.
static bool still_asks(const struct exchange *x)
{
	return x->upgrade && !x->upgrade->is_switched;
}

static void ask_turn(struct upgrade *u)
{
	struct exchange *x = u->exchange;
	bool is_sent = send_request(u);
	while (still_asks(x) && !u->is_held) {
		if (take_answer_of_leader(u))
			continue;
		if (!still_asks(x) || u->is_held)
			break;
		if (!u->tunnel.in.has_ended && receive_answer_of_leader(u))
			continue;
		if (!u->tunnel.in.has_ended)
			break;
		forwarder_ends_way(u->forwarder, x, answer_reader_ends(&u->reader));
	}
	if (still_asks(x))
		end_await(&u->leader, (is_sent ? 0 : EPOLLOUT) | (u->is_held ? 0 : EPOLLIN));
}

// The leader closed its WebSocket, or said nothing that would show whether it is done.
static bool ended_well(const struct upgrade *u)
{
	return u->walk.has_closed || (u->leader_ended && !u->is_web_socket);
}

static void joined_turn(struct upgrade *u)
{
	struct forwarder *f = u->forwarder;
	bool goes_on = tunnel_turn(&u->tunnel);
	if (u->tunnel.has_moved)
		u->moved_ns = forwarder_now_ns(f);
	if (!goes_on) {
		// What a client leaves behind is no fault of anybody.
		if (!u->leader_ended && !u->walk.has_closed)
			forwarder_note(f, FORWARD_LEFT);
		else
			forwarder_note(f, ended_well(u) ? FORWARD_ANSWERED : FORWARD_BROKEN);
		forwarder_ends_way(f, u->exchange, true);
		return;
	}
	end_await(&u->leader, u->tunnel.session_events);
	end_await(&u->client, u->tunnel.fd_events);
}

static void upgrade_turn(struct upgrade *u)
{
	if (!u->is_switched)
		ask_turn(u);
	else if (u->client.fd >= 0)
		joined_turn(u);
}

void upgrades_turn(struct forwarder *f)
{
	// One at a time, because a turn may end the other end of the same upgrade.
	struct epoll_event event;
	for (int i = 0; i < EVENTS_AT_ONCE &&
			WAITED(epoll_wait(f->upgrades_fd, &event, 1, 0), "forwarder") == 1;
		i++) {
		const struct upgrade_end *end = event.data.ptr;
		upgrade_turn(end->upgrade);
	}
}

void upgrade_continue(struct upgrade *u)
{
	u->is_held = false;
	upgrade_turn(u);
}

static bool take_client(struct upgrade *u, const struct exchange_joint *joint)
{
	struct tunnel_flow *out = &u->tunnel.out;
	if (!u->is_switched || joint->extra_size > TUNNEL_BYTES ||
		!end_open(&u->client, joint->fd, EPOLLIN))
		return false;
	if (joint->extra_size)
		memcpy(out->bytes, joint->extra, joint->extra_size);
	out->size = joint->extra_size;
	u->tunnel.fd = joint->fd;
	u->moved_ns = forwarder_now_ns(u->forwarder);
	return true;
}

void upgrade_join(struct exchange *x, const struct exchange_joint *joint)
{
	x->joint = *joint;
	if (x->upgrade && take_client(x->upgrade, joint)) {
		joined_turn(x->upgrade);
		return;
	}
	x->joint.end(x->joint.context);
	x->joint.end = NULL;
}

bool upgrade_has_spoken(const struct upgrade *u)
{
	return u->asked_at > 0;
}

static bool stands_still(const struct upgrade *u, uint64_t now_ns)
{
	const struct tunnel *t = &u->tunnel;
	bool is_moving = now_ns < u->moved_ns + UPGRADE_STALL_MS * NS_PER_MS;
	if (is_moving)
		return false;
	if (!u->is_switched)
		return u->asked_at < u->asked_size;
	// A terminal may be silent for as long as its user thinks.
	return u->client.fd < 0 || t->in.has_ended || t->out.has_ended;
}

void upgrade_look(struct upgrade *u, uint64_t now_ns)
{
	struct forwarder *f = u->forwarder;
	const struct exchange_joint *joint = &u->exchange->joint;
	if (f->is_ending || stands_still(u, now_ns)) {
		forwarder_ends_way(f, u->exchange, false);
	} else if (u->client.fd >= 0 && !joint->holds(joint->context)) {
		u->tunnel.out.has_ended = true;
		forwarder_note(f, FORWARD_LEFT);
		forwarder_ends_way(f, u->exchange, true);
	}
}

// A client that got no farewell does not know whether what it began is done. What it says meanwhile is dropped: a
// socket that is closed with something unread is reset, and the farewell might be lost.
static void say_farewell(const struct upgrade *u, unsigned code, const char *reason)
{
	uint8_t frame[WEB_SOCKET_HEAD_BYTES + WEB_SOCKET_CONTROL_BYTES], dropped[512];
	size_t words = strlen(reason);
	size_t size = web_socket_head(frame, WEB_SOCKET_CLOSE, 2 + words, NULL);
	frame[size++] = (uint8_t)(code >> 8);
	frame[size++] = (uint8_t)code;
	memcpy(frame + size, reason, words);
	if (send(u->client.fd, frame, size + words, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		(void)shutdown(u->client.fd, SHUT_WR);
	while (recv(u->client.fd, dropped, sizeof dropped, MSG_DONTWAIT) > 0)
		continue;
}

static bool owes_farewell(const struct upgrade *u)
{
	const struct tunnel_flow *in = &u->tunnel.in;
	bool client_left = u->tunnel.out.has_ended && !u->leader_ended;
	return u->client.fd >= 0 && u->is_web_socket && !client_left && in->at == in->size &&
	       frame_walk_may_speak(&u->walk);
}

void upgrade_end(struct upgrade *u)
{
	struct exchange *x = u->exchange;
	if (owes_farewell(u) && u->forwarder->is_ending)
		say_farewell(u, CODE_GOING_AWAY, "the server stops");
	else if (owes_farewell(u))
		say_farewell(u, CODE_FAULT, "the leader of the cluster went away");
	end_close(&u->leader);
	end_close(&u->client);
	if (x->joint.end)
		x->joint.end(x->joint.context);
	x->joint.end = NULL;
	x->upgrade = NULL;
	explicit_bzero(u->asked, u->asked_size);
	free(u->asked);
	free(u);
}
