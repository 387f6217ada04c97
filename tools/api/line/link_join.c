// Bytes both ways between a node and a socket, as they come, until one side ends.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "tools/api/line/line_hub_private.h"
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static void flow_keep(struct tunnel_flow *flow, const void *data, size_t size)
{
	CHECK(size <= TUNNEL_BYTES);
	if (size)
		memcpy(flow->bytes, data, size);
	flow->size = size;
}

void link_join(struct link *link, int fd, const void *extra, size_t extra_size)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &link->plain_end};
	if (extra_size > TUNNEL_BYTES ||
		epoll_ctl(link->hub->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
		if (!link->exchange)
			close(fd);
		link_end(link);
		return;
	}
	link->plain_end.fd = fd;
	link->plain_end.events = EPOLLIN;
	link->tunnel = memory_take(sizeof *link->tunnel);
	link->tunnel->tls = link->tls;
	link->tunnel->fd = fd;
	flow_keep(&link->tunnel->out, extra, extra_size);
	if (link->in)
		flow_keep(&link->tunnel->in, link->in->bytes + link->in->at,
			link->in->size - link->in->at);
	link_enter(link, LINK_JOINED);
	link_join_turn(link);
}

void link_join_turn(struct link *link)
{
	bool goes_on = tunnel_turn(link->tunnel);
	if (link->tunnel->has_moved)
		link->since_ns = hub_now_ns(link->hub);
	if (!goes_on) {
		link_end(link);
		return;
	}
	link_await(&link->tls_end, link->tunnel->tls_events);
	link_await(&link->plain_end, link->tunnel->fd_events);
}
