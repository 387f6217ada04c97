#include "dataplane/port/device.h"
#include <ctype.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A packet socket's ring: 4096 frames of 2 KiB hold what arrives while the worker is away for a
// second.
#define AF_PACKET_FRAMES 4096u
#define AF_PACKET_FRAME_BYTES 2048u
#define AF_PACKET_BLOCK_BYTES 4096u

static bool is_pci_address(const char *text)
{
	unsigned domain, bus, slot, function;
	int used = 0;
	if (sscanf(text, "%4x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &used) == 4)
		return text[used] == '\0';
	return sscanf(text, "%2x:%2x.%1x%n", &bus, &slot, &function, &used) == 3 &&
	       text[used] == '\0';
}

static bool is_vdev(const char *text)
{
	return strncmp(text, "net_", 4) == 0 || strncmp(text, "virtio_user", 11) == 0;
}

// Drivers whose PMD works beside the kernel's, on the same function.
static bool is_bifurcated(const char *driver)
{
	return strcmp(driver, "mlx5_core") == 0 || strcmp(driver, "mlx4_core") == 0;
}

static void use_pci(struct device *d, const char *pci)
{
	// sysfs writes the domain, people often do not.
	snprintf(d->pci, sizeof d->pci, "%s%.12s", strlen(pci) < 12 ? "0000:" : "", pci);
	snprintf(d->name, sizeof d->name, "%s", d->pci);
	host_pci_driver(d->pci, d->driver);
	d->numa_node = host_pci_numa_node(d->pci);
}

static void copy_part(char *to, size_t size, const char *text, size_t length)
{
	length = length < size ? length : size - 1;
	memcpy(to, text, length);
	to[length] = '\0';
}

// Takes driver and name from the arguments: "net_pcap0,rx_pcap=f" is device net_pcap0 of driver net_pcap.
static void name_vdev(struct device *d)
{
	size_t length = strcspn(d->arguments, ",");
	copy_part(d->name, sizeof d->name, d->arguments, length);
	while (length > 0 && isdigit((unsigned char)d->arguments[length - 1]))
		length--;
	copy_part(d->driver, sizeof d->driver, d->arguments, length);
}

static void use_vdev(struct device *d, const struct port_settings *s)
{
	copy_part(d->arguments, sizeof d->arguments, s->device, strlen(s->device));
	name_vdev(d);
	bool replay = strcmp(d->driver, "net_pcap") == 0 && strstr(s->device, "rx_pcap=") != NULL;
	d->any_mac =
		replay || strcmp(d->driver, "net_ring") == 0 || strcmp(d->driver, "net_null") == 0;
}

const char *device_against_xdp(const char *interface, uint32_t queues)
{
	struct host_queues theirs = host_interface_queues(interface);
	if (theirs.combined < queues)
		return "the interface has fewer combined queues than are asked for";
	if (theirs.receive > queues)
		return "the interface spreads packets over more queues than are asked for";
	if (!host_af_xdp())
		return "the kernel refuses AF_XDP sockets";
	if (!host_capable(CAP_NET_ADMIN))
		return "CAP_NET_ADMIN is missing";
	if (!host_capable(CAP_SYS_ADMIN))
		return "CAP_SYS_ADMIN is missing";
	return host_interface_is_ethernet(interface) ? NULL : "it is not an Ethernet interface";
}

static const char *pick_io(struct device *d, uint32_t queues)
{
	char driver[HOST_NAME_BYTES], pci[HOST_NAME_BYTES];
	host_interface_driver(d->interface, driver);
	host_interface_pci(d->interface, pci);
	if (is_bifurcated(driver) && pci[0] != '\0') {
		snprintf(d->why, sizeof d->why,
			"%s has a DPDK driver that works beside the kernel's", driver);
		return "pci";
	}
	const char *against = device_against_xdp(d->interface, queues);
	if (against != NULL) {
		snprintf(d->why, sizeof d->why, "no AF_XDP: %s", against);
		return "af_packet";
	}
	snprintf(d->why, sizeof d->why, "AF_XDP is there (driver %s)",
		driver[0] ? driver : "unknown");
	return "af_xdp";
}

static int interface_by_io(
	struct device *d, const char *io, const struct port_settings *s, uint32_t index)
{
	uint32_t queues = port_queues(s);
	char *to = d->arguments;
	size_t size = sizeof d->arguments;
	char pci[HOST_NAME_BYTES];
	d->is_shared = strcmp(io, "shared") == 0;
	if (strcmp(io, "af_xdp") == 0 || d->is_shared) {
		snprintf(to, size, "net_af_xdp%u,iface=%s,start_queue=0,queue_count=%u", index,
			d->interface, queues);
	} else if (strcmp(io, "af_packet") == 0) {
		snprintf(to, size,
			"net_af_packet%u,iface=%s,qpairs=%u,blocksz=%u,framesz=%u,framecnt=%u",
			index, d->interface, queues, AF_PACKET_BLOCK_BYTES, AF_PACKET_FRAME_BYTES,
			s->rx_descriptors > 0 ? s->rx_descriptors : AF_PACKET_FRAMES);
	} else if (strcmp(io, "pci") == 0) {
		host_interface_pci(d->interface, pci);
		if (pci[0] == '\0')
			return -ENODEV;
		use_pci(d, pci);
		return 0;
	} else {
		return -EINVAL;
	}
	name_vdev(d);
	host_interface_pci(d->interface, pci);
	d->numa_node = pci[0] != '\0' ? host_pci_numa_node(pci) : -1;
	return 0;
}

static bool take_interface(const struct port_settings *s, uint32_t index, struct device *d,
	char *message, uint32_t message_size)
{
	if (host_interface_exists(s->device) && strlen(s->device) < sizeof d->interface) {
		snprintf(d->interface, sizeof d->interface, "%.*s", IFNAMSIZ - 1, s->device);
		return true;
	}
	char list[160];
	host_interfaces(list, sizeof list);
	snprintf(message, message_size,
		"port %u: there is no interface \"%s\"; name one of %s, a PCI address "
		"(0000:03:00.0) or a DPDK device (net_…)",
		index, s->device, list);
	return false;
}

static int resolve_interface(const struct port_settings *s, uint32_t index, struct device *d,
	char *message, uint32_t message_size)
{
	const char *io = s->io[0] != '\0' ? s->io : "auto";
	if (strcmp(io, "tap") == 0) { // the driver makes the interface
		snprintf(d->arguments, sizeof d->arguments, "net_tap%u,iface=%s", index, s->device);
		name_vdev(d);
		return 0;
	}
	if (!take_interface(s, index, d, message, message_size))
		return -ENODEV;
	bool is_open = strcmp(io, "auto") == 0;
	d->automatic = is_open || s->automatic;
	snprintf(d->why, sizeof d->why, "%s", s->why);
	if (is_open)
		io = pick_io(d, port_queues(s));
	int error = interface_by_io(d, io, s, index);
	if (error == -ENODEV)
		snprintf(message, message_size,
			"port %u: interface \"%s\" is no PCI function; set io to auto, af_xdp or "
			"af_packet",
			index, s->device);
	else if (error != 0)
		snprintf(message, message_size,
			"port %u: unknown io \"%s\"; use auto, shared, af_xdp, af_packet, socket, "
			"tap or pci",
			index, io);
	return error;
}

// The interface is looked at only for its link and its NUMA node.
static int resolve_sockets(const struct port_settings *s, uint32_t index, struct device *d,
	char *message, uint32_t message_size)
{
	char pci[HOST_NAME_BYTES];
	*d = (struct device){.numa_node = -1, .is_sockets = true};
	snprintf(d->why, sizeof d->why, "%s", s->why);
	snprintf(d->name, sizeof d->name, "socket%u", index);
	snprintf(d->driver, sizeof d->driver, "socket");
	if (s->device[0] == '\0') {
		host_interface_of(s->address_count > 0 ? s->addresses[0] : "", d->interface);
	} else if (!take_interface(s, index, d, message, message_size)) {
		return -ENODEV;
	}
	host_interface_pci(d->interface, pci);
	d->numa_node = pci[0] != '\0' ? host_pci_numa_node(pci) : -1;
	return 0;
}

static int resolve_pci(const struct port_settings *s, uint32_t index, struct device *d,
	char *message, uint32_t message_size)
{
	use_pci(d, s->device);
	if (host_pci_exists(d->pci))
		return 0;
	snprintf(message, message_size,
		"port %u: there is no PCI device %s; lspci -D lists those that are there", index,
		d->pci);
	return -ENODEV;
}

static bool sees_no_ethernet(const struct port_settings *s)
{
	return port_is_beside_kernel(s) && (s->vlan_id != 0 || s->promiscuous);
}

int device_resolve(const struct port_settings *s, uint32_t index, struct device *d, char *message,
	uint32_t message_size)
{
	*d = (struct device){.numa_node = -1};
	message[0] = '\0';
	if (sees_no_ethernet(s)) {
		snprintf(message, message_size,
			"port %u: %s no %s; give the address of the interface itself, and leave "
			"that out",
			index, port_is_sockets(s) ? "sockets see" : "a shared port sees",
			s->vlan_id != 0 ? "vlan_id" : "Ethernet (promiscuous)");
		return -EINVAL;
	}
	if (port_is_sockets(s))
		return resolve_sockets(s, index, d, message, message_size);
	if (is_pci_address(s->device))
		return resolve_pci(s, index, d, message, message_size);
	if (!is_vdev(s->device))
		return resolve_interface(s, index, d, message, message_size);
	use_vdev(d, s);
	return 0;
}

bool device_fall_back(
	struct device *d, const struct port_settings *s, uint32_t index, const char *why)
{
	char ignored[256];
	if (!d->automatic || strcmp(d->driver, "net_af_xdp") != 0)
		return false;
	// Where the kernel has the addresses, whole ports would both hear what is the other's.
	bool done = d->is_shared ? resolve_sockets(s, index, d, ignored, sizeof ignored) == 0
				 : interface_by_io(d, "af_packet", s, index) == 0;
	snprintf(d->why, sizeof d->why, "AF_XDP failed: %.100s", why);
	return done;
}

bool device_is_same(const struct device *a, const struct device *b)
{
	if (a->name[0] != '\0' && strcmp(a->name, b->name) == 0)
		return true;
	return a->interface[0] != '\0' && !a->is_sockets && !b->is_sockets &&
	       strcmp(a->interface, b->interface) == 0;
}
