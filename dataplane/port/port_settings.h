// The configuration of a port.
#pragma once
#include "dataplane/hot/hot_worker.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PORT_TEXT_BYTES 256

struct port_settings {
	// One of: a PCI address ("0000:03:00.0"), a DPDK vdev string ("net_pcap0,rx_pcap=f.pcap"),
	// or a kernel interface ("eth0") together with io; may be "" where io is "socket".
	char device[PORT_TEXT_BYTES];
	// "auto" (picks for a kernel interface), "shared", "af_xdp", "af_packet", "socket", "tap", "pci"
	char io[32];
	char addresses[HOT_ADDRESSES_MAX * 2][64]; // "10.0.0.1", "fd00::1"
	uint32_t address_count;
	uint16_t vlan_id;
	uint32_t queues;                         // 0: one
	uint32_t rx_descriptors, tx_descriptors; // 0: the usual number
	bool promiscuous;
	// Of beside_kernel_settle(): io was "auto", and how it was decided.
	bool automatic;
	char why[128];
};

// Workers of a port: one for each.
static inline uint32_t port_queues(const struct port_settings *s)
{
	return s->queues > 0 ? s->queues : 1;
}

// Beside the kernel, which has the interface: an XDP program hands over what is Berth's.
static inline bool port_is_shared(const struct port_settings *s)
{
	return strcmp(s->io, "shared") == 0;
}

// What it is, the interface decides.
static inline bool port_is_open(const struct port_settings *s)
{
	return s->io[0] == '\0' || strcmp(s->io, "auto") == 0;
}

// UDP sockets of the kernel, without DPDK.
static inline bool port_is_sockets(const struct port_settings *s)
{
	return strcmp(s->io, "socket") == 0;
}

// The kernel has the port's addresses, answers for them, and keeps them.
static inline bool port_is_beside_kernel(const struct port_settings *s)
{
	return port_is_shared(s) || port_is_sockets(s);
}
