#include "tools/tls/tunnel.h"
#include "state/base/failpoint/failpoint.h"
#include <errno.h>
#include <gnutls/gnutls.h>
#include <poll.h>
#include <sys/socket.h>

// In one turn.
#define MOVES_MAX 64u

static ssize_t result_of(ssize_t size)
{
	if (size == GNUTLS_E_AGAIN || size == GNUTLS_E_INTERRUPTED)
		return -EAGAIN;
	return size < 0 ? -EIO : size;
}

static ssize_t receive_tls(void *tls, void *data, size_t size)
{
	return result_of(CAN_BREAK(
		TUNNEL_RECEIVE, GNUTLS_E_PULL_ERROR, gnutls_record_recv(tls, data, size)));
}

static ssize_t send_tls(void *tls, const void *data, size_t size)
{
	return result_of(
		CAN_BREAK(TUNNEL_SEND, GNUTLS_E_PUSH_ERROR, gnutls_record_send(tls, data, size)));
}

struct tunnel_session tunnel_session_of_tls(gnutls_session_t tls)
{
	return (struct tunnel_session){receive_tls, send_tls, tls};
}

static bool flow_is_empty(const struct tunnel_flow *flow)
{
	return flow->at == flow->size;
}

// What a read gave. False: nothing came.
static bool fill(struct tunnel_flow *flow, ssize_t size)
{
	flow->has_ended = size <= 0;
	flow->at = 0;
	flow->size = size > 0 ? (size_t)size : 0;
	return size > 0;
}

static bool fill_in(struct tunnel *t)
{
	ssize_t size = t->session.receive(t->session.context, t->in.bytes, TUNNEL_BYTES);
	if (size == -EAGAIN)
		return false;
	return fill(&t->in, size);
}

static bool fill_out(struct tunnel *t)
{
	ssize_t size = CAN_FAIL(TUNNEL_READ, recv(t->fd, t->out.bytes, TUNNEL_BYTES, MSG_DONTWAIT));
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	return fill(&t->out, size);
}

// What a write took. One that fails ends everything: nobody is there any more.
static bool empty(struct tunnel *t, struct tunnel_flow *flow, ssize_t size)
{
	if (size < 0)
		t->in.has_ended = t->out.has_ended = true;
	flow->at = size < 0 ? flow->size : flow->at + (size_t)size;
	return true;
}

static bool empty_in(struct tunnel *t)
{
	ssize_t size =
		CAN_FAIL(TUNNEL_WRITE, send(t->fd, t->in.bytes + t->in.at, t->in.size - t->in.at,
					       MSG_DONTWAIT | MSG_NOSIGNAL));
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	return empty(t, &t->in, size);
}

static bool empty_out(struct tunnel *t)
{
	ssize_t size = t->session.send(
		t->session.context, t->out.bytes + t->out.at, t->out.size - t->out.at);
	if (size == -EAGAIN)
		return false;
	return empty(t, &t->out, size);
}

// What is kept in the session is not seen by who waits for its socket: it is read until there is no more.
static bool move_both(struct tunnel *t)
{
	bool has_moved = !flow_is_empty(&t->out) && empty_out(t);
	has_moved = (!flow_is_empty(&t->in) && empty_in(t)) || has_moved;
	if (flow_is_empty(&t->out) && !t->out.has_ended)
		has_moved = fill_out(t) || has_moved;
	if (flow_is_empty(&t->in) && !t->in.has_ended)
		has_moved = fill_in(t) || has_moved;
	return has_moved;
}

static bool is_done(const struct tunnel_flow *flow)
{
	return flow->has_ended && flow_is_empty(flow);
}

bool tunnel_turn(struct tunnel *t)
{
	uint32_t moves = 0;
	while (moves < MOVES_MAX && move_both(t))
		moves++;
	t->has_moved = moves > 0;
	t->has_more = moves == MOVES_MAX;
	// What could be moved next waits for one of both to take something, and is in no socket perhaps.
	uint32_t more = t->has_more ? POLLOUT : 0;
	bool waits_in = flow_is_empty(&t->in), waits_out = flow_is_empty(&t->out);
	t->session_events =
		(waits_out ? more : POLLOUT) | (waits_in && !t->in.has_ended ? POLLIN : 0);
	t->fd_events = (waits_in ? more : POLLOUT) | (waits_out && !t->out.has_ended ? POLLIN : 0);
	return !is_done(&t->in) && !is_done(&t->out);
}
