// One row per field of a node, named as in Nomad's API. Fields that no scheduler reads are accepted, so that a node may
// be pasted from the API, but not kept.
#include "tools/simulate/scenario_node_json.h"
#include "state/base/schema_table.h"

#define NOT_KEPT(name) ALWAYS(name, NULL)

// Like node_status_names and node_eligibility_names, NULL-ended.
static const char *const statuses[] = {"initializing", "ready", "down", "disconnected", NULL};
static const char *const eligibilities[] = {"eligible", "ineligible", NULL};

static const struct field scenario_driver_json_fields[] = {
	{"Name", FIELD_STRING, OF(scenario_driver_json, name)},
	{"Detected", FIELD_BOOL, OF(scenario_driver_json, detected)},
	{"Healthy", FIELD_BOOL, OF(scenario_driver_json, healthy)},
	NOT_KEPT("Attributes"),
	NOT_KEPT("HealthDescription"),
	NOT_KEPT("UpdateTime"),
};
static DESCRIBE(scenario_driver_json_description, scenario_driver_json);

static const struct field scenario_volume_json_fields[] = {
	{"Name", FIELD_STRING, OF(scenario_volume_json, name)},
	{"Path", FIELD_STRING, OF(scenario_volume_json, path)},
	{"ReadOnly", FIELD_BOOL, OF(scenario_volume_json, read_only)},
};
static DESCRIBE(scenario_volume_json_description, scenario_volume_json);

static const struct field scenario_address_json_fields[] = {
	{"Alias", FIELD_STRING, OF(scenario_address_json, alias)},
	{"Address", FIELD_STRING, OF(scenario_address_json, address)},
	{"Family", FIELD_STRING, OF(scenario_address_json, family)},
	{"ReservedPorts", FIELD_STRING, OF(scenario_address_json, reserved_ports)},
	NOT_KEPT("Gateway"),
};
static DESCRIBE(scenario_address_json_description, scenario_address_json);

static const struct field scenario_node_network_json_fields[] = {
	{"Mode", FIELD_STRING, OF(scenario_node_network_json, mode)},
	{"Device", FIELD_STRING, OF(scenario_node_network_json, device)},
	{"MacAddress", FIELD_STRING, OF(scenario_node_network_json, mac_address)},
	{"Speed", FIELD_I64, OF(scenario_node_network_json, speed_mbits)},
	{"Addresses", FIELD_ARRAY, OF(scenario_node_network_json, addresses),
		&scenario_address_json_description},
};
static DESCRIBE(scenario_node_network_json_description, scenario_node_network_json);

static const struct field scenario_network_json_fields[] = {
	{"Mode", FIELD_STRING, OF(scenario_network_json, mode)},
	{"Device", FIELD_STRING, OF(scenario_network_json, device)},
	{"CIDR", FIELD_STRING, OF(scenario_network_json, cidr)},
	{"IP", FIELD_STRING, OF(scenario_network_json, ip)},
	{"MBits", FIELD_I64, OF(scenario_network_json, mbits)},
	NOT_KEPT("Hostname"),
	NOT_KEPT("DNS"),
	NOT_KEPT("ReservedPorts"),
	NOT_KEPT("DynamicPorts"),
};
static DESCRIBE(scenario_network_json_description, scenario_network_json);

static const struct field scenario_device_attribute_json_fields[] = {
	{"Name", FIELD_STRING, OF(scenario_device_attribute_json, name)},
	{"Int", FIELD_OPTIONAL_I64, OF(scenario_device_attribute_json, integer)},
	{"Float", FIELD_F64, OF(scenario_device_attribute_json, real)},
	{"String", FIELD_STRING, OF(scenario_device_attribute_json, string)},
	{"Bool", FIELD_OPTIONAL_BOOL, OF(scenario_device_attribute_json, flag)},
	{"Unit", FIELD_STRING, OF(scenario_device_attribute_json, unit)},
};
static DESCRIBE(scenario_device_attribute_json_description, scenario_device_attribute_json);

