// A node as Nomad's API writes it, and the record that schedulers see.
#pragma once
#include "state/records/nodes/node.h"
#include "state/records/nodes/node_own.h"
#include "tools/json/json_reader.h"

struct scenario_driver_json {
	char *name;
	bool detected, healthy;
};
struct scenario_volume_json {
	char *name, *path;
	bool read_only;
};
struct scenario_address_json {
	char *alias, *address, *family, *reserved_ports;
};
struct scenario_node_network_json {
	char *mode, *device, *mac_address;
	int64_t speed_mbits;
	struct array addresses; // scenario_address_json
};
struct scenario_network_json { // of agents before 0.12
	char *mode, *device, *cidr, *ip;
	int64_t mbits;
};
struct scenario_device_attribute_json {
	char *name, *string, *unit;
	struct optional_i64 integer;
	double real;
	struct optional_bool flag;
};
struct scenario_instance_json {
	char *id, *health_description;
	bool healthy;
};
struct scenario_device_json {
	char *vendor, *type, *name;
	struct array instances;  // scenario_instance_json
	struct array attributes; // scenario_device_attribute_json
};
struct scenario_cpu_json {
	int64_t shares, total_cores;
	struct array reservable_cores, reserved_cores; // int64_t
};
struct scenario_memory_json {
	int64_t mb;
};
struct scenario_disk_json {
	int64_t mb;
};
struct scenario_resources_json {
	struct scenario_cpu_json cpu;
	struct scenario_memory_json memory;
	struct scenario_disk_json disk;
	struct array networks, node_networks,
		devices; // scenario_network_json, scenario_node_network_json, scenario_device_json
	int64_t min_dynamic_port, max_dynamic_port;
};
struct scenario_reserved_networks_json {
	char *reserved_host_ports;
};
struct scenario_reserved_json {
	struct scenario_cpu_json cpu;
	struct scenario_memory_json memory;
	struct scenario_disk_json disk;
	struct scenario_reserved_networks_json networks;
};
struct scenario_standing_json {
	int standing; // enum node_standing
	char *snapshot;
};
struct scenario_berth_json {
	struct scenario_standing_json lifecycle;
};
struct scenario_node_json {
	struct uuid id;
	char *name, *datacenter, *class_name, *pool, *computed_class, *status_description;
	char *snapshot;                   // in a scenario's form
	struct scenario_berth_json berth; // in the API's form
	struct array attributes, meta;    // string_pair
	struct array drivers, volumes;    // scenario_driver_json, scenario_volume_json
	struct scenario_resources_json resources;
	struct scenario_reserved_json reserved;
	struct drain_strategy *drain;
	bool is_draining;
	int eligibility, status;
	uint64_t create_index, modify_index;
};

extern const struct record_type scenario_node_json_description;

// A node of a scenario; the record points into the JSON form.
struct scenario_node {
	struct node record; // first
	struct node_class node_class;
	struct scenario_node_json given;
	struct attribute *attributes, *meta, *drivers;
	struct own_rows own;
	struct node_fittings fittings;
	struct device_group *devices;
	struct host_volume *volumes;
	struct node_network *networks;
	struct node_address *addresses;
	char *cores;
	struct scenario_allocation *allocations; // on it
};

// Reads and makes a node; collects mistakes in the report. Release the node in any case.
void scenario_node_read(struct scenario_node *, json_t *, const char *path, struct json_report *);
void scenario_node_release(struct scenario_node *);
// The id of a device group's instance, by its bit in a device_set, or NULL.
const char *scenario_device_id(const struct scenario_node *, uint32_t group, uint32_t instance);
// Adds the bits of the instances with these ids to set.
void scenario_device_bits(const struct scenario_node *, const char *vendor, const char *type,
	const char *name, const struct array *ids, struct device_set *set);
