// One port: an Ethernet device with its queues and pools, or sockets of the kernel; addresses, counters.
#pragma once
#include "dataplane/port/device.h"
#include "dataplane/port/packet_io_dpdk.h"
#include "dataplane/port/socket_port.h"

struct ethernet_port {
	struct device device;
	struct hot_port hot;
	uint16_t id; // DPDK's, once opened
	bool opened, started;
	uint16_t queue_count;
	struct dpdk_queue queues[WORKERS_MAX];
	struct socket_port sockets; // in place of id and queues, where device.is_sockets
	// As port_meter() last read them, for any thread.
	_Atomic uint64_t received, received_bytes, sent, sent_bytes, errors, no_mbuf;
	uint32_t program;          // XDP program that delivers to this port; 0: it needs none
	uint64_t program_received; // `received` when the program was last looked at
	struct port_signs signs;   // by port_meter() and port_watch()
};

// Configures and starts the device, which EAL knows by port->device.name, or opens the sockets. numa_nodes: of each
// queue's worker; SOCKET_ID_ANY without huge pages.
int port_start(struct ethernet_port *, const struct port_settings *, uint32_t index,
	uint16_t udp_port, const int *numa_nodes, char *message, uint32_t message_size);
// What the queue's worker receives and sends. The port must outlive it.
struct packet_io port_queue_io(struct ethernet_port *, uint32_t queue);
void port_stop(struct ethernet_port *); // no worker uses it any more
void port_close(struct ethernet_port *);
// Reads the device's counters; one thread at a time. context is the port.
void port_meter(void *context);
// Looks at what its workers cannot see. One thread at a time: whether the link is up, a few times a second; whether the
// XDP program is the port's own still, once a second.
void port_watch_link(struct ethernet_port *);
void port_watch_program(struct ethernet_port *);
