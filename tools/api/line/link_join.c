// Bytes both ways between a node and a socket, as they come, until one side ends.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "tools/api/line/line_hub_private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

void link_join(struct link *link, int fd, const void *extra, size_t extra_size)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &link->plain_end};
	CHECK(extra_size <= LINK_BYTES);
	if (epoll_ctl(link->hub->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
		link_end(link);
		return;
	}
	link->plain_end.fd = fd;
	link->plain_end.events = EPOLLIN;
	if (!link->in)
		link->in = memory_take(sizeof *link->in);
	link->out = memory_take(sizeof *link->out);
	if (extra_size)
		memcpy(link->out->bytes, extra, extra_size);
	link->out->size = extra_size;
	link->in_ended = link->out_ended = false;
	link_enter(link, LINK_JOINED);
	link_join_turn(link);
}

static bool is_empty(const struct link_flow *flow)
{
	return flow->at == flow->size;
}

// From the socket. False: nothing came.
static bool fill_out(struct link *link)
{
	ssize_t size = recv(link->plain_end.fd, link->out->bytes, LINK_BYTES, MSG_DONTWAIT);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	link->out_ended = size <= 0;
	link->out->at = 0;
	link->out->size = size > 0 ? (size_t)size : 0;
	return size > 0;
}

// To the node. False: nothing moved.
static bool empty_out(struct link *link)
{
	struct link_flow *out = link->out;
	ssize_t size = gnutls_record_send(link->tls, out->bytes + out->at, out->size - out->at);
	if (size == GNUTLS_E_AGAIN || size == GNUTLS_E_INTERRUPTED)
		return false;
	if (size < 0)
		link->in_ended = link->out_ended = true;
	out->at = size < 0 ? out->size : out->at + (size_t)size;
	return true;
}

// To the socket. False: nothing moved.
static bool empty_in(struct link *link)
{
	struct link_flow *in = link->in;
	ssize_t size = send(link->plain_end.fd, in->bytes + in->at, in->size - in->at,
		MSG_DONTWAIT | MSG_NOSIGNAL);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (size < 0)
		link->in_ended = link->out_ended = true;
	in->at = size < 0 ? in->size : in->at + (size_t)size;
	return true;
}

static bool move_bytes(struct link *link)
{
	bool moved = !is_empty(link->out) && empty_out(link);
	moved = (!is_empty(link->in) && empty_in(link)) || moved;
	if (is_empty(link->out) && !link->out_ended)
		moved = fill_out(link) || moved;
	if (is_empty(link->in) && !link->in_ended)
		moved = link_receive(link, link->in, &link->in_ended) || moved;
	if (moved)
		link->since_ns = hub_now_ns(link->hub);
	return moved;
}

void link_join_turn(struct link *link)
{
	while (move_bytes(link))
		continue;
	// What one side said last still reaches the other.
	if ((link->in_ended && is_empty(link->in)) || (link->out_ended && is_empty(link->out))) {
		link_end(link);
		return;
	}
	link_await(&link->tls_end, (is_empty(link->out) ? 0 : EPOLLOUT) |
					   (is_empty(link->in) && !link->in_ended ? EPOLLIN : 0));
	link_await(
		&link->plain_end, (is_empty(link->in) ? 0 : EPOLLOUT) |
					  (is_empty(link->out) && !link->out_ended ? EPOLLIN : 0));
}
