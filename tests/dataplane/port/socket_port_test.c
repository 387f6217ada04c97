// Ports of UDP sockets on the loopback, for real: what the packet path sees of a datagram, where its answers go, what
// is dropped, refused and counted, and who may have an address. Needs no rights.
#include "dataplane/hot/headers.h"
#include "dataplane/port/beside_kernel.h"
#include "dataplane/port/port.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_MS 5000
#define HEADERS_IPV4 (ETHER_BYTES + IPV4_BYTES + UDP_BYTES)
#define HEADERS_IPV6 (ETHER_BYTES + IPV6_BYTES + UDP_BYTES)

static char message[256];

// Addresses up to a NULL; every port of a test is at the same UDP port, which was free.
static struct port_settings sockets_at(uint32_t queues, const char *address, ...)
{
	struct port_settings s = {.io = "socket", .queues = queues};
	va_list more;
	va_start(more, address);
	for (; address != NULL; address = va_arg(more, const char *))
		snprintf(s.addresses[s.address_count++], sizeof s.addresses[0], "%s", address);
	va_end(more);
	return s;
}

static int try_port(struct ethernet_port *port, const struct port_settings *s, uint16_t udp_port)
{
	*port = (struct ethernet_port){0};
	int error = device_resolve(s, 2, &port->device, message, sizeof message);
	return error != 0 ? error : port_start(port, s, 2, udp_port, NULL, message, sizeof message);
}

static uint16_t free_udp_port(void)
{
	struct sockaddr_in name = {.sin_family = AF_INET};
	socklen_t size = sizeof name;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &size), 0);
	close(fd);
	return ntohs(name.sin_port);
}

static struct ethernet_port *port_at(const struct port_settings *s)
{
	struct ethernet_port *port = malloc(sizeof *port);
	int error = -EADDRINUSE;
	for (int tries = 0; error == -EADDRINUSE && tries < 20; tries++)
		error = try_port(port, s, free_udp_port());
	if (error != 0)
		fail_msg("%s", message);
	return port;
}

static void end_port(struct ethernet_port *port)
{
	port_stop(port);
	port_close(port);
	free(port);
}

static bool has_ipv6(void)
{
	struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);
	bool has = fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof name) == 0;
	if (fd >= 0)
		close(fd);
	return has;
}

// A node: a socket that is connected to the port's address.
static int node_of(const struct ethernet_port *port, const char *address)
{
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port->hot.udp_port)};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = four.sin_port};
	bool is_four = inet_pton(AF_INET, address, &four.sin_addr) == 1;
	assert_true(is_four || inet_pton(AF_INET6, address, &six.sin6_addr) == 1);
	int fd = socket(is_four ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	assert_int_equal(is_four ? connect(fd, (struct sockaddr *)&four, sizeof four)
				 : connect(fd, (struct sockaddr *)&six, sizeof six),
		0);
	return fd;
}

static uint16_t port_of(int fd)
{
	struct sockaddr_in6 name;
	socklen_t size = sizeof name;
	assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &size), 0);
	return ntohs(name.sin6_port); // at the same place in both families
}

static void say(int node, uint8_t fill, uint32_t bytes)
{
	uint8_t data[2048];
	memset(data, fill, sizeof data);
	assert_int_equal(send(node, data, bytes, 0), bytes);
}

// Returns the size of the answer that the node waits for, or -1.
static ssize_t hear(int node, uint8_t *data, size_t size)
{
	struct pollfd fd = {.fd = node, .events = POLLIN};
	return poll(&fd, 1, PATIENCE_MS) == 1 ? recv(node, data, size, 0) : -1;
}

static bool hears_nothing(int node)
{
	uint8_t data[16];
	return recv(node, data, sizeof data, 0) < 0 && errno == EAGAIN;
}

// What has arrived, after the bell has rung.
static void receive(const struct packet_io *io, struct packet_burst *burst)
{
	struct pollfd fd = {.fd = io->bell(io->context), .events = POLLIN};
	assert_true(fd.fd >= 0);
	assert_int_equal(poll(&fd, 1, PATIENCE_MS), 1);
	io->receive(io->context, burst);
}

