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
	// "auto" (picks for a kernel interface), "af_xdp", "af_packet", "socket", "tap", "pci"
	char io[32];
	char addresses[HOT_ADDRESSES_MAX * 2][64]; // "10.0.0.1", "fd00::1"
	uint32_t address_count;
	uint16_t vlan_id;
	uint32_t queues;
	uint32_t rx_descriptors, tx_descriptors; // 0: the usual number
	bool promiscuous;
};

// UDP sockets of the kernel, without DPDK.
static inline bool port_is_sockets(const struct port_settings *s)
{
	return strcmp(s->io, "socket") == 0;
}
