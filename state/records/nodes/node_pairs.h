// What the pairs of a registration say besides attributes, metadata and drivers: volumes, networks
// and their addresses, settings, attributes of devices. docs/wire.md is the public form of this
// page.
//
//	kind      name                              value
//	volume    its name                          "rw PATH" or "ro PATH"
//	network   "MODE:DEVICE"                     speed in Mbit/s, "" when unknown
//	address   "MODE:DEVICE ADDRESS"             "ALIAS" or "ALIAS PORTS"
//	setting   "ports.reserved"                  PORTS
//	          "ports.dynamic"                   "LEAST-MOST"
//	          "cores.reservable"                CORES
//	          "boot.id"                         1 to 16 hexadecimal digits, not 0
//	          "vm.…"                            see node_worker.h
//	device    "VENDOR/TYPE/NAME/ATTRIBUTE"      value of the attribute
//
// MODE is "host", "bridge", "cni/…"; DEVICE may be empty. PORTS and CORES are lists of numbers and
// ranges, "22,80,8000-8010". An address is of a network that is there, a device attribute of a
// device group that is there.
#pragma once
#include "state/records/nodes/node_registration.h"

struct volume_pair {
	struct text name, path;
	bool read_only;
};
struct network_pair {
	struct text mode, device;
	uint32_t speed_mbits;
};
struct address_pair {
	struct text network, address, alias, reserved_ports; // network: the name of its pair
};

// Each returns false when the pair does not have the form above.
bool volume_pair_read(const struct node_pair *, struct volume_pair *);
bool network_pair_read(const struct node_pair *, struct network_pair *);
bool address_pair_read(const struct node_pair *, struct address_pair *);
bool port_range_read(struct text, uint16_t *least, uint16_t *most);
// The device group that the pair describes, and the name of the attribute; -1 when there is none.
int device_pair_group(
	const struct node_registration *, const struct node_pair *, struct text *attribute);

// Whether it is one of those that describe a worker of virtual machines (node_worker.h).
static inline bool setting_is_of_worker(struct text name)
{
	return name.size >= 3 && memcmp(name.data, "vm.", 3) == 0;
}

// The number that the agent drew when it started; 0: it says none.
uint64_t boot_of(const struct node_registration *);
// Value of a setting; an empty text when it is not set.
struct text setting_of(const struct node_registration *, struct text name);

// Whether all pairs of these kinds keep to the form; settings of workers are left to node_worker.h. Names, sizes and
// order are checked elsewhere.
bool node_pairs_are_sound(const struct node_registration *);
// Whether what a node registers now says something: known modes of networks, addresses that are some, aliases that are
// not empty, drivers that are healthy or not, devices that there are. What was stored before may say less.
bool node_offers_are_sound(const struct node_registration *);