static void is_silent(const struct packet_io *io)
{
	struct pollfd fd = {.fd = io->bell(io->context), .events = POLLIN};
	struct packet_burst burst;
	assert_int_equal(poll(&fd, 1, 0), 0);
	io->receive(io->context, &burst);
	assert_int_equal(burst.count, 0);
}

static void swap(uint8_t *a, uint8_t *b, size_t bytes)
{
	uint8_t kept[16];
	memcpy(kept, a, bytes);
	memcpy(a, b, bytes);
	memcpy(b, kept, bytes);
}

// Makes an answer of a packet: to whom it came from, of that many bytes.
static void turn_around(struct packet *p, uint8_t fill, uint32_t bytes)
{
	bool ipv6 = net16(p->data + 12) == ETHERTYPE_IPV6;
	uint8_t *ip = p->data + ETHER_BYTES, *udp = ip + (ipv6 ? IPV6_BYTES : IPV4_BYTES);
	if (ipv6)
		swap(ip + 8, ip + 24, 16);
	else
		swap(ip + 12, ip + 16, 4);
	swap(udp, udp + 2, 2);
	memset(udp + UDP_BYTES, fill, bytes);
	p->size = (ipv6 ? HEADERS_IPV6 : HEADERS_IPV4) + bytes;
	p->verdict = PACKET_REPLY;
}

static uint32_t drop_all(const struct packet_io *io, struct packet_burst *burst)
{
	for (uint32_t i = 0; i < burst->count; i++)
		burst->packets[i].verdict = PACKET_DROP;
	return io->finish(io->context, burst);
}

static void headers_of_a_datagram(void **state)
{
	(void)state;
	struct port_settings s = sockets_at(1, "127.0.0.1", NULL);
	struct ethernet_port *port = port_at(&s);
	struct packet_io io = port_queue_io(port, 0);
	struct packet_burst burst;
	int node = node_of(port, "127.0.0.1");
	say(node, 0x5a, 100);
	receive(&io, &burst);
	assert_int_equal(burst.count, 1);
	const struct packet *p = &burst.packets[0];
	const uint8_t *ip = p->data + ETHER_BYTES, *udp = ip + IPV4_BYTES;
	assert_int_equal(p->size, HEADERS_IPV4 + 100);
	assert_true(p->capacity >= HEADERS_IPV4 + FRAME_BYTES_MAX);
	assert_int_equal(p->segments, 1);
	assert_int_equal(p->checksum, PACKET_CHECKSUM_GOOD);
	assert_true(port->hot.trust_checksum && port->hot.local_senders);
	assert_memory_equal(p->data, port->hot.mac, 6);
	assert_memory_not_equal(p->data + 6, port->hot.mac, 6);
	assert_int_equal(net16(p->data + 12), ETHERTYPE_IPV4);
	assert_int_equal(ip[0], 0x45);
	assert_int_equal(net16(ip + 2), IPV4_BYTES + UDP_BYTES + 100);
	assert_true(ip[8] > 0);
	assert_int_equal(ip[9], PROTOCOL_UDP);
	assert_int_equal(
		checksum_fold(checksum_add((struct checksum_sum){0}, ip, IPV4_BYTES)), 0xffff);
	assert_memory_equal(ip + 12, "\x7f\0\0\x01\x7f\0\0\x01", 8);
	assert_int_equal(net16(udp), port_of(node));
	assert_int_equal(net16(udp + 2), port->hot.udp_port);
	assert_int_equal(net16(udp + 4), UDP_BYTES + 100);
	assert_int_equal(net16(udp + 6), 0);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(udp[UDP_BYTES + i], 0x5a);
	assert_int_equal(drop_all(&io, &burst), 0);
	is_silent(&io);
	assert_true(hears_nothing(node));
	close(node);
	end_port(port);
}

