// One connection of a node: handshake, requests over it, and their answers.
#include "state/base/check.h"
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
#include <sys/socket.h>
#include <unistd.h>

static bool is_of(const struct link *link, const struct psk_identity *identity)
{
	return link->identity.key_id == identity->key_id &&
	       uuid_equal(&link->identity.node, &identity->node);
}

bool link_find_key(void *context, const char *name, size_t size, uint8_t key[static PSK_KEY_BYTES])
{
	struct link *link = context;
	struct psk_identity identity;
	if (!psk_identity_read(name, size, &identity)) {
		link->verdict = LINE_REFUSED_IDENTITY;
		return false;
	}
	// A handshake that was begun again may not change who comes.
	if (link->is_named && !is_of(link, &identity)) {
		link->verdict = LINE_REFUSED_IDENTITY;
		return false;
	}
	link->identity = identity;
	link->is_named = true;
	const struct line_hub_settings *s = &link->hub->settings;
	link->verdict = s->node_key(s->context, &link->identity, link->key);
	memcpy(key, link->key, PSK_KEY_BYTES);
	return link->verdict == LINE_ACCEPTED;
}

bool link_key_holds(struct link *link)
{
	const struct line_hub_settings *s = &link->hub->settings;
	uint8_t key[PSK_KEY_BYTES];
	bool holds = s->node_key(s->context, &link->identity, key) == LINE_ACCEPTED &&
		     memcmp(key, link->key, sizeof key) == 0;
	explicit_bzero(key, sizeof key);
	return holds;
}

void link_enter(struct link *link, enum link_state state)
{
	struct line_hub *hub = link->hub;
	CHECK(link->state != LINK_DEAD);
	hub->states[link->state]--;
	hub->states[state]++;
	link->state = state;
	link->since_ns = hub_now_ns(hub);
}

// An end that is gone is told of whatever is waited for: once, where nothing is.
void link_await(struct link_end *end, uint32_t wanted)
{
	uint32_t events = wanted ? wanted : EPOLLET;
	struct epoll_event event = {.events = events, .data.ptr = end};
	if (end->events == events)
		return;
	CHECK(epoll_ctl(end->link->hub->epoll_fd, EPOLL_CTL_MOD, end->fd, &event) == 0);
	end->events = events;
}

void link_accept(struct line_hub *hub, int fd)
{
	struct link *link = memory_take(sizeof *link);
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &link->tls_end};
	link->hub = hub;
	link->tls_end = (struct link_end){.link = link, .fd = fd, .events = EPOLLIN};
	link->plain_end = (struct link_end){.link = link, .fd = -1, .is_plain = true};
	if (psk_server_session(hub->server, fd, link, &link->tls) != GNUTLS_E_SUCCESS ||
		CAN_FAIL(LINE_ENTER, epoll_ctl(hub->epoll_fd, EPOLL_CTL_ADD, fd, &event)) < 0) {
		atomic_fetch_add(&hub->accepts_failed, 1);
		log_warn("line-not-accepted", "error=\"memory or descriptors are short\"");
		if (link->tls)
			gnutls_deinit(link->tls);
		close(fd);
		free(link);
		return;
	}
	cds_list_add_tail(&link->all, &hub->links);
	hub->states[LINK_HANDSHAKE]++;
	link->since_ns = hub_now_ns(hub);
}

static void free_flows(struct link *link)
{
	free(link->in);
	free(link->tunnel);
	free(link->reader);
	if (link->asked)
		explicit_bzero(link->asked, link->asked_size);
	free(link->asked);
	link->in = NULL;
	link->tunnel = NULL;
	link->reader = NULL;
	link->asked = NULL;
}

// The socket of a client is not the link's to close: it is given back with the exchange.
static void let_plain_end_go(struct link *link)
{
	if (link->plain_end.fd < 0)
		return;
	(void)epoll_ctl(link->hub->epoll_fd, EPOLL_CTL_DEL, link->plain_end.fd, NULL);
	if (!link->exchange)
		close(link->plain_end.fd);
	link->plain_end.fd = -1;
}

// The other side of what is carried learns that it ends.
static void let_exchange_go(struct link *link)
{
	struct exchange *x = link->exchange;
	link->exchange = NULL;
	if (!x)
		return;
	x->link = NULL;
	if (x->joint.end)
		x->joint.end(x->joint.context);
	x->joint.end = NULL;
}

void link_end(struct link *link)
{
	if (link->state == LINK_DEAD)
		return;
	let_plain_end_go(link);
	let_exchange_go(link);
	// A close_notify, when there is room for one; it tells the end from a cut.
	if (link->state != LINK_HANDSHAKE)
		(void)gnutls_bye(link->tls, GNUTLS_SHUT_WR);
	link_enter(link, LINK_DEAD);
	gnutls_deinit(link->tls);
	close(link->tls_end.fd);
	free_flows(link);
	cds_list_move(&link->all, &link->hub->dead);
}

void link_free(struct link *link)
{
	CHECK(link->state == LINK_DEAD);
	link->hub->states[LINK_DEAD]--;
	cds_list_del(&link->all);
	explicit_bzero(link->key, sizeof link->key);
	free(link);
}

