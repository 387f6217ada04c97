// How the fleet's frames reach the controller: kernel sockets or a DPDK port, behind one table of functions that work
// on bursts. A lane is a flow: one socket, or one UDP source port.
#pragma once
#include "state/base/limits.h"
#include <stdbool.h>
#include <stdint.h>

struct frame {
	uint32_t size;
	uint8_t data[FRAME_BYTES_MAX];
};

struct transport {
	uint32_t lanes;
	bool may_be_full; // what send leaves is to be sent later; otherwise it is lost
	// Sends count frames of one lane, count <= BURST_MAX. Returns how many went out.
	uint32_t (*send)(struct transport *, uint32_t lane, struct frame *frames, uint32_t count);
	// Fills up to count frames, from any lane. Never waits.
	uint32_t (*receive)(struct transport *, struct frame *frames, uint32_t count);
	// Waits until frames may have come, at most timeout_us.
	void (*wait)(struct transport *, uint32_t timeout_us);
	// Speaks to another server from now on; what the former one answers is lost. False: that cannot be reached,
	// and all is as before. NULL: this transport has one server.
	bool (*turn_to)(struct transport *, const char *server);
	void (*close)(struct transport *);
};

// Opens lanes sockets connected to server ("HOST[:PORT]"), bound to source unless NULL; source must outlive the
// transport. Returns NULL and a sentence in message.
struct transport *transport_socket_open(const char *server, const char *source, uint32_t lanes,
	char *message, uint32_t message_size);

struct transport_dpdk_settings {
	const char *program;
	const char *vdev;    // "net_memif0,role=client,socket=/run/x.sock", …
	const char *server;  // IPv4 address, port
	const char *address; // the fleet's IPv4 address on that port
	const char *eal;     // further EAL arguments, NULL: none
	uint32_t lanes;
};
struct transport *transport_dpdk_open(
	const struct transport_dpdk_settings *, char *message, uint32_t message_size);