static void headers_of_ipv6(void **state)
{
	(void)state;
	if (!has_ipv6())
		skip();
	struct port_settings s = sockets_at(1, "::1", NULL);
	struct ethernet_port *port = port_at(&s);
	struct packet_io io = port_queue_io(port, 0);
	struct packet_burst burst;
	int node = node_of(port, "::1");
	uint8_t data[64];
	say(node, 0x11, 40);
	receive(&io, &burst);
	assert_int_equal(burst.count, 1);
	struct packet *p = &burst.packets[0];
	const uint8_t *ip = p->data + ETHER_BYTES, *udp = ip + IPV6_BYTES;
	assert_int_equal(p->size, HEADERS_IPV6 + 40);
	assert_int_equal(net16(p->data + 12), ETHERTYPE_IPV6);
	assert_int_equal(ip[0], 0x60);
	assert_int_equal(net16(ip + 4), UDP_BYTES + 40);
	assert_int_equal(ip[6], PROTOCOL_UDP);
	assert_true(ip[7] > 0);
	assert_memory_equal(ip + 8, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
	assert_memory_equal(ip + 24, ip + 8, 16);
	assert_int_equal(net16(udp), port_of(node));
	assert_int_equal(net16(udp + 4), UDP_BYTES + 40);
	assert_int_equal(udp[UDP_BYTES + 39], 0x11);
	turn_around(p, 0x22, 17);
	assert_int_equal(io.finish(io.context, &burst), 0);
	assert_int_equal(hear(node, data, sizeof data), 17);
	assert_int_equal(data[16], 0x22);
	say(node, 0x11, 40); // what is not a datagram is the kernel's to send
	receive(&io, &burst);
	turn_around(&burst.packets[0], 0x22, 17);
	burst.packets[0].data[ETHER_BYTES + 6] = PROTOCOL_ICMPV6;
	assert_int_equal(io.finish(io.context, &burst), 1);
	assert_true(hears_nothing(node));
	close(node);
	end_port(port);
}

// Who asked is answered, and who was dropped hears nothing; more than one burst, one after the other.
static void bursts_are_answered(void **state)
{
	(void)state;
	struct port_settings s = sockets_at(1, "127.0.0.1", NULL);
	struct ethernet_port *port = port_at(&s);
	struct packet_io io = port_queue_io(port, 0);
	struct packet_burst burst;
	enum { NODES = 100, ROUNDS = 5 };
	int nodes[NODES];
	for (uint32_t i = 0; i < NODES; i++)
		nodes[i] = node_of(port, "127.0.0.1");
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t seen = 0;
		for (uint32_t i = 0; i < NODES; i++)
			say(nodes[i], (uint8_t)i, 64 + i);
		while (seen < NODES) {
			receive(&io, &burst);
			assert_true(burst.count > 0 && burst.count <= BURST_MAX);
			for (uint32_t i = 0; i < burst.count; i++, seen++) {
				struct packet *p = &burst.packets[i];
				assert_int_equal(p->size, HEADERS_IPV4 + 64 + seen);
				assert_int_equal(p->data[HEADERS_IPV4], seen);
				if (seen % 2 == 0)
					turn_around(p, (uint8_t)(seen + round), 10 + seen);
			}
			assert_int_equal(io.finish(io.context, &burst), 0);
			assert_int_equal(burst.count, 0);
		}
		for (uint32_t i = 0; i < NODES; i += 2) {
			uint8_t data[256];
			assert_int_equal(hear(nodes[i], data, sizeof data), 10 + i);
			assert_int_equal(data[0], (uint8_t)(i + round));
			assert_int_equal(data[9 + i], (uint8_t)(i + round));
			assert_true(hears_nothing(nodes[i + 1]));
		}
	}
	is_silent(&io);
	port_meter(port);
	assert_int_equal(port->received, NODES * ROUNDS);
	assert_int_equal(port->received_bytes, ROUNDS * (NODES * (HEADERS_IPV4 + 64) + 99 * 50));
	assert_int_equal(port->sent, NODES / 2 * ROUNDS);
	assert_int_equal(port->sent_bytes, ROUNDS * (NODES / 2 * (HEADERS_IPV4 + 10) + 98 * 25));
	assert_int_equal(port->errors, 0);
	assert_int_equal(port->signs.missed, 0);
	for (uint32_t i = 0; i < NODES; i++)
		close(nodes[i]);
	end_port(port);
}

