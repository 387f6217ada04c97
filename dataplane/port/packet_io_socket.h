// A worker's UDP sockets of the kernel, one bound to each address of its port. A datagram has no headers, so those that
// the packet path reads are put in front of it as they came, and what it writes there says where an answer goes.
#pragma once
#include "dataplane/hot/headers.h"
#include "dataplane/hot/hot_worker.h"
#include "dataplane/port/packet_io.h"

#define SOCKET_ENDS_MAX (2 * HOT_ADDRESSES_MAX)

// Our address that a socket is bound to.
struct socket_end {
	int fd;
	bool ipv6;
	uint8_t address[16]; // IPv4 in the first four bytes
	uint16_t udp_port;   // host order
	uint32_t drops_seen; // of the kernel's count, for socket_queue_missed()
};

// Of the worker, for any thread; bytes are those of whole packets.
struct socket_counts {
	_Atomic uint64_t received, received_bytes, sent, sent_bytes;
	_Atomic uint64_t errors; // answers that the kernel did not take, and failed reads
};

struct socket_queue;

// Takes over the sockets of the ends, also when it fails: then it closes them. Returns 0 or a negative error.
int socket_queue_open(
	const struct socket_end *ends, uint32_t end_count, struct socket_queue **queue);
void socket_queue_close(struct socket_queue *); // NULL: does nothing
struct packet_io socket_queue_io(struct socket_queue *);
const struct socket_counts *socket_queue_counts(const struct socket_queue *);
// Datagrams that the kernel has dropped for want of room since the last call. One thread at a time.
uint64_t socket_queue_missed(struct socket_queue *);

// The Ethernet addresses of every packet: sockets have none.
#define SOCKET_OUR_MAC ((const uint8_t[6]){2, 0, 0, 0, 0, 1})
#define SOCKET_THEIR_MAC ((const uint8_t[6]){2, 0, 0, 0, 0, 2})
