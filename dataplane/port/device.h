// What a port's settings mean: which DPDK device or whose sockets, and what kind of thing it is.
#pragma once
#include "dataplane/port/host.h"
#include "dataplane/port/port_settings.h"

#define DEVICE_ARGUMENTS_BYTES 512

struct device {
	char pci[HOST_NAME_BYTES];              // for EAL's allow list; "" for a virtual device
	char arguments[DEVICE_ARGUMENTS_BYTES]; // for --vdev; "" for a PCI device
	char name[64];                          // of the Ethernet device once EAL has started
	char driver[HOST_NAME_BYTES]; // "net_af_xdp", "socket"; of a PCI device the kernel's
	char interface[IFNAMSIZ];     // kernel interface behind it, or ""
	char why[128];                // how "auto" was decided, or ""
	int numa_node;                // -1 unknown
	bool automatic;               // io was "auto"
	bool is_sockets;              // no device of DPDK's: UDP sockets of the kernel
	bool is_shared;               // an XDP program leaves to the kernel what is not Berth's
	bool any_mac;                 // carries no traffic of its own address: a capture, a loop
};

// Fails with a message that says what, where and what to do. index is the port's number.
int device_resolve(const struct port_settings *, uint32_t index, struct device *, char *message,
	uint32_t message_size);
// Chooses the next device when the one that "auto" chose could not be started; why says the reason. False when there
// is none.
bool device_fall_back(
	struct device *, const struct port_settings *, uint32_t index, const char *why);
// Why AF_XDP cannot be had on the interface with so many queues; NULL: nothing is against it.
const char *device_against_xdp(const char *interface, uint32_t queues);
// Whether two ports would be one: a second worker on an interface would take the first one's packets, or none. Sockets
// have none of their own.
bool device_is_same(const struct device *, const struct device *);
static inline bool device_is_virtual(const struct device *d)
{
	return d->pci[0] == '\0';
}
