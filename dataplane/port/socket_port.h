// A port that is UDP sockets of the kernel: for each queue one on each of its addresses, among which the kernel spreads
// senders. It needs no EAL, no rights and no huge pages.
#pragma once
#include "dataplane/port/packet_io_socket.h"
#include "dataplane/port/port_settings.h"

// What the kernel is asked to keep of what has come, and of what is to go, unless the port's settings say.
#define SOCKET_BUFFER_BYTES (4u << 20)

struct socket_port {
	uint32_t queue_count;
	struct socket_queue *queues[WORKERS_MAX];
	uint32_t buffer_bytes; // that the kernel gave for what has come
	uint64_t missed;       // so far
};

// Whether a socket can have the address (by its place among IPv4, then IPv6) at the port's UDP port just now. Returns 0
// or a negative error.
int socket_port_try(const struct hot_port *, uint32_t address, const char *interface);
// What that error means for the address, and what to do. index is the port's number.
void socket_port_refusal(const struct hot_port *, uint32_t address, uint32_t index, int error,
	char *message, uint32_t message_size);
uint32_t socket_port_buffer(const struct port_settings *); // asked for what comes

// Opens the sockets of the hot_port's addresses, and says there what sockets are like. interface: of addresses of the
// link, or "". Fails with a message that says what, where and what to do.
int socket_port_open(struct socket_port *, const struct port_settings *, uint32_t index,
	const char *interface, struct hot_port *, char *message, uint32_t message_size);
void socket_port_close(struct socket_port *);

struct socket_port_sums {
	uint64_t received, received_bytes, sent, sent_bytes, errors, missed;
};
struct socket_port_sums socket_port_read(struct socket_port *); // one thread at a time
