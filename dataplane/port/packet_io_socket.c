#include "dataplane/port/packet_io_socket.h"
#include "dataplane/hot/counters.h"
#include "state/base/check.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

// In front of a datagram; its headers end there, so that frames begin at a line of the cache.
#define HEADROOM_BYTES 64u
#define CELL_BYTES 2048u
// One more than a frame has: what is longer, however much the kernel cuts off, is refused for its size.
#define DATAGRAM_BYTES (FRAME_BYTES_MAX + 1u)
// What the kernel fills next, and what the worker holds: one received and one taken burst.
#define CELLS (3 * BURST_MAX)

#define IPV4_HEADERS (ETHER_BYTES + IPV4_BYTES + UDP_BYTES)
#define IPV6_HEADERS (ETHER_BYTES + IPV6_BYTES + UDP_BYTES)

struct cell {
	uint8_t bytes[CELL_BYTES];
} __attribute__((aligned(64)));

union socket_name {
	struct sockaddr any;
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;
};

// Messages for one call, with what they point to.
struct messages {
	struct mmsghdr headers[BURST_MAX];
	struct iovec parts[BURST_MAX];
	union socket_name names[BURST_MAX];
};

struct socket_queue {
	struct socket_end ends[SOCKET_ENDS_MAX];
	uint32_t end_count;
	uint32_t first; // is read first the next time, so that none starves
	int bell;
	uint32_t free_count;
	struct cell *free[CELLS];
	struct cell *next[BURST_MAX]; // of messages in `in`
	struct messages in, out;
	struct socket_counts counts;
	struct cell cells[CELLS];
};

static void queue_give(struct socket_queue *q, struct cell *cell)
{
	CHECK(q->free_count < CELLS);
	q->free[q->free_count++] = cell;
}

// NULL when the worker holds all of them.
static struct cell *queue_take(struct socket_queue *q)
{
	return q->free_count == 0 ? NULL : q->free[--q->free_count];
}

static void await_datagram(struct socket_queue *q, uint32_t i, struct cell *cell)
{
	q->next[i] = cell;
	q->in.parts[i] = (struct iovec){cell->bytes + HEADROOM_BYTES, DATAGRAM_BYTES};
	q->in.headers[i].msg_hdr.msg_namelen = sizeof q->in.names[i];
}

static void messages_begin(struct messages *m)
{
	for (uint32_t i = 0; i < BURST_MAX; i++)
		m->headers[i].msg_hdr = (struct msghdr){
			.msg_name = &m->names[i], .msg_iov = &m->parts[i], .msg_iovlen = 1};
}

static void put_network16(uint8_t *data, uint32_t value)
{
	word16_put(data, swapped16(value));
}

static void put_ethernet(uint8_t *data, uint32_t ethertype)
{
	memcpy(data, SOCKET_OUR_MAC, 6);
	memcpy(data + 6, SOCKET_THEIR_MAC, 6);
	put_network16(data + 12, ethertype);
}

// The kernel has verified the checksum, if there was one.
static void put_udp(
	uint8_t *udp, const struct socket_end *end, in_port_t source, uint32_t udp_bytes)
{
	memcpy(udp, &source, 2);
	put_network16(udp + 2, end->udp_port);
	put_network16(udp + 4, udp_bytes);
	put_network16(udp + 6, 0);
}

static void put_ipv4(uint8_t *data, const struct socket_end *end, const struct sockaddr_in *source,
	uint32_t udp_bytes)
{
	static const uint8_t start[12] = {0x45, [6] = 0x40, [8] = HOP_LIMIT, PROTOCOL_UDP};
	uint8_t *ip = data + ETHER_BYTES;
	put_ethernet(data, ETHERTYPE_IPV4);
	memcpy(ip, start, sizeof start);
	put_network16(ip + 2, IPV4_BYTES + udp_bytes);
	memcpy(ip + 12, &source->sin_addr, 4);
	memcpy(ip + 16, end->address, 4);
	word16_put(ip + 10,
		(uint16_t)~checksum_fold(checksum_add((struct checksum_sum){0}, ip, IPV4_BYTES)));
	put_udp(ip + IPV4_BYTES, end, source->sin_port, udp_bytes);
}

static void put_ipv6(uint8_t *data, const struct socket_end *end, const struct sockaddr_in6 *source,
	uint32_t udp_bytes)
{
	static const uint8_t start[8] = {0x60, [6] = PROTOCOL_UDP, HOP_LIMIT};
	uint8_t *ip = data + ETHER_BYTES;
	put_ethernet(data, ETHERTYPE_IPV6);
	memcpy(ip, start, sizeof start);
	put_network16(ip + 4, udp_bytes);
	memcpy(ip + 8, &source->sin6_addr, 16);
	memcpy(ip + 24, end->address, 16);
	put_udp(ip + IPV6_BYTES, end, source->sin6_port, udp_bytes);
}

static uint32_t header_bytes_of(const struct socket_end *end)
{
	return end->ipv6 ? IPV6_HEADERS : IPV4_HEADERS;
}

