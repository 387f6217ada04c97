#include "bench/harness/datagrams.h"
#include "dataplane/port/socket_port.h"
#include "state/base/check.h"
#include <arpa/inet.h>
#include <sys/socket.h>
#include <time.h>

#define HEADERS_BYTES (HEARTBEAT_PACKET_BYTES - WIRE_HEARTBEAT_BYTES)

struct burst_of_datagrams {
	struct mmsghdr messages[BURST_MAX];
	struct iovec parts[BURST_MAX];
	struct sockaddr_in names[BURST_MAX];
	uint8_t bytes[BURST_MAX][2048];
};

static void point_to(struct burst_of_datagrams *b, uint32_t offset, uint32_t size, bool is_named)
{
	for (uint32_t i = 0; i < BURST_MAX; i++) {
		b->parts[i] = (struct iovec){b->bytes[i] + offset, size};
		b->messages[i].msg_hdr = (struct msghdr){.msg_iov = &b->parts[i],
			.msg_iovlen = 1,
			.msg_name = is_named ? &b->names[i] : NULL,
			.msg_namelen = is_named ? sizeof b->names[i] : 0};
	}
}

static struct sockaddr_in name_of(const char *address)
{
	struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(WIRE_PORT)};
	CHECK(inet_pton(AF_INET, address, &name.sin_addr) == 1);
	return name;
}

static int open_socket(void)
{
	const int bytes = SOCKET_BUFFER_BYTES;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(fd >= 0);
	CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) == 0);
	CHECK(setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) == 0);
	return fd;
}

static int connect_to(const char *address)
{
	const struct sockaddr_in name = name_of(address);
	int fd = open_socket();
	CHECK(connect(fd, (const struct sockaddr *)&name, sizeof name) == 0);
	return fd;
}

int datagrams_open(const char *address)
{
	const struct sockaddr_in name = name_of(address);
	int fd = open_socket();
	CHECK(bind(fd, (const struct sockaddr *)&name, sizeof name) == 0);
	return fd;
}

static void take_answers(int fd, struct datagrams *d)
{
	static struct burst_of_datagrams answered;
	int got;
	do {
		point_to(&answered, 0, sizeof answered.bytes[0], false);
		got = recvmmsg(fd, answered.messages, BURST_MAX, MSG_DONTWAIT, NULL);
		if (got > 0)
			atomic_fetch_add_explicit(&d->answers, (uint64_t)got, memory_order_relaxed);
	} while (got == (int)BURST_MAX);
}

static void wait_for_target(const struct datagrams *d)
{
	const struct timespec a_little = {.tv_nsec = 1000000};
	while (atomic_load(&d->target) == 0)
		nanosleep(&a_little, NULL);
}

_Noreturn void datagrams_generate(struct heartbeats *h, struct datagrams *d)
{
	static struct burst_of_datagrams sent;
	uint8_t *packets[BURST_MAX];
	int fds[DATAGRAM_SERVERS];
	wait_for_target(d);
	for (uint32_t i = 0; i < DATAGRAM_SERVERS; i++)
		fds[i] = connect_to(d->servers[i]);
	point_to(&sent, HEADERS_BYTES, WIRE_HEARTBEAT_BYTES, false);
	for (uint32_t i = 0; i < BURST_MAX; i++)
		packets[i] = sent.bytes[i];
	for (;;) {
		uint32_t target = atomic_load_explicit(&d->target, memory_order_relaxed);
		if (target == 0) {
			wait_for_target(d);
			continue;
		}
		heartbeats_build(h, packets, BURST_MAX);
		// What the other side has no room for is lost, as on a wire.
		(void)!sendmmsg(fds[target - 1], sent.messages, BURST_MAX, 0);
		take_answers(fds[target - 1], d);
	}
}

uint32_t datagrams_echo(int fd)
{
	static struct burst_of_datagrams b;
	point_to(&b, 0, sizeof b.bytes[0], true);
	int got = recvmmsg(fd, b.messages, BURST_MAX, MSG_DONTWAIT, NULL);
	if (got <= 0)
		return 0;
	for (int i = 0; i < got; i++)
		b.parts[i].iov_len = b.messages[i].msg_len;
	(void)!sendmmsg(fd, b.messages, (unsigned)got, MSG_DONTWAIT);
	return (uint32_t)got;
}
