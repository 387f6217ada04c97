// A connection to a port of a virtual machine that qemu runs with a network of its own. Qemu is told through the
// machine's monitor to forward a port of this node's loopback, and to forward it no more once that one connection is
// made: nobody else on the node finds it open.
#pragma once
#include <stdint.h>

#define GUEST_ADDRESS_BYTES 16u // of dotted decimals

// How long the monitor may be busy with somebody else.
#define GUEST_PORT_WAIT_MS 5000u

// folder: where the machine's monitor is. Returns a connected socket that does not block, the caller's, or -errno and a
// sentence; -ENETUNREACH: the machine has no network. A guest that does not listen there closes the connection later.
// Blocks; ends early once stop_fd is readable.
int guest_port_connect(
	const char *folder, uint16_t port, int stop_fd, char *message, uint32_t message_size);
// The address that qemu gives the machine in the network of its own. 0, or as guest_port_connect().
int guest_address(const char *folder, int stop_fd, char address[static GUEST_ADDRESS_BYTES],
	char *message, uint32_t message_size);