static const struct field scenario_instance_json_fields[] = {
	{"ID", FIELD_STRING, OF(scenario_instance_json, id)},
	{"Healthy", FIELD_BOOL, OF(scenario_instance_json, healthy)},
	{"HealthDescription", FIELD_STRING, OF(scenario_instance_json, health_description)},
	NOT_KEPT("Locality"),
};
static DESCRIBE(scenario_instance_json_description, scenario_instance_json);

static const struct field scenario_device_json_fields[] = {
	{"Vendor", FIELD_STRING, OF(scenario_device_json, vendor)},
	{"Type", FIELD_STRING, OF(scenario_device_json, type)},
	{"Name", FIELD_STRING, OF(scenario_device_json, name)},
	{"Instances", FIELD_ARRAY, OF(scenario_device_json, instances),
		&scenario_instance_json_description},
	{"Attributes", FIELD_STRUCT_MAP, OF(scenario_device_json, attributes),
		&scenario_device_attribute_json_description},
};
static DESCRIBE(scenario_device_json_description, scenario_device_json);

static const struct field scenario_cpu_json_fields[] = {
	{"CpuShares", FIELD_I64, OF(scenario_cpu_json, shares)},
	{"TotalCpuCores", FIELD_I64, OF(scenario_cpu_json, total_cores)},
	{"ReservableCpuCores", FIELD_INTEGERS, OF(scenario_cpu_json, reservable_cores)},
	{"ReservedCpuCores", FIELD_INTEGERS, OF(scenario_cpu_json, reserved_cores)},
};
static DESCRIBE(scenario_cpu_json_description, scenario_cpu_json);

static const struct field scenario_memory_json_fields[] = {
	{"MemoryMB", FIELD_I64, OF(scenario_memory_json, mb)},
};
static DESCRIBE(scenario_memory_json_description, scenario_memory_json);

static const struct field scenario_disk_json_fields[] = {
	{"DiskMB", FIELD_I64, OF(scenario_disk_json, mb)},
};
static DESCRIBE(scenario_disk_json_description, scenario_disk_json);

static const struct field scenario_resources_json_fields[] = {
	{"Cpu", FIELD_STRUCT, OF(scenario_resources_json, cpu), &scenario_cpu_json_description},
	{"Memory", FIELD_STRUCT, OF(scenario_resources_json, memory),
		&scenario_memory_json_description},
	{"Disk", FIELD_STRUCT, OF(scenario_resources_json, disk), &scenario_disk_json_description},
	{"Networks", FIELD_ARRAY, OF(scenario_resources_json, networks),
		&scenario_network_json_description},
	{"NodeNetworks", FIELD_ARRAY, OF(scenario_resources_json, node_networks),
		&scenario_node_network_json_description},
	{"Devices", FIELD_ARRAY, OF(scenario_resources_json, devices),
		&scenario_device_json_description},
	{"MinDynamicPort", FIELD_I64, OF(scenario_resources_json, min_dynamic_port)},
	{"MaxDynamicPort", FIELD_I64, OF(scenario_resources_json, max_dynamic_port)},
};
static DESCRIBE(scenario_resources_json_description, scenario_resources_json);

static const struct field scenario_reserved_networks_json_fields[] = {
	{"ReservedHostPorts", FIELD_STRING,
		OF(scenario_reserved_networks_json, reserved_host_ports)},
};
static DESCRIBE(scenario_reserved_networks_json_description, scenario_reserved_networks_json);

static const struct field scenario_reserved_json_fields[] = {
	{"Cpu", FIELD_STRUCT, OF(scenario_reserved_json, cpu), &scenario_cpu_json_description},
	{"Memory", FIELD_STRUCT, OF(scenario_reserved_json, memory),
		&scenario_memory_json_description},
	{"Disk", FIELD_STRUCT, OF(scenario_reserved_json, disk), &scenario_disk_json_description},
	{"Networks", FIELD_STRUCT, OF(scenario_reserved_json, networks),
		&scenario_reserved_networks_json_description},
};
static DESCRIBE(scenario_reserved_json_description, scenario_reserved_json);