// Each address has its socket: packets say at which they came, and answers come from there.
static void several_addresses(void **state)
{
	(void)state;
	static const char *const ours[] = {"127.0.0.1", "127.0.0.2", "127.0.0.3", "::1"};
	uint32_t count = has_ipv6() ? 4 : 3;
	struct port_settings s =
		sockets_at(1, ours[0], ours[1], ours[2], count == 4 ? ours[3] : NULL, NULL);
	struct ethernet_port *port = port_at(&s);
	struct packet_io io = port_queue_io(port, 0);
	struct packet_burst burst;
	int nodes[4];
	uint32_t seen = 0;
	for (uint32_t i = 0; i < count; i++)
		nodes[i] = node_of(port, ours[i]); // it hears answers of that address alone
	for (uint32_t i = 0; i < count; i++)
		say(nodes[i], (uint8_t)i, 50);
	while (seen < count) {
		receive(&io, &burst);
		for (uint32_t i = 0; i < burst.count; i++, seen++) {
			struct packet *p = &burst.packets[i];
			bool ipv6 = net16(p->data + 12) == ETHERTYPE_IPV6;
			uint8_t who = p->data[ipv6 ? HEADERS_IPV6 : HEADERS_IPV4];
			assert_int_equal(ipv6, who == 3);
			if (!ipv6)
				assert_int_equal(p->data[ETHER_BYTES + 19], who + 1);
			turn_around(p, (uint8_t)(who + 1), 20);
		}
		assert_int_equal(io.finish(io.context, &burst), 0);
	}
	for (uint32_t i = 0; i < count; i++) {
		uint8_t data[64];
		assert_int_equal(hear(nodes[i], data, sizeof data), 20);
		assert_int_equal(data[0], i + 1);
		close(nodes[i]);
	}
	is_silent(&io);
	port_meter(port);
	assert_int_equal(port->sent, count);
	end_port(port);
}

// A burst that is not full has emptied all of them.
static void one_burst_empties_all_addresses(void **state)
{
	(void)state;
	struct port_settings s = sockets_at(1, "127.0.0.1", "127.0.0.2", NULL);
	struct ethernet_port *port = port_at(&s);
	struct packet_io io = port_queue_io(port, 0);
	int nodes[2] = {node_of(port, "127.0.0.1"), node_of(port, "127.0.0.2")};
	for (uint32_t round = 0; round < 3; round++) {
		struct packet_burst burst;
		say(nodes[0], 1, 50);
		say(nodes[1], 2, 50);
		receive(&io, &burst);
		assert_int_equal(burst.count, 2);
		drop_all(&io, &burst);
	}
	close(nodes[0]);
	close(nodes[1]);
	end_port(port);
}

// With two that are never empty, none waits for the other to be.
static void addresses_take_turns(void **state)
{
	(void)state;
	struct port_settings s = sockets_at(1, "127.0.0.1", "127.0.0.2", NULL);
	struct ethernet_port *port = port_at(&s);
	struct packet_io io = port_queue_io(port, 0);
	struct packet_burst burst;
	bool is_heard[3] = {false};
	for (uint8_t who = 1; who <= 2; who++) {
		int node = node_of(port, who == 1 ? "127.0.0.1" : "127.0.0.2");
		for (uint32_t i = 0; i < 2 * BURST_MAX; i++)
			say(node, who, 50);
		close(node);
	}
	for (uint32_t turn = 0; turn < 2; turn++) {
		receive(&io, &burst);
		assert_int_equal(burst.count, BURST_MAX);
		is_heard[burst.packets[0].data[HEADERS_IPV4]] = true;
		drop_all(&io, &burst);
	}
	assert_true(is_heard[1] && is_heard[2]);
	end_port(port);
}

