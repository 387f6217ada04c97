// One row per field of a node, named as in Nomad's API. What schedulers do not look at is known, so that a node
// may be pasted as the API shows it, but not kept.
#include "tools/simulate/scenario_node_json.h"

#define OF(type, member) offsetof(struct type, member)
#define FLAGS(flags) NULL, NULL, flags
#define DESCRIBE(variable, type)                                                        \
	const struct record_type variable = {#type, sizeof(struct type), type##_fields, \
		sizeof type##_fields / sizeof type##_fields[0], NULL}

#define NOT_KEPT(name)                              \
	{                                           \
		name, FIELD_FIXED, 0, NULL, NULL, 0 \
	}

// As node_status_names and node_eligibility_names, with an end.
static const char *const statuses[] = {"initializing", "ready", "down", "disconnected", NULL};
static const char *const eligibilities[] = {"eligible", "ineligible", NULL};

static const struct field said_driver_fields[] = {
	{"Name", FIELD_STRING, OF(said_driver, name)},
	{"Detected", FIELD_BOOL, OF(said_driver, detected)},
	{"Healthy", FIELD_BOOL, OF(said_driver, healthy)},
	NOT_KEPT("Attributes"),
	NOT_KEPT("HealthDescription"),
	NOT_KEPT("UpdateTime"),
};
static DESCRIBE(said_driver_description, said_driver);

static const struct field said_volume_fields[] = {
	{"Name", FIELD_STRING, OF(said_volume, name)},
	{"Path", FIELD_STRING, OF(said_volume, path)},
	{"ReadOnly", FIELD_BOOL, OF(said_volume, read_only)},
};
static DESCRIBE(said_volume_description, said_volume);

static const struct field said_address_fields[] = {
	{"Alias", FIELD_STRING, OF(said_address, alias)},
	{"Address", FIELD_STRING, OF(said_address, address)},
	{"Family", FIELD_STRING, OF(said_address, family)},
	{"ReservedPorts", FIELD_STRING, OF(said_address, reserved_ports)},
	NOT_KEPT("Gateway"),
};
static DESCRIBE(said_address_description, said_address);

static const struct field said_node_network_fields[] = {
	{"Mode", FIELD_STRING, OF(said_node_network, mode)},
	{"Device", FIELD_STRING, OF(said_node_network, device)},
	{"MacAddress", FIELD_STRING, OF(said_node_network, mac_address)},
	{"Speed", FIELD_I64, OF(said_node_network, speed_mbits)},
	{"Addresses", FIELD_ARRAY, OF(said_node_network, addresses), &said_address_description},
};
static DESCRIBE(said_node_network_description, said_node_network);

static const struct field said_network_fields[] = {
	{"Mode", FIELD_STRING, OF(said_network, mode)},
	{"Device", FIELD_STRING, OF(said_network, device)},
	{"CIDR", FIELD_STRING, OF(said_network, cidr)},
	{"IP", FIELD_STRING, OF(said_network, ip)},
	{"MBits", FIELD_I64, OF(said_network, mbits)},
	NOT_KEPT("Hostname"),
	NOT_KEPT("DNS"),
	NOT_KEPT("ReservedPorts"),
	NOT_KEPT("DynamicPorts"),
};
static DESCRIBE(said_network_description, said_network);

static const struct field said_device_attribute_fields[] = {
	{"Name", FIELD_STRING, OF(said_device_attribute, name)},
	{"Int", FIELD_OPTIONAL_I64, OF(said_device_attribute, integer)},
	{"Float", FIELD_F64, OF(said_device_attribute, real)},
	{"String", FIELD_STRING, OF(said_device_attribute, string)},
	{"Bool", FIELD_OPTIONAL_BOOL, OF(said_device_attribute, flag)},
	{"Unit", FIELD_STRING, OF(said_device_attribute, unit)},
};
static DESCRIBE(said_device_attribute_description, said_device_attribute);

static const struct field said_instance_fields[] = {
	{"ID", FIELD_STRING, OF(said_instance, id)},
	{"Healthy", FIELD_BOOL, OF(said_instance, healthy)},
	{"HealthDescription", FIELD_STRING, OF(said_instance, health_description)},
	NOT_KEPT("Locality"),
};
static DESCRIBE(said_instance_description, said_instance);

static const struct field said_device_fields[] = {
	{"Vendor", FIELD_STRING, OF(said_device, vendor)},
	{"Type", FIELD_STRING, OF(said_device, type)},
	{"Name", FIELD_STRING, OF(said_device, name)},
	{"Instances", FIELD_ARRAY, OF(said_device, instances), &said_instance_description},
	{"Attributes", FIELD_STRUCT_MAP, OF(said_device, attributes),
		&said_device_attribute_description},
};
static DESCRIBE(said_device_description, said_device);

static const struct field said_cpu_fields[] = {
	{"CpuShares", FIELD_I64, OF(said_cpu, shares)},
	{"TotalCpuCores", FIELD_I64, OF(said_cpu, total_cores)},
	{"ReservableCpuCores", FIELD_INTEGERS, OF(said_cpu, reservable_cores)},
	{"ReservedCpuCores", FIELD_INTEGERS, OF(said_cpu, reserved_cores)},
};
static DESCRIBE(said_cpu_description, said_cpu);

static const struct field said_memory_fields[] = {
	{"MemoryMB", FIELD_I64, OF(said_memory, mb)},
};
static DESCRIBE(said_memory_description, said_memory);

static const struct field said_disk_fields[] = {
	{"DiskMB", FIELD_I64, OF(said_disk, mb)},
};
static DESCRIBE(said_disk_description, said_disk);

static const struct field said_resources_fields[] = {
	{"Cpu", FIELD_STRUCT, OF(said_resources, cpu), &said_cpu_description},
	{"Memory", FIELD_STRUCT, OF(said_resources, memory), &said_memory_description},
	{"Disk", FIELD_STRUCT, OF(said_resources, disk), &said_disk_description},
	{"Networks", FIELD_ARRAY, OF(said_resources, networks), &said_network_description},
	{"NodeNetworks", FIELD_ARRAY, OF(said_resources, node_networks),
		&said_node_network_description},
	{"Devices", FIELD_ARRAY, OF(said_resources, devices), &said_device_description},
	{"MinDynamicPort", FIELD_I64, OF(said_resources, min_dynamic_port)},
	{"MaxDynamicPort", FIELD_I64, OF(said_resources, max_dynamic_port)},
};
static DESCRIBE(said_resources_description, said_resources);

static const struct field said_reserved_networks_fields[] = {
	{"ReservedHostPorts", FIELD_STRING, OF(said_reserved_networks, reserved_host_ports)},
};
static DESCRIBE(said_reserved_networks_description, said_reserved_networks);

static const struct field said_reserved_fields[] = {
	{"Cpu", FIELD_STRUCT, OF(said_reserved, cpu), &said_cpu_description},
	{"Memory", FIELD_STRUCT, OF(said_reserved, memory), &said_memory_description},
	{"Disk", FIELD_STRUCT, OF(said_reserved, disk), &said_disk_description},
	{"Networks", FIELD_STRUCT, OF(said_reserved, networks),
		&said_reserved_networks_description},
};
static DESCRIBE(said_reserved_description, said_reserved);

static const struct field drain_strategy_fields[] = {
	{"Deadline", FIELD_I64, OF(drain_strategy, deadline_ns), FLAGS(FIELD_DURATION)},
	{"ForceDeadline", FIELD_I64, OF(drain_strategy, force_deadline_ns), FLAGS(FIELD_TIME)},
	{"StartedAt", FIELD_I64, OF(drain_strategy, started_at_ns), FLAGS(FIELD_TIME)},
	{"IgnoreSystemJobs", FIELD_BOOL, OF(drain_strategy, ignore_system_jobs)},
};
static DESCRIBE(drain_strategy_description, drain_strategy);

static const struct field said_standing_fields[] = {
	{"Standing", FIELD_ENUM, OF(said_standing, standing), NULL, node_standing_names},
	{"Snapshot", FIELD_STRING, OF(said_standing, snapshot)},
	NOT_KEPT("Lost"),
	NOT_KEPT("Flaky"),
	NOT_KEPT("Ready"),
	NOT_KEPT("Since"),
	NOT_KEPT("Busy"),
};
static DESCRIBE(said_standing_description, said_standing);

static const struct field said_berth_fields[] = {
	{"Lifecycle", FIELD_STRUCT, OF(said_berth, lifecycle), &said_standing_description},
	NOT_KEPT("Slot"),
	NOT_KEPT("Generation"),
	NOT_KEPT("RegisteredAt"),
	NOT_KEPT("AgentVersion"),
	NOT_KEPT("Used"),
};
static DESCRIBE(said_berth_description, said_berth);

static const struct field said_node_fields[] = {
	{"ID", FIELD_UUID, OF(said_node, id)},
	{"Name", FIELD_STRING, OF(said_node, name)},
	{"Datacenter", FIELD_STRING, OF(said_node, datacenter)},
	{"NodeClass", FIELD_STRING, OF(said_node, class_name)},
	{"NodePool", FIELD_STRING, OF(said_node, pool)},
	{"ComputedClass", FIELD_STRING, OF(said_node, computed_class)},
	{"Attributes", FIELD_MAP, OF(said_node, attributes)},
	{"Meta", FIELD_MAP, OF(said_node, meta)},
	{"Drivers", FIELD_STRUCT_MAP, OF(said_node, drivers), &said_driver_description},
	{"HostVolumes", FIELD_STRUCT_MAP, OF(said_node, volumes), &said_volume_description},
	{"NodeResources", FIELD_STRUCT, OF(said_node, resources), &said_resources_description},
	{"ReservedResources", FIELD_STRUCT, OF(said_node, reserved), &said_reserved_description},
	{"DrainStrategy", FIELD_OPTIONAL, OF(said_node, drain), &drain_strategy_description},
	{"Drain", FIELD_BOOL, OF(said_node, is_draining)},
	{"SchedulingEligibility", FIELD_ENUM, OF(said_node, eligibility), NULL, eligibilities},
	{"Status", FIELD_ENUM, OF(said_node, status), NULL, statuses},
	{"Snapshot", FIELD_STRING, OF(said_node, snapshot)},
	{"Berth", FIELD_STRUCT, OF(said_node, berth), &said_berth_description},
	{"StatusDescription", FIELD_STRING, OF(said_node, status_description)},
	{"CreateIndex", FIELD_U64, OF(said_node, create_index)},
	{"ModifyIndex", FIELD_U64, OF(said_node, modify_index)},
	NOT_KEPT("SecretID"),
	NOT_KEPT("HTTPAddr"),
	NOT_KEPT("TLSEnabled"),
	NOT_KEPT("Links"),
	NOT_KEPT("Events"),
	NOT_KEPT("LastDrain"),
	NOT_KEPT("StatusUpdatedAt"),
	NOT_KEPT("LastMissedHeartbeatIndex"),
	NOT_KEPT("LastAllocUpdateIndex"),
	NOT_KEPT("Resources"),
	NOT_KEPT("Reserved"),
	NOT_KEPT("HostNetworks"),
	NOT_KEPT("CSIControllerPlugins"),
	NOT_KEPT("CSINodePlugins"),
	NOT_KEPT("CgroupParent"),
};
DESCRIBE(said_node_description, said_node);