void link_refuse(struct link *link, enum line_refusal why)
{
	char node[UUID_TEXT_BYTES] = "-";
	if (link->is_named)
		uuid_format(&link->identity.node, node);
	atomic_fetch_add(&link->hub->refused[why], 1);
	log_info("line-refused", "reason=%s node=%s", line_refusal_names[why], node);
	link_end(link);
}

// Receives into what is empty: as long as data is kept in GnuTLS, epoll does not tell of it. False: nothing came.
static bool receive_answer(struct link *link)
{
	struct tunnel_flow *in = link->in;
	CHECK(in->at == in->size);
	ssize_t size = CAN_BREAK(LINE_RECEIVE, GNUTLS_E_PULL_ERROR,
		gnutls_record_recv(link->tls, in->bytes, TUNNEL_BYTES));
	if (size == GNUTLS_E_AGAIN || size == GNUTLS_E_INTERRUPTED)
		return false;
	// Nobody begins handshakes anew here; and a cut is no end of an answer.
	in->has_ended = size <= 0;
	in->at = 0;
	in->size = size > 0 ? (size_t)size : 0;
	link->since_ns = hub_now_ns(link->hub);
	return size > 0;
}

static int make_socketpair(int fds[static 2])
{
	return CAN_FAIL(
		LINE_PAIR, socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds));
}

// A node asks: what it says goes to who answers it in clear.
static void begin_answering(struct link *link)
{
	const struct line_hub_settings *s = &link->hub->settings;
	int fds[2];
	if (make_socketpair(fds) < 0) {
		link_refuse(link, LINE_REFUSED_TOO_MANY);
		return;
	}
	if (s->answer(s->context, &link->identity.node, fds[1]) < 0) {
		close(fds[0]);
		link_refuse(link, LINE_REFUSED_TOO_MANY);
		return;
	}
	link_join(link, fds[0], NULL, 0);
}

static void end_handshake(struct link *link)
{
	struct line_hub *hub = link->hub;
	enum line_kind kind = psk_session_kind(link->tls);
	atomic_fetch_add(&hub->accepted, kind != LINE_UNKNOWN);
	link_await(&link->tls_end, EPOLLIN);
	if (kind != LINE_UNKNOWN &&
		hub_links_of_node(hub, &link->identity.node) > LINE_NODE_CONNECTIONS_MAX) {
		link_refuse(link, LINE_REFUSED_TOO_MANY);
		return;
	}
	switch (kind) {
	case LINE_UNKNOWN: link_refuse(link, LINE_REFUSED_PROTOCOL); break;
	case LINE_CONTROLLER_ASKS: hub_link_is_free(hub, link); break;
	case LINE_NODE_ASKS: begin_answering(link); break;
	}
}

static enum line_refusal why_no_handshake(const struct link *link, int error)
{
	if (link->verdict != LINE_ACCEPTED)
		return link->verdict;
	if (error == GNUTLS_E_PREMATURE_TERMINATION || error == GNUTLS_E_PULL_ERROR ||
		error == GNUTLS_E_PUSH_ERROR)
		return LINE_REFUSED_LEFT;
	return link->is_named ? LINE_REFUSED_BAD_KEY : LINE_REFUSED_TLS;
}

static void shake_hands(struct link *link)
{
	int error;
	do {
		error = CAN_BREAK(LINE_HANDSHAKE, GNUTLS_E_PULL_ERROR, gnutls_handshake(link->tls));
	} while (error == GNUTLS_E_INTERRUPTED || error == GNUTLS_E_WARNING_ALERT_RECEIVED);
	if (error == GNUTLS_E_AGAIN)
		link_await(&link->tls_end,
			gnutls_record_get_direction(link->tls) ? EPOLLOUT : EPOLLIN);
	else if (error == GNUTLS_E_SUCCESS)
		end_handshake(link);
	else
		link_refuse(link, why_no_handshake(link, error));
}

// Writes the request as it is sent.
static void write_request(struct link *link, const struct exchange *x)
{
	char node[UUID_TEXT_BYTES];
	uuid_format(&link->identity.node, node);
	link->asked = exchange_write(x, node, &link->asked_size);
	link->asked_at = 0;
}

void link_ask(struct link *link, struct exchange *x)
{
	CHECK(link->state == LINK_IDLE && !x->link);
	link_enter(link, LINK_BUSY);
	link->exchange = x;
	x->link = link;
	link->in = memory_take(sizeof *link->in);
	link->reader = memory_take(sizeof *link->reader);
	link->is_held = false;
	answer_reader_begin(link->reader);
	write_request(link, x);
	link_turn(link);
}

