// A node as Nomad's API writes it down, and the record that schedulers see made of it.
#pragma once
#include "state/records/node.h"
#include "tools/json/json_reader.h"

struct said_driver {
	char *name;
	bool detected, healthy;
};
struct said_volume {
	char *name, *path;
	bool read_only;
};
struct said_address {
	char *alias, *address, *family, *reserved_ports;
};
struct said_node_network {
	char *mode, *device, *mac_address;
	int64_t speed_mbits;
	struct array addresses; // said_address
};
struct said_network { // of agents before 0.12
	char *mode, *device, *cidr, *ip;
	int64_t mbits;
};
struct said_device_attribute {
	char *name, *string, *unit;
	struct optional_i64 integer;
	double real;
	struct optional_bool flag;
};
struct said_instance {
	char *id, *health_description;
	bool healthy;
};
struct said_device {
	char *vendor, *type, *name;
	struct array instances;  // said_instance
	struct array attributes; // said_device_attribute
};
struct said_cpu {
	int64_t shares, total_cores;
	struct array reservable_cores, reserved_cores; // int64_t
};
struct said_memory {
	int64_t mb;
};
struct said_disk {
	int64_t mb;
};
struct said_resources {
	struct said_cpu cpu;
	struct said_memory memory;
	struct said_disk disk;
	struct array networks, node_networks,
		devices; // said_network, said_node_network, said_device
	int64_t min_dynamic_port, max_dynamic_port;
};
struct said_reserved_networks {
	char *reserved_host_ports;
};
struct said_reserved {
	struct said_cpu cpu;
	struct said_memory memory;
	struct said_disk disk;
	struct said_reserved_networks networks;
};
struct said_standing {
	int standing; // enum node_standing
	char *snapshot;
};
struct said_berth {
	struct said_standing lifecycle;
};
struct said_node {
	struct uuid id;
	char *name, *datacenter, *class_name, *pool, *computed_class, *status_description;
	char *snapshot;                // as a scenario says it
	struct said_berth berth;       // as the API shows it
	struct array attributes, meta; // string_pair
	struct array drivers, volumes; // said_driver, said_volume
	struct said_resources resources;
	struct said_reserved reserved;
	struct drain_strategy *drain;
	bool is_draining;
	int eligibility, status;
	uint64_t create_index, modify_index;
};

extern const struct record_type said_node_description;

// A node of a scenario: the record refers to what was said.
struct scenario_node {
	struct node record; // first
	struct node_class node_class;
	struct said_node said;
	struct attribute *attributes, *unique_attributes, *meta, *unique_meta, *drivers;
	struct device_group *devices;
	struct host_volume *volumes;
	struct node_network *networks;
	struct node_address *addresses;
	char *cores;
	struct scenario_allocation *allocations; // on it
};

// Reads and makes a node; mistakes are collected in the report. Release it all the same.
void scenario_node_read(struct scenario_node *, json_t *, const char *path, struct json_report *);
void scenario_node_release(struct scenario_node *);
// The id of an instance of a device group, by its bit in a device_set; NULL when there is none.
const char *scenario_device_id(const struct scenario_node *, uint32_t group, uint32_t instance);
// The bits of instances that are named by their ids, added to set.
void scenario_device_bits(const struct scenario_node *, const char *vendor, const char *type,
	const char *name, const struct array *ids, struct device_set *set);