// Written from nothing, as notices are.
static void packets_of_our_own(void **state)
{
	(void)state;
	struct port_settings s = sockets_at(1, "127.0.0.1", NULL);
	struct ethernet_port *port = port_at(&s);
	struct packet_io io = port_queue_io(port, 0);
	struct packet_burst received, taken;
	int node = node_of(port, "127.0.0.1");
	uint8_t headers[HEADERS_IPV4], data[FRAME_BYTES_MAX + 1];
	for (uint32_t i = 0; i < BURST_MAX; i++)
		say(node, 1, 64);
	receive(&io, &received);
	memcpy(headers, received.packets[0].data, sizeof headers);
	// What is received stays while a burst is taken.
	io.take(io.context, &taken, BURST_MAX);
	assert_int_equal(taken.count, BURST_MAX);
	for (uint32_t i = 0; i < BURST_MAX; i++) {
		struct packet *p = &taken.packets[i];
		assert_int_equal(p->size, 0);
		assert_true(p->capacity >= FRAME_BYTES_MAX + 66);
		memcpy(p->data, headers, sizeof headers);
		turn_around(p, (uint8_t)i, i == 3 ? FRAME_BYTES_MAX : 30);
		if (i >= 4)
			p->verdict = PACKET_DROP;
	}
	assert_int_equal(io.finish(io.context, &taken), 0);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(hear(node, data, sizeof data), i == 3 ? FRAME_BYTES_MAX : 30);
		assert_int_equal(data[0], i);
	}
	assert_true(hears_nothing(node));
	for (uint32_t i = 0; i < received.count; i++)
		assert_int_equal(received.packets[i].data[HEADERS_IPV4], 1);
	drop_all(&io, &received);
	close(node);
	end_port(port);
}

static void packets_run_out_and_come_back(void **state)
{
	(void)state;
	struct port_settings s = sockets_at(1, "127.0.0.1", NULL);
	struct ethernet_port *port = port_at(&s);
	struct packet_io io = port_queue_io(port, 0);
	struct packet_burst bursts[4];
	for (int round = 0; round < 3; round++) {
		uint32_t taken = 0;
		for (uint32_t i = 0; i < 4; i++) {
			io.take(io.context, &bursts[i], BURST_MAX);
			taken += bursts[i].count;
		}
		assert_int_equal(taken, 2 * BURST_MAX);
		for (uint32_t i = 0; i < 4; i++)
			drop_all(&io, &bursts[i]);
	}
	end_port(port);
}

// Too long is refused by the packet path for its size, however long; empty is a packet too.
static void sizes(void **state)
{
	(void)state;
	static const uint32_t sent[] = {0, 1, FRAME_BYTES_MAX, FRAME_BYTES_MAX + 1, 2000};
	struct port_settings s = sockets_at(1, "127.0.0.1", NULL);
	struct ethernet_port *port = port_at(&s);
	struct packet_io io = port_queue_io(port, 0);
	int node = node_of(port, "127.0.0.1");
	for (uint32_t i = 0; i < sizeof sent / sizeof sent[0]; i++) {
		struct packet_burst burst;
		uint32_t seen = sent[i] > FRAME_BYTES_MAX ? FRAME_BYTES_MAX + 1 : sent[i];
		say(node, 9, sent[i]);
		receive(&io, &burst);
		assert_int_equal(burst.count, 1);
		assert_int_equal(burst.packets[0].size, HEADERS_IPV4 + seen);
		assert_int_equal(net16(burst.packets[0].data + HEADERS_IPV4 - 4), UDP_BYTES + seen);
		drop_all(&io, &burst);
	}
	close(node);
	end_port(port);
}

// What the kernel has no room for is counted at once, though nothing comes after it.
static void what_the_kernel_drops_is_missed(void **state)
{
	(void)state;
	struct port_settings s = sockets_at(1, "127.0.0.1", "127.0.0.2", NULL);
	s.rx_descriptors = 16;
	struct ethernet_port *port = port_at(&s);
	struct packet_io io = port_queue_io(port, 0);
	struct packet_burst burst;
	enum { SENT = 1000 };
	uint64_t received = 0;
	for (int round = 1; round <= 2; round++) {
		for (int i = 0; i < 2; i++) {
			int node = node_of(port, i == 0 ? "127.0.0.1" : "127.0.0.2");
			for (uint32_t n = 0; n < SENT; n++)
				say(node, 1, 64);
			close(node);
		}
		port_meter(port);
		uint64_t missed = port->signs.missed;
		while (io.receive(io.context, &burst), burst.count > 0) {
			received += burst.count;
			drop_all(&io, &burst);
		}
		port_meter(port);
		assert_int_equal(port->signs.missed, missed);
		assert_true(missed > 0 && received > 0);
		assert_int_equal(received + missed, 2 * SENT * round);
	}
	end_port(port);
}

