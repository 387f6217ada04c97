#include "dataplane/port/socket_port.h"
#include "state/base/failpoint/failpoint.h"
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Of a buffer, for each datagram that it shall hold.
#define DATAGRAM_BUFFER_BYTES 1024u

struct opening {
	struct socket_port *port;
	const struct port_settings *settings;
	const struct hot_port *hot;
	const char *interface;
	uint32_t index;
	char *message;
	uint32_t message_size;
};

static struct socket_end end_of(const struct hot_port *port, uint32_t address)
{
	struct socket_end end = {.fd = -1, .udp_port = port->udp_port};
	end.ipv6 = address >= port->ipv4_count;
	if (end.ipv6)
		memcpy(end.address, port->ipv6[address - port->ipv4_count], 16);
	else
		memcpy(end.address, port->ipv4[address], 4);
	return end;
}

static int bind_ipv4(const struct socket_end *end)
{
	struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(end->udp_port)};
	memcpy(&name.sin_addr, end->address, 4);
	return CAN_FAIL(PORT_BIND, bind(end->fd, (struct sockaddr *)&name, sizeof name));
}

// Addresses of the link mean something on an interface only.
static int bind_ipv6(const struct socket_end *end, const char *interface)
{
	struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_port = htons(end->udp_port)};
	memcpy(&name.sin6_addr, end->address, 16);
	if (IN6_IS_ADDR_LINKLOCAL(&name.sin6_addr))
		name.sin6_scope_id = if_nametoindex(interface);
	return CAN_FAIL(PORT_BIND, bind(end->fd, (struct sockaddr *)&name, sizeof name));
}

static int set_option(int fd, int level, int option, int value)
{
	return CAN_FAIL(PORT_OPTION, setsockopt(fd, level, option, &value, sizeof value));
}

// Root may have more than the system's limit; others get as much as it allows.
static int grow_buffer(int fd, int forced, int plain, uint32_t bytes)
{
	return set_option(fd, SOL_SOCKET, forced, (int)bytes) == 0
		       ? 0
		       : set_option(fd, SOL_SOCKET, plain, (int)bytes);
}

