// Where a worker's packets come from and go to: one call per burst, never per packet. DPDK queues in packet_io_dpdk.c;
// UDP sockets of the kernel in packet_io_socket.c; arrays, for tests and simulation, in packet_io_memory.c. And what is
// known of their port.
#pragma once
#include "dataplane/hot/packet.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// Packets that are owned by the caller until finish() takes them back.
struct packet_burst {
	struct packet packets[BURST_MAX];
	void *handles[BURST_MAX]; // the transport's
	uint32_t count;
};

// Worker's thread only.
struct packet_io {
	void *context;
	// Fills the burst with what has arrived, at most BURST_MAX.
	void (*receive)(void *context, struct packet_burst *);
	// Fills the burst with at most count empty packets to be written: size 0, capacity known.
	void (*take)(void *context, struct packet_burst *, uint32_t count);
	// Sends the packets whose verdict is PACKET_REPLY and releases the others; empties the
	// burst. Returns how many replies the port did not take; they are released too.
	uint32_t (*finish)(void *context, struct packet_burst *);
	// A descriptor that can be read while packets wait, for poll alone; negative: there is none. NULL: neither.
	int (*bell)(void *context);
};

// What is known of a port by others than its workers: any thread writes, they read.
struct port_signs {
	_Atomic uint64_t missed;   // packets lost for want of room
	_Atomic bool link_down;    // no carrier, or the interface is gone
	_Atomic bool program_lost; // its XDP program is not ours any more
};
