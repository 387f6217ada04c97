#include "tools/forms/node_resources_json.h"
#include "state/base/limits.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

// Range of dynamic ports for a node that reported none.
enum { PORT_LEAST = 20000, PORT_MOST = 32000 };

static void put_device_attributes(struct json_writer *w, const struct device_group *group)
{
	if (!json_open_object_if(w, "Attributes", group->attribute_count > 0))
		return;
	for (uint32_t i = 0; i < group->attribute_count; i++) {
		json_open_object(w, group->attributes[i].name);
		json_put_string(w, "String", group->attributes[i].value);
		json_end_object(w);
	}
	json_end_object(w);
}

static void put_device_group(struct json_writer *w, const struct device_group *group)
{
	json_begin_object(w);
	json_put_string(w, "Vendor", group->vendor);
	json_put_string(w, "Type", group->type);
	json_put_string(w, "Name", group->name);
	put_device_attributes(w, group);
	json_open_array(w, "Instances");
	for (uint32_t i = 0; i < group->instances; i++) {
		char id[8];
		snprintf(id, sizeof id, "%u", i);
		json_begin_object(w);
		json_put_string(w, "ID", id);
		json_put_bool(w, "Healthy", true);
		json_put_string(w, "HealthDescription", "");
		json_put_null(w, "Locality");
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
}

static void put_devices(struct json_writer *w, const struct node_class *class)
{
	if (!json_open_array_if(w, "Devices", class->device_count > 0))
		return;
	for (uint32_t i = 0; i < class->device_count; i++)
		put_device_group(w, &class->devices[i]);
	json_end_array(w);
}

static bool is_six(const char *address)
{
	return address && strchr(address, ':');
}

static const char *mode_of(const struct node_network *network)
{
	return network->mode && *network->mode ? network->mode : "host";
}

// The old form has one address for each network.
static void put_network(struct json_writer *w, const struct node_network *network)
{
	const char *address = network->address_count ? network->addresses[0].address : "";
	char cidr[INET6_ADDRSTRLEN + 8] = "";
	if (*address)
		snprintf(cidr, sizeof cidr, "%.*s/%u", INET6_ADDRSTRLEN, address,
			is_six(address) ? 128 : 32);
	json_begin_object(w);
	json_put_string(w, "Mode", mode_of(network));
	json_put_string(w, "Device", network->device);
	json_put_string(w, "CIDR", cidr);
	json_put_string(w, "IP", address);
	json_put_u64(w, "MBits", network->speed_mbits);
	json_put_null(w, "DNS");
	json_put_null(w, "ReservedPorts");
	json_put_null(w, "DynamicPorts");
	json_end_object(w);
}

static void put_node_network(struct json_writer *w, const struct node_network *network)
{
	json_begin_object(w);
	json_put_string(w, "Mode", mode_of(network));
	json_put_string(w, "Device", network->device);
	json_put_string(w, "MacAddress", "");
	json_put_u64(w, "Speed", network->speed_mbits);
	json_open_array(w, "Addresses");
	for (uint32_t i = 0; i < network->address_count; i++) {
		const struct node_address *address = &network->addresses[i];
		json_begin_object(w);
		json_put_string(w, "Family", is_six(address->address) ? "ipv6" : "ipv4");
		json_put_string(w, "Alias", address->alias);
		json_put_string(w, "Address", address->address);
		json_put_string(w, "ReservedPorts", address->reserved_ports);
		json_put_string(w, "Gateway", "");
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
}

static void put_networks(struct json_writer *w, const struct node *node, const char *key,
	void (*put)(struct json_writer *, const struct node_network *))
{
	if (!json_open_array_if(w, key, node_fittings(node)->network_count > 0))
		return;
	for (uint32_t i = 0; i < node_fittings(node)->network_count; i++)
		put(w, &node_fittings(node)->networks[i]);
	json_end_array(w);
}

// Lists every number of "0-3,8".
static void put_cores(struct json_writer *w, const char *cores)
{
	if (!json_open_array_if(w, "ReservableCpuCores", cores && *cores))
		return;
	while (*cores) {
		char *end;
		unsigned long first = strtoul(cores, &end, 10);
		unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
		for (; first <= last && first < CORES_MAX; first++)
			json_write_u64(w, first);
		cores = *end == ',' ? end + 1 : "";
	}
	json_end_array(w);
}

// An object with one number, as Nomad has it: {"Memory": {"MemoryMB": n}}.
static void put_amount(struct json_writer *w, const char *what, const char *unit, uint64_t amount)
{
	json_open_object(w, what);
	json_put_u64(w, unit, amount);
	json_end_object(w);
}

static void put_node_resources(struct json_writer *w, const struct node *node)
{
	const char *cores = node_attribute(node, "cpu.numcores");
	json_open_object(w, "NodeResources");
	json_open_object(w, "Cpu");
	json_put_u64(w, "CpuShares", node->total.cpu_mhz);
	json_put_u64(w, "TotalCpuCores", cores ? strtoul(cores, NULL, 10) : 0);
	put_cores(w, node_fittings(node)->reservable_cores);
	json_end_object(w);
	put_amount(w, "Memory", "MemoryMB", node->total.memory_mb);
	put_amount(w, "Disk", "DiskMB", node->total.disk_mb);
	put_networks(w, node, "Networks", put_network);
	put_networks(w, node, "NodeNetworks", put_node_network);
	json_put_u64(w, "MinDynamicPort", node->port_least ? node->port_least : PORT_LEAST);
	json_put_u64(w, "MaxDynamicPort", node->port_most ? node->port_most : PORT_MOST);
	put_devices(w, node->node_class);
	json_end_object(w);
}

static void put_reserved_resources(struct json_writer *w, const struct node *node)
{
	json_open_object(w, "ReservedResources");
	json_open_object(w, "Cpu");
	json_put_u64(w, "CpuShares", node->reserved.cpu_mhz);
	json_put_null(w, "ReservedCpuCores");
	json_end_object(w);
	put_amount(w, "Memory", "MemoryMB", node->reserved.memory_mb);
	put_amount(w, "Disk", "DiskMB", node->reserved.disk_mb);
	json_open_object(w, "Networks");
	json_put_string(w, "ReservedHostPorts", node_fittings(node)->reserved_ports);
	json_end_object(w);
	json_end_object(w);
}

void node_resources_json(struct json_writer *w, const struct node *node)
{
	put_node_resources(w, node);
	put_reserved_resources(w, node);
}

void node_resources_json_legacy(struct json_writer *w, const char *key, struct resources amounts)
{
	json_open_object(w, key);
	json_put_u64(w, "CPU", amounts.cpu_mhz);
	json_put_u64(w, "Cores", 0);
	json_put_u64(w, "MemoryMB", amounts.memory_mb);
	json_put_u64(w, "MemoryMaxMB", 0);
	json_put_u64(w, "DiskMB", amounts.disk_mb);
	json_put_u64(w, "IOPS", 0);
	json_put_null(w, "Networks");
	json_put_null(w, "Devices");
	json_end_object(w);
}