// True: all is sent. False: not yet, or the link has ended.
static bool send_asked(struct link *link)
{
	while (link->asked_at < link->asked_size) {
		size_t left = link->asked_size - link->asked_at;
		ssize_t sent = CAN_BREAK(LINE_SEND, GNUTLS_E_PUSH_ERROR,
			gnutls_record_send(link->tls, link->asked + link->asked_at,
				left < TUNNEL_BYTES ? left : TUNNEL_BYTES));
		if (sent == GNUTLS_E_INTERRUPTED)
			continue;
		if (sent == GNUTLS_E_AGAIN)
			return false;
		if (sent < 0) {
			link->in->has_ended =
				true; // what is left to read tells why, or nothing does
			link->asked_at = link->asked_size;
			return true;
		}
		link->asked_at += (size_t)sent;
		link->since_ns = hub_now_ns(link->hub);
	}
	return true;
}

// The connection ended before the answer did.
static void answer_breaks(struct link *link, const char *why)
{
	struct line_hub *hub = link->hub;
	struct exchange *x = link->exchange;
	bool has_begun = exchange_stage_of(x) != EXCHANGE_WAITS || x->head.status != 0;
	bool may_repeat = link->may_be_stale && !has_begun && strcmp(x->method, "GET") == 0;
	let_exchange_go(link);
	link_end(link);
	// The node closed it at the same moment, before it heard of the request.
	if (may_repeat)
		hub_wait_again(hub, x);
	else if (exchange_stage_of(x) == EXCHANGE_WAITS)
		hub_exchange_fails(hub, x, 502, why);
	else
		hub_exchange_turns(hub, x, EXCHANGE_IS_BROKEN);
}

void link_turn_off(struct link *link)
{
	if (link->state == LINK_BUSY)
		answer_breaks(link, "the connection to the node was closed");
	else
		link_end(link);
}

static void answer_ends(struct link *link)
{
	struct line_hub *hub = link->hub;
	struct exchange *x = link->exchange;
	bool keeps = answer_reader_keeps(link->reader) && !link->in->has_ended &&
		     link->in->at == link->in->size && link->asked_at == link->asked_size;
	let_exchange_go(link);
	hub_exchange_turns(hub, x, EXCHANGE_IS_OVER);
	if (!keeps) {
		link_end(link);
		return;
	}
	free_flows(link);
	link->may_be_stale = true;
	link_await(&link->tls_end, EPOLLIN);
	hub_link_is_free(hub, link);
}

// Hands on what came. False: nothing is left of it, or the link is no more what it was.
static bool take_answer(struct link *link)
{
	struct line_hub *hub = link->hub;
	struct exchange *x = link->exchange;
	struct answer_piece came = {link->in->bytes + link->in->at, link->in->size - link->in->at};
	struct answer_piece piece;
	enum answer_step step = answer_reader_next(link->reader, &x->head, &came, &piece);
	link->in->at = link->in->size - came.size;
	switch (step) {
	case ANSWER_HEAD: hub_exchange_turns(hub, x, EXCHANGE_ANSWERS); return true;
	case ANSWER_BODY:
		link->is_held = piece.size && !exchange_take(x, piece.data, piece.size);
		if (link->is_held) {
			answer_reader_put_back(link->reader, &piece);
			link->in->at -= piece.size;
			return false;
		}
		hub_wake_reader(hub, x);
		return true;
	case ANSWER_END: answer_ends(link); return false;
	case ANSWER_SWITCHED:
		link_enter(link, LINK_SWITCHED);
		link_await(&link->tls_end, 0);
		hub_exchange_turns(hub, x, EXCHANGE_IS_SWITCHED);
		return false;
	case ANSWER_BAD: answer_breaks(link, "the node's answer is no HTTP"); return false;
	case ANSWER_MORE: break;
	}
	return link->in->at < link->in->size;
}

static void busy_turn(struct link *link)
{
	bool is_sent = send_asked(link);
	while (link->state == LINK_BUSY && !link->is_held) {
		if (take_answer(link))
			continue;
		if (link->state != LINK_BUSY || link->is_held)
			break;
		if (!link->in->has_ended && receive_answer(link))
			continue;
		if (!link->in->has_ended)
			break;
		if (answer_reader_ends(link->reader))
			answer_ends(link);
		else
			answer_breaks(link, "the node closed the connection and did not answer");
	}
	if (link->state == LINK_BUSY)
		link_await(
			&link->tls_end, (is_sent ? 0 : EPOLLOUT) | (link->is_held ? 0 : EPOLLIN));
}

// Over a connection that idles nothing comes but its end.
static void idle_turn(struct link *link)
{
	unsigned char byte;
	ssize_t size = gnutls_record_recv(link->tls, &byte, 1);
	if (size != GNUTLS_E_AGAIN && size != GNUTLS_E_INTERRUPTED)
		link_end(link);
}

void link_turn(struct link *link)
{
	switch (link->state) {
	case LINK_HANDSHAKE: shake_hands(link); break;
	case LINK_IDLE: idle_turn(link); break;
	case LINK_BUSY: busy_turn(link); break;
	case LINK_SWITCHED: link_end(link); break; // nothing is waited for but its end
	case LINK_GREETED: link_greeting_turn(link); break;
	case LINK_JOINED: link_join_turn(link); break;
	case LINK_DEAD:
	case LINK_STATES: break;
	}
}