// Makes message i a packet of the burst.
static void lend_datagram(struct socket_queue *q, const struct socket_end *end, uint32_t i,
	struct packet_burst *burst)
{
	struct cell *cell = q->next[i];
	uint32_t bytes = q->in.headers[i].msg_len, headers = header_bytes_of(end);
	uint8_t *data = cell->bytes + HEADROOM_BYTES - headers;
	if (end->ipv6)
		put_ipv6(data, end, &q->in.names[i].ipv6, UDP_BYTES + bytes);
	else
		put_ipv4(data, end, &q->in.names[i].ipv4, UDP_BYTES + bytes);
	burst->handles[burst->count] = cell;
	burst->packets[burst->count++] = (struct packet){.data = data,
		.size = headers + bytes,
		.capacity = CELL_BYTES - HEADROOM_BYTES + headers,
		.checksum = PACKET_CHECKSUM_GOOD,
		.segments = 1};
	counter_add(&q->counts.received_bytes, headers + bytes);
}

static void receive_from(
	struct socket_queue *q, const struct socket_end *end, struct packet_burst *burst)
{
	int got = CAN_FAIL(PORT_RECEIVE,
		recvmmsg(end->fd, q->in.headers, BURST_MAX - burst->count, MSG_DONTWAIT, NULL));
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		counter_add(&q->counts.errors, 1);
	for (int i = 0; i < got; i++) {
		struct cell *cell = queue_take(q);
		CHECK(cell != NULL); // the worker holds no more than its bursts
		lend_datagram(q, end, (uint32_t)i, burst);
		await_datagram(q, (uint32_t)i, cell);
	}
	if (got > 0)
		counter_add(&q->counts.received, (uint32_t)got);
}

static void socket_receive(void *context, struct packet_burst *burst)
{
	struct socket_queue *q = context;
	burst->count = 0;
	for (uint32_t i = 0; i < q->end_count && burst->count < BURST_MAX; i++)
		receive_from(q, &q->ends[(q->first + i) % q->end_count], burst);
	q->first = (q->first + 1) % q->end_count;
}

static void socket_take(void *context, struct packet_burst *burst, uint32_t count)
{
	struct socket_queue *q = context;
	burst->count = 0;
	while (burst->count < count && burst->count < BURST_MAX) {
		struct cell *cell = queue_take(q);
		if (cell == NULL)
			return;
		burst->handles[burst->count] = cell;
		burst->packets[burst->count++] =
			(struct packet){.data = cell->bytes + HEADROOM_BYTES - IPV6_HEADERS,
				.capacity = CELL_BYTES - HEADROOM_BYTES + IPV6_HEADERS,
				.segments = 1};
	}
}

// True for a datagram from the end's address. Anything else that the packet path makes (an announcement of an address)
// is the kernel's to send.
static bool is_from(const struct socket_end *end, const struct packet *p)
{
	const uint8_t *ip = p->data + ETHER_BYTES;
	if (p->size < header_bytes_of(end))
		return false;
	uint32_t ethertype = net16(p->data + 12);
	return end->ipv6 ? ethertype == ETHERTYPE_IPV6 && ip[6] == PROTOCOL_UDP &&
				   memcmp(ip + 8, end->address, 16) == 0
			 : ethertype == ETHERTYPE_IPV4 && ip[9] == PROTOCOL_UDP &&
				   memcmp(ip + 12, end->address, 4) == 0;
}

static void address_message(
	struct messages *m, uint32_t i, const struct socket_end *end, const struct packet *p)
{
	uint32_t headers = header_bytes_of(end);
	const uint8_t *ip = p->data + ETHER_BYTES, *udp = p->data + headers - UDP_BYTES;
	union socket_name *name = &m->names[i];
	if (end->ipv6) {
		name->ipv6 = (struct sockaddr_in6){.sin6_family = AF_INET6};
		memcpy(&name->ipv6.sin6_port, udp + 2, 2);
		memcpy(&name->ipv6.sin6_addr, ip + 24, 16);
	} else {
		name->ipv4 = (struct sockaddr_in){.sin_family = AF_INET};
		memcpy(&name->ipv4.sin_port, udp + 2, 2);
		memcpy(&name->ipv4.sin_addr, ip + 16, 4);
	}
	m->headers[i].msg_hdr.msg_namelen = end->ipv6 ? sizeof name->ipv6 : sizeof name->ipv4;
	m->parts[i] = (struct iovec){p->data + headers, p->size - headers};
}

static void count_sent(struct socket_queue *q, uint32_t headers, uint32_t first, uint32_t count)
{
	uint64_t bytes = (uint64_t)headers * count;
	for (uint32_t i = first; i < first + count; i++)
		bytes += q->out.parts[i].iov_len;
	counter_add(&q->counts.sent, count);
	counter_add(&q->counts.sent_bytes, bytes);
}