// The first socket of an address is alone there, or fails: whoever else has it would take some of the senders away.
// Then the others may join it.
static int bind_end(struct socket_end *end, const char *interface, bool is_first)
{
	end->fd = CAN_FAIL(PORT_SOCKET, socket(end->ipv6 ? AF_INET6 : AF_INET,
						SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (end->fd < 0)
		return -errno;
	if (end->ipv6 && set_option(end->fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) != 0)
		return -errno;
	if (!is_first && set_option(end->fd, SOL_SOCKET, SO_REUSEPORT, 1) != 0)
		return -errno;
	return (end->ipv6 ? bind_ipv6(end, interface) : bind_ipv4(end)) == 0 ? 0 : -errno;
}

static uint32_t buffer_bytes(uint32_t descriptors)
{
	return descriptors > 0 ? descriptors * DATAGRAM_BUFFER_BYTES : SOCKET_BUFFER_BYTES;
}

uint32_t socket_port_buffer(const struct port_settings *settings)
{
	return buffer_bytes(settings->rx_descriptors);
}

static int prepare_end(struct opening *o, struct socket_end *end)
{
	socklen_t size = sizeof o->port->buffer_bytes;
	if (o->port->queue_count > 1 && set_option(end->fd, SOL_SOCKET, SO_REUSEPORT, 1) != 0)
		return -errno;
	if (grow_buffer(end->fd, SO_RCVBUFFORCE, SO_RCVBUF, socket_port_buffer(o->settings)) != 0 ||
		grow_buffer(end->fd, SO_SNDBUFFORCE, SO_SNDBUF,
			buffer_bytes(o->settings->tx_descriptors)) != 0 ||
		getsockopt(end->fd, SOL_SOCKET, SO_RCVBUF, &o->port->buffer_bytes, &size) != 0)
		return -errno;
	return 0;
}

static const char *remedy_of(int error)
{
	switch (-error) {
	case EADDRNOTAVAIL: return "give one that this machine has (ip address)";
	case EADDRINUSE: return "stop what has it (ss -lunp), or set wire.udp_port";
	case EACCES: return "set wire.udp_port above 1023, or run with CAP_NET_BIND_SERVICE";
	default: return "see berthd --check";
	}
}

void socket_port_refusal(const struct hot_port *port, uint32_t address, uint32_t index, int error,
	char *message, uint32_t message_size)
{
	struct socket_end end = end_of(port, address);
	char text[INET6_ADDRSTRLEN] = "";
	inet_ntop(end.ipv6 ? AF_INET6 : AF_INET, end.address, text, sizeof text);
	snprintf(message, message_size, "port %u: UDP port %u of %s: %s; %s", index, end.udp_port,
		text, strerror(-error), remedy_of(error));
}

static uint32_t addresses_of(const struct hot_port *port)
{
	return (uint32_t)port->ipv4_count + port->ipv6_count;
}

static int open_sockets(struct opening *o, uint32_t queue)
{
	struct socket_end ends[SOCKET_ENDS_MAX];
	uint32_t count = addresses_of(o->hot);
	int error = 0;
	for (uint32_t i = 0; i < count; i++) {
		ends[i] = end_of(o->hot, i);
		error = bind_end(&ends[i], o->interface, queue == 0);
		if (error == 0)
			error = prepare_end(o, &ends[i]);
		if (error == 0)
			continue;
		socket_port_refusal(o->hot, i, o->index, error, o->message, o->message_size);
		for (uint32_t j = 0; j <= i; j++)
			if (ends[j].fd >= 0)
				close(ends[j].fd);
		return error;
	}
	error = socket_queue_open(ends, count, &o->port->queues[queue]);
	if (error != 0)
		snprintf(o->message, o->message_size,
			"port %u: one descriptor for %u sockets: %s; raise the limit of open files",
			o->index, count, strerror(-error));
	return error;
}

int socket_port_try(const struct hot_port *port, uint32_t address, const char *interface)
{
	struct socket_end end = end_of(port, address);
	int error = bind_end(&end, interface, true);
	if (end.fd >= 0)
		close(end.fd);
	return error;
}

int socket_port_open(struct socket_port *port, const struct port_settings *settings, uint32_t index,
	const char *interface, struct hot_port *hot, char *message, uint32_t message_size)
{
	struct opening o = {.port = port,
		.settings = settings,
		.hot = hot,
		.interface = interface,
		.index = index,
		.message = message,
		.message_size = message_size};
	*port = (struct socket_port){.queue_count = port_queues(settings)};
	memcpy(hot->mac, SOCKET_OUR_MAC, sizeof hot->mac);
	hot->trust_checksum = true;
	hot->local_senders = true;
	for (uint32_t q = 0; q < port->queue_count; q++) {
		int error = open_sockets(&o, q);
		if (error != 0) {
			socket_port_close(port);
			return error;
		}
	}
	return 0;
}

void socket_port_close(struct socket_port *port)
{
	for (uint32_t q = 0; q < port->queue_count; q++)
		socket_queue_close(port->queues[q]);
	port->queue_count = 0;
}

static uint64_t counted(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

struct socket_port_sums socket_port_read(struct socket_port *port)
{
	struct socket_port_sums sums = {0};
	for (uint32_t q = 0; q < port->queue_count; q++) {
		const struct socket_counts *c = socket_queue_counts(port->queues[q]);
		sums.received += counted(&c->received);
		sums.received_bytes += counted(&c->received_bytes);
		sums.sent += counted(&c->sent);
		sums.sent_bytes += counted(&c->sent_bytes);
		sums.errors += counted(&c->errors);
		port->missed += socket_queue_missed(port->queues[q]);
	}
	sums.missed = port->missed;
	return sums;
}
