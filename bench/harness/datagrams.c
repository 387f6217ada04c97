#include "bench/harness/datagrams.h"
#include "state/base/check.h"
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

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

static int connect_loopback(uint16_t udp_port)
{
	const struct sockaddr_in server = {.sin_family = AF_INET,
		.sin_port = htons(udp_port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(fd >= 0 && connect(fd, (const struct sockaddr *)&server, sizeof server) == 0);
	return fd;
}

void datagrams_generate(struct heartbeats *h, uint16_t udp_port, const _Atomic bool *stop)
{
	static struct burst_of_datagrams sent, answered;
	uint8_t *packets[BURST_MAX];
	int fd = connect_loopback(udp_port);
	point_to(&sent, HEADERS_BYTES, WIRE_HEARTBEAT_BYTES, false);
	for (uint32_t i = 0; i < BURST_MAX; i++)
		packets[i] = sent.bytes[i];
	while (!atomic_load_explicit(stop, memory_order_relaxed)) {
		heartbeats_build(h, packets, BURST_MAX);
		// What the other side has no room for is lost, as on a wire.
		(void)!sendmmsg(fd, sent.messages, BURST_MAX, 0);
		do
			point_to(&answered, 0, sizeof answered.bytes[0], false);
		while (recvmmsg(fd, answered.messages, BURST_MAX, MSG_DONTWAIT, NULL) == BURST_MAX);
	}
	close(fd);
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