// Who cannot be reached costs nobody else an answer. Returns how many were sent.
static uint32_t send_messages(struct socket_queue *q, const struct socket_end *end, uint32_t count)
{
	uint32_t next = 0, sent = 0;
	while (next < count) {
		int done = CAN_FAIL(PORT_SEND,
			sendmmsg(end->fd, q->out.headers + next, count - next, MSG_DONTWAIT));
		if (done > 0) {
			count_sent(q, header_bytes_of(end), next, (uint32_t)done);
			next += (uint32_t)done;
			sent += (uint32_t)done;
		} else if (errno == EAGAIN || errno == ENOBUFS) {
			break; // there is no room for the others either
		} else if (errno != EINTR) {
			next++;
		}
	}
	return sent;
}

// Sends the burst's answers from one end. Returns how many.
static uint32_t send_from(
	struct socket_queue *q, const struct socket_end *end, const struct packet_burst *burst)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < burst->count; i++) {
		const struct packet *p = &burst->packets[i];
		if (p->verdict == PACKET_REPLY && is_from(end, p))
			address_message(&q->out, count++, end, p);
	}
	return send_messages(q, end, count);
}

static uint32_t socket_finish(void *context, struct packet_burst *burst)
{
	struct socket_queue *q = context;
	uint32_t replies = 0, sent = 0;
	for (uint32_t i = 0; i < burst->count; i++)
		replies += burst->packets[i].verdict == PACKET_REPLY;
	for (uint32_t i = 0; i < q->end_count && sent < replies; i++)
		sent += send_from(q, &q->ends[i], burst);
	for (uint32_t i = 0; i < burst->count; i++)
		queue_give(q, burst->handles[i]);
	burst->count = 0;
	if (sent < replies)
		counter_add(&q->counts.errors, replies - sent);
	return replies - sent;
}

static int socket_bell(void *context)
{
	return ((const struct socket_queue *)context)->bell;
}

struct packet_io socket_queue_io(struct socket_queue *q)
{
	return (struct packet_io){.context = q,
		.receive = socket_receive,
		.take = socket_take,
		.finish = socket_finish,
		.bell = socket_bell};
}

// A worker polls one descriptor: its socket, or what can be read while one of them can.
static int open_bell(struct socket_queue *q)
{
	if (q->end_count == 1) {
		q->bell = q->ends[0].fd;
		return 0;
	}
	q->bell = CAN_FAIL(PORT_EPOLL, epoll_create1(EPOLL_CLOEXEC));
	if (q->bell < 0)
		return -errno;
	for (uint32_t i = 0; i < q->end_count; i++) {
		struct epoll_event event = {.events = EPOLLIN};
		if (CAN_FAIL(PORT_WATCH,
			    epoll_ctl(q->bell, EPOLL_CTL_ADD, q->ends[i].fd, &event)) != 0)
			return -errno;
	}
	return 0;
}

int socket_queue_open(
	const struct socket_end *ends, uint32_t end_count, struct socket_queue **queue)
{
	CHECK(end_count > 0 && end_count <= SOCKET_ENDS_MAX);
	struct socket_queue *q = memory_take_aligned(_Alignof(struct socket_queue), sizeof *q);
	memcpy(q->ends, ends, end_count * sizeof ends[0]);
	q->end_count = end_count;
	for (uint32_t i = CELLS; i-- > BURST_MAX;)
		queue_give(q, &q->cells[i]);
	messages_begin(&q->in);
	messages_begin(&q->out);
	for (uint32_t i = 0; i < BURST_MAX; i++)
		await_datagram(q, i, &q->cells[i]);
	int error = open_bell(q);
	if (error == 0)
		*queue = q;
	else
		socket_queue_close(q);
	return error;
}

void socket_queue_close(struct socket_queue *q)
{
	if (q == NULL)
		return;
	if (q->end_count > 1 && q->bell >= 0)
		close(q->bell);
	for (uint32_t i = 0; i < q->end_count; i++)
		close(q->ends[i].fd);
	free(q);
}

const struct socket_counts *socket_queue_counts(const struct socket_queue *q)
{
	return &q->counts;
}

uint64_t socket_queue_missed(struct socket_queue *q)
{
	uint64_t missed = 0;
	for (uint32_t i = 0; i < q->end_count; i++) {
		uint32_t values[SK_MEMINFO_VARS];
		socklen_t size = sizeof values;
		// The kernel's count goes round; each drop is in it at once, also when no datagram follows.
		if (CAN_FAIL(PORT_DROPS, getsockopt(q->ends[i].fd, SOL_SOCKET, SO_MEMINFO, values,
						 &size)) != 0 ||
			size <= SK_MEMINFO_DROPS * sizeof values[0]) {
			log_warn("port-drops-unknown",
				"meaning=\"what the socket drops is counted later\"");
			continue;
		}
		missed += (uint32_t)(values[SK_MEMINFO_DROPS] - q->ends[i].drops_seen);
		q->ends[i].drops_seen = values[SK_MEMINFO_DROPS];
	}
	return missed;
}
