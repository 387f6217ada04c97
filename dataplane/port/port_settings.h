// The configuration of a port.
#pragma once
#include "dataplane/hot/hot_worker.h"
#include <stdbool.h>
#include <stdint.h>

#define PORT_TEXT_BYTES 256

struct port_settings {
	// One of: a PCI address ("0000:03:00.0"), a DPDK vdev string ("net_pcap0,rx_pcap=f.pcap"),
	// or a kernel interface ("eth0") together with io.
	char device[PORT_TEXT_BYTES];
	char io[32]; // "auto" (picks for a kernel interface), "af_xdp", "af_packet", "tap", "pci"
	char addresses[HOT_ADDRESSES_MAX * 2][64]; // "10.0.0.1", "fd00::1"
	uint32_t address_count;
	uint16_t vlan_id;
	uint32_t queues;
	uint32_t rx_descriptors, tx_descriptors; // 0: the usual number
	bool promiscuous;
};
