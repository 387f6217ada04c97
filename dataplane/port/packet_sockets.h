// Which sockets the drivers of kernel interfaces opened. DPDK has no interrupts for these drivers and does not tell the
// sockets; poll on one tells that packets wait. One is made for each queue, in the order of the queues: with the device
// (AF_PACKET), or when its queue is opened (AF_XDP).
#pragma once
#include <stdint.h>

#define PACKET_SOCKETS_MAX 256u

struct packet_sockets {
	uint32_t count;
	int fds[PACKET_SOCKETS_MAX];
};

// Before a device is made: what this process has is not that device's. One thread makes devices.
void packet_sockets_begin(struct packet_sockets *);
// After the device's next queue was opened. Returns its socket, which stays the driver's, or -1: it has none, or too
// many are known.
int packet_sockets_take(struct packet_sockets *);
