// Bytes both ways between a node and a socket, as they come, until one side ends.
#include "state/base/check.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "tools/api/line/line_hub_private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static void flow_keep(struct tunnel_flow *flow, const void *data, size_t size)
{
	CHECK(size <= TUNNEL_BYTES);
	if (size)
		memcpy(flow->bytes, data, size);
	flow->size = size;
}

// Whoever opens connections and says nothing keeps nobody out.
static void begin_greeting(struct link *link)
{
	struct line_hub *hub = link->hub;
	struct link *other, *oldest = NULL;
	cds_list_for_each_entry (other, &hub->links, all)
		if (other->state == LINK_GREETED && (!oldest || other->since_ns < oldest->since_ns))
			oldest = other;
	if (hub->states[LINK_GREETED] >= LINE_GREETINGS_MAX)
		link_end(oldest);
	link_enter(link, LINK_GREETED);
	link_await(&link->tls_end, 0);
	link_greeting_turn(link);
}

void link_greeting_turn(struct link *link)
{
	const struct exchange_joint *joint = &link->exchange->joint;
	struct tunnel_flow *out = &link->tunnel->out;
	ssize_t came = 0;
	do {
		out->size += (size_t)came;
		switch (link->exchange->judge(joint->context, joint->fd, out->bytes, &out->size)) {
		case JOINT_SPEAKS:
			link_enter(link, LINK_JOINED);
			link_join_turn(link);
			return;
		case JOINT_ENDS: link_end(link); return;
		case JOINT_WAITS: break;
		}
		came = recv(
			joint->fd, out->bytes + out->size, TUNNEL_BYTES - out->size, MSG_DONTWAIT);
	} while (came > 0);
	if (came == 0 || (errno != EAGAIN && errno != EINTR))
		link_end(link);
}

void link_join(struct link *link, int fd, const void *extra, size_t extra_size)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &link->plain_end};
	if (extra_size > TUNNEL_BYTES ||
		CAN_FAIL(LINE_JOIN, epoll_ctl(link->hub->epoll_fd, EPOLL_CTL_ADD, fd, &event)) <
			0) {
		if (!link->exchange)
			close(fd);
		link_refuse(link, LINE_REFUSED_TOO_MANY);
		return;
	}
	link->plain_end.fd = fd;
	link->plain_end.events = EPOLLIN;
	link->tunnel = memory_take(sizeof *link->tunnel);
	link->tunnel->session = tunnel_session_of_tls(link->tls);
	link->tunnel->fd = fd;
	flow_keep(&link->tunnel->out, extra, extra_size);
	if (link->in)
		flow_keep(&link->tunnel->in, link->in->bytes + link->in->at,
			link->in->size - link->in->at);
	if (link->exchange && link->exchange->judge) {
		begin_greeting(link);
		return;
	}
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
	link_await(&link->tls_end, link->tunnel->session_events);
	link_await(&link->plain_end, link->tunnel->fd_events);
}