static const struct field drain_strategy_fields[] = {
	{"Deadline", FIELD_I64, OF(drain_strategy, deadline_ns), FLAGS(FIELD_DURATION)},
	{"ForceDeadline", FIELD_I64, OF(drain_strategy, force_deadline_ns), FLAGS(FIELD_TIME)},
	{"StartedAt", FIELD_I64, OF(drain_strategy, started_at_ns), FLAGS(FIELD_TIME)},
	{"IgnoreSystemJobs", FIELD_BOOL, OF(drain_strategy, ignore_system_jobs)},
};
static DESCRIBE(drain_strategy_description, drain_strategy);

static const struct field scenario_standing_json_fields[] = {
	{"Standing", FIELD_ENUM, OF(scenario_standing_json, standing), NULL, node_standing_names},
	{"Snapshot", FIELD_STRING, OF(scenario_standing_json, snapshot)},
	NOT_KEPT("Lost"),
	NOT_KEPT("Flaky"),
	NOT_KEPT("Ready"),
	NOT_KEPT("Since"),
	NOT_KEPT("Busy"),
};
static DESCRIBE(scenario_standing_json_description, scenario_standing_json);

static const struct field scenario_berth_json_fields[] = {
	{"Lifecycle", FIELD_STRUCT, OF(scenario_berth_json, lifecycle),
		&scenario_standing_json_description},
	NOT_KEPT("Slot"),
	NOT_KEPT("Generation"),
	NOT_KEPT("RegisteredAt"),
	NOT_KEPT("AgentVersion"),
	NOT_KEPT("Used"),
};
static DESCRIBE(scenario_berth_json_description, scenario_berth_json);

static const struct field scenario_node_json_fields[] = {
	{"ID", FIELD_UUID, OF(scenario_node_json, id)},
	{"Name", FIELD_STRING, OF(scenario_node_json, name)},
	{"Datacenter", FIELD_STRING, OF(scenario_node_json, datacenter)},
	{"NodeClass", FIELD_STRING, OF(scenario_node_json, class_name)},
	{"NodePool", FIELD_STRING, OF(scenario_node_json, pool)},
	{"ComputedClass", FIELD_STRING, OF(scenario_node_json, computed_class)},
	{"Attributes", FIELD_MAP, OF(scenario_node_json, attributes)},
	{"Meta", FIELD_MAP, OF(scenario_node_json, meta)},
	{"Drivers", FIELD_STRUCT_MAP, OF(scenario_node_json, drivers),
		&scenario_driver_json_description},
	{"HostVolumes", FIELD_STRUCT_MAP, OF(scenario_node_json, volumes),
		&scenario_volume_json_description},
	{"NodeResources", FIELD_STRUCT, OF(scenario_node_json, resources),
		&scenario_resources_json_description},
	{"ReservedResources", FIELD_STRUCT, OF(scenario_node_json, reserved),
		&scenario_reserved_json_description},
	{"DrainStrategy", FIELD_OPTIONAL, OF(scenario_node_json, drain),
		&drain_strategy_description},
	{"Drain", FIELD_BOOL, OF(scenario_node_json, is_draining)},
	{"SchedulingEligibility", FIELD_ENUM, OF(scenario_node_json, eligibility), NULL,
		eligibilities},
	{"Status", FIELD_ENUM, OF(scenario_node_json, status), NULL, statuses},
	{"Snapshot", FIELD_STRING, OF(scenario_node_json, snapshot)},
	{"Berth", FIELD_STRUCT, OF(scenario_node_json, berth), &scenario_berth_json_description},
	{"StatusDescription", FIELD_STRING, OF(scenario_node_json, status_description)},
	{"CreateIndex", FIELD_U64, OF(scenario_node_json, create_index)},
	{"ModifyIndex", FIELD_U64, OF(scenario_node_json, modify_index)},
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
DESCRIBE(scenario_node_json_description, scenario_node_json);