// Who cannot be reached costs the others nothing.
static void answers_that_cannot_be_sent(void **state)
{
	(void)state;
	struct port_settings s = sockets_at(1, "127.0.0.1", NULL);
	struct ethernet_port *port = port_at(&s);
	struct packet_io io = port_queue_io(port, 0);
	struct packet_burst burst;
	int node = node_of(port, "127.0.0.1");
	uint8_t data[64];
	for (uint32_t i = 0; i < 7; i++)
		say(node, 1, 64);
	receive(&io, &burst);
	assert_int_equal(burst.count, 7);
	for (uint32_t i = 0; i < burst.count; i++)
		turn_around(&burst.packets[i], (uint8_t)i, 20);
	// Neither IP nor a datagram, not from us, to port 0, to another machine from the loopback.
	memcpy(burst.packets[0].data + 12, "\x08\x06", 2);
	burst.packets[1].data[ETHER_BYTES + 15] = 99;
	memcpy(burst.packets[3].data + HEADERS_IPV4 - 6, "\0\0", 2);
	memcpy(burst.packets[4].data + ETHER_BYTES + 16, "\xc0\0\x02\x01", 4);
	burst.packets[6].data[ETHER_BYTES + 9] = PROTOCOL_ICMP;
	assert_int_equal(io.finish(io.context, &burst), 5);
	for (uint32_t i = 2; i < 6; i += 3) {
		assert_int_equal(hear(node, data, sizeof data), 20);
		assert_int_equal(data[0], i);
	}
	assert_true(hears_nothing(node));
	port_meter(port);
	assert_int_equal(port->errors, 5);
	assert_int_equal(port->sent, 2);
	assert_int_equal(port->sent_bytes, 2 * (HEADERS_IPV4 + 20));
	close(node);
	end_port(port);
}

// A socket that fails is counted, and what it drops is nobody's to tell.
static void a_socket_that_fails_is_counted(void **state)
{
	(void)state;
	struct port_settings s = sockets_at(1, "127.0.0.1", NULL);
	struct ethernet_port *port = port_at(&s);
	struct packet_io io = port_queue_io(port, 0);
	struct packet_burst burst;
	int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(dup2(none, io.bell(io.context)) >= 0);
	close(none);
	for (uint64_t looks = 1; looks <= 2; looks++) {
		io.receive(io.context, &burst);
		assert_int_equal(burst.count, 0);
		port_meter(port);
		assert_int_equal(port->errors, looks);
	}
	assert_int_equal(port->signs.missed, 0);
	end_port(port);
}

// Several queues share each address: who sends from one place always reaches the same queue.
static void queues_share_addresses(void **state)
{
	(void)state;
	enum { QUEUES = 3, NODES = 90 };
	struct port_settings s = sockets_at(QUEUES, "127.0.0.1", "127.0.0.2", NULL);
	struct ethernet_port *port = port_at(&s);
	uint32_t of_queue[QUEUES] = {0}, total = 0;
	int owner[NODES];
	int nodes[NODES];
	for (uint32_t i = 0; i < NODES; i++) {
		nodes[i] = node_of(port, i % 2 == 0 ? "127.0.0.1" : "127.0.0.2");
		owner[i] = -1;
	}
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < NODES; i++)
			say(nodes[i], (uint8_t)i, 64);
		for (int q = 0; q < QUEUES; q++) {
			struct packet_io io = port_queue_io(port, (uint32_t)q);
			struct packet_burst burst;
			while (io.receive(io.context, &burst), burst.count > 0) {
				for (uint32_t i = 0; i < burst.count; i++) {
					uint32_t who = burst.packets[i].data[HEADERS_IPV4];
					assert_true(owner[who] == -1 || owner[who] == q);
					owner[who] = q;
					of_queue[q]++;
				}
				drop_all(&io, &burst);
			}
		}
	}
	for (uint32_t q = 0; q < QUEUES; q++) {
		assert_true(of_queue[q] > 0);
		total += of_queue[q];
	}
	assert_int_equal(total, 2 * NODES);
	port_meter(port);
	assert_int_equal(port->received, total);
	for (uint32_t i = 0; i < NODES; i++)
		close(nodes[i]);
	end_port(port);
}

