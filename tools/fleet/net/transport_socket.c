#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/client/endpoint.h"
#include "tools/fleet/net/transport.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (8 << 20)

struct sockets {
	struct transport transport; // first
	const char *source;         // the caller's
	uint32_t next;              // first lane to read, so that none starves
	struct pollfd polled[64];
};

#define LANES_MAX (sizeof((struct sockets *)0)->polled / sizeof(struct pollfd))

static uint32_t send_burst(struct transport *t, uint32_t lane, struct frame *frames, uint32_t count)
{
	struct sockets *s = (struct sockets *)t;
	struct mmsghdr messages[BURST_MAX] = {0};
	struct iovec parts[BURST_MAX];
	for (uint32_t i = 0; i < count; i++) {
		parts[i] = (struct iovec){frames[i].data, frames[i].size};
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	uint32_t sent = 0;
	while (sent < count) {
		int n = sendmmsg(s->polled[lane].fd, messages + sent, count - sent, 0);
		if (n > 0)
			sent += (uint32_t)n;
		else if (errno != EINTR && errno != ECONNREFUSED)
			break; // full buffer or no route: the frame is lost, as on a wire
	}
	return sent;
}

static uint32_t receive_lane(int fd, struct frame *frames, uint32_t count)
{
	struct mmsghdr messages[BURST_MAX] = {0};
	struct iovec parts[BURST_MAX];
	if (count > BURST_MAX)
		count = BURST_MAX;
	for (uint32_t i = 0; i < count; i++) {
		parts[i] = (struct iovec){frames[i].data, sizeof frames[i].data};
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	int n;
	do {
		n = recvmmsg(fd, messages, count, MSG_DONTWAIT, NULL);
	} while (n < 0 && (errno == EINTR || errno == ECONNREFUSED));
	for (int i = 0; i < n; i++)
		frames[i].size = messages[i].msg_len;
	return n > 0 ? (uint32_t)n : 0;
}

static uint32_t receive_burst(struct transport *t, struct frame *frames, uint32_t count)
{
	struct sockets *s = (struct sockets *)t;
	uint32_t received = 0;
	for (uint32_t i = 0; i < t->lanes && received < count; i++) {
		uint32_t lane = (s->next + i) % t->lanes;
		received += receive_lane(s->polled[lane].fd, frames + received, count - received);
	}
	s->next = (s->next + 1) % t->lanes;
	return received;
}

static void wait_for_any(struct transport *t, uint32_t timeout_us)
{
	struct sockets *s = (struct sockets *)t;
	struct timespec timeout = {
		.tv_sec = timeout_us / US_PER_S, .tv_nsec = (long)(timeout_us % US_PER_S) * 1000};
	ppoll(s->polled, t->lanes, &timeout, NULL);
}

static void close_all(struct transport *t)
{
	struct sockets *s = (struct sockets *)t;
	for (uint32_t i = 0; i < t->lanes; i++)
		if (s->polled[i].fd >= 0)
			close(s->polled[i].fd);
	free(s);
}

// Root may exceed the system's limit; other users get as much as it allows.
static void enlarge_buffer(int fd, int forced, int plain)
{
	int bytes = BUFFER_BYTES;
	if (setsockopt(fd, SOL_SOCKET, forced, &bytes, sizeof bytes) < 0)
		setsockopt(fd, SOL_SOCKET, plain, &bytes, sizeof bytes);
}

static int open_lane(
	const struct sockets *s, const char *server, char *message, uint32_t message_size)
{
	int fd = endpoint_connect(server, s->source, message, message_size);
	if (fd < 0)
		return fd;
	enlarge_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF);
	enlarge_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF);
	return fd;
}

static bool turn_sockets(struct transport *t, const char *server)
{
	struct sockets *s = (struct sockets *)t;
	int fds[LANES_MAX];
	char message[200];
	for (uint32_t i = 0; i < t->lanes; i++) {
		fds[i] = open_lane(s, server, message, sizeof message);
		if (fds[i] >= 0)
			continue;
		while (i-- > 0)
			close(fds[i]);
		return false;
	}
	for (uint32_t i = 0; i < t->lanes; i++) {
		close(s->polled[i].fd);
		s->polled[i].fd = fds[i];
	}
	return true;
}

struct transport *transport_socket_open(const char *server, const char *source, uint32_t lanes,
	char *message, uint32_t message_size)
{
	struct sockets *s = memory_take(sizeof *s);
	s->source = source;
	s->transport = (struct transport){.send = send_burst,
		.receive = receive_burst,
		.wait = wait_for_any,
		.turn_to = turn_sockets,
		.close = close_all};
	if (lanes == 0 || lanes > LANES_MAX)
		lanes = lanes ? LANES_MAX : 1;
	for (uint32_t i = 0; i < lanes; i++) {
		int fd = open_lane(s, server, message, message_size);
		if (fd < 0) {
			close_all(&s->transport);
			return NULL;
		}
		s->polled[i] = (struct pollfd){.fd = fd, .events = POLLIN};
		s->transport.lanes++;
	}
	return &s->transport;
}