// A second daemon would take a part of the senders away, whatever each has for queues.
static void an_address_has_one_port(void **state)
{
	(void)state;
	for (uint32_t queues = 1; queues <= 2; queues++) {
		struct port_settings s = sockets_at(queues, "127.0.0.1", NULL);
		struct ethernet_port *port = port_at(&s), other;
		for (uint32_t others = 1; others <= 2; others++) {
			struct port_settings t = sockets_at(others, "127.0.0.2", "127.0.0.1", NULL);
			assert_int_equal(try_port(&other, &t, port->hot.udp_port), -EADDRINUSE);
			assert_non_null(strstr(message, "port 2"));
			assert_non_null(strstr(message, "of 127.0.0.1"));
			assert_non_null(strstr(message, "; stop what has it"));
		}
		// What was refused has left nothing open.
		struct port_settings t = sockets_at(1, "127.0.0.2", NULL);
		assert_int_equal(try_port(&other, &t, port->hot.udp_port), 0);
		port_stop(&other);
		port_close(&other);
		uint16_t udp_port = port->hot.udp_port;
		end_port(port);
		assert_int_equal(try_port(&other, &s, udp_port), 0);
		port_close(&other);
	}
}

static void addresses_that_are_not_ours(void **state)
{
	(void)state;
	struct port_settings s = sockets_at(1, "192.0.2.77", NULL);
	struct ethernet_port port;
	assert_int_equal(try_port(&port, &s, 4647), -EADDRNOTAVAIL);
	assert_non_null(strstr(message, "of 192.0.2.77"));
	assert_non_null(strstr(message, "; give one that this machine has"));
	assert_int_equal(port.sockets.queue_count, 0);
}

static void addresses_of_an_interface(void **state)
{
	(void)state;
	struct port_settings s = {.io = "socket", .device = "lo"};
	beside_kernel_settle(&s);
	assert_true(s.address_count >= 1);
	assert_string_equal(s.addresses[0], "127.0.0.1");
	beside_kernel_settle(&s); // again
	struct port_settings listed = sockets_at(1, "127.0.0.9", NULL);
	snprintf(listed.device, sizeof listed.device, "lo");
	beside_kernel_settle(&listed);
	assert_int_equal(listed.address_count, 1);
	struct port_settings packets = {.io = "af_packet", .device = "lo"};
	beside_kernel_settle(&packets);
	assert_int_equal(packets.address_count, 0);
	struct port_settings none = {.io = "socket", .device = "nosuch0"};
	beside_kernel_settle(&none);
	assert_int_equal(none.address_count, 0);
}

static void link_of_the_loopback(void **state)
{
	(void)state;
	struct port_settings s = sockets_at(1, "127.0.0.1", NULL);
	struct ethernet_port *port = port_at(&s);
	assert_string_equal(port->device.interface, "lo");
	assert_string_equal(port->device.driver, "socket");
	port_watch_link(port);
	port_watch_program(port);
	assert_int_equal(port->signs.link_down, !host_interface_runs("lo"));
	assert_false(port->signs.program_lost);
	end_port(port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_of_a_datagram),
		cmocka_unit_test(headers_of_ipv6),
		cmocka_unit_test(bursts_are_answered),
		cmocka_unit_test(several_addresses),
		cmocka_unit_test(one_burst_empties_all_addresses),
		cmocka_unit_test(addresses_take_turns),
		cmocka_unit_test(packets_of_our_own),
		cmocka_unit_test(packets_run_out_and_come_back),
		cmocka_unit_test(sizes),
		cmocka_unit_test(what_the_kernel_drops_is_missed),
		cmocka_unit_test(answers_that_cannot_be_sent),
		cmocka_unit_test(a_socket_that_fails_is_counted),
		cmocka_unit_test(queues_share_addresses),
		cmocka_unit_test(an_address_has_one_port),
		cmocka_unit_test(addresses_that_are_not_ours),
		cmocka_unit_test(addresses_of_an_interface),
		cmocka_unit_test(link_of_the_loopback),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
