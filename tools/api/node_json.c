#include "tools/api/node_json.h"
#include <stdio.h>
#include <stdlib.h>

#define NEVER "0001-01-01T00:00:00Z"

// The address is host:port for people; some fields want the host alone.
static struct text host_of(const char *address)
{
	struct text host = text_of(address);
	const char *colon = address ? strrchr(address, ':') : NULL;
	if (colon)
		host.size = (uint32_t)(colon - address);
	if (host.size >= 2 && host.data[0] == '[' && host.data[host.size - 1] == ']')
		host = (struct text){host.data + 1, host.size - 2};
	return host;
}

static void put_driver_attributes(
	struct json_writer *w, const struct node_class *class, const char *driver)
{
	char prefix[ATTRIBUTE_NAME_BYTES_MAX + 16];
	int size = snprintf(prefix, sizeof prefix, "driver.%s", driver);
	json_write_key(w, "Attributes");
	json_begin_object(w);
	for (uint32_t i = 0; i < class->attribute_count; i++) {
		const struct attribute *a = &class->attributes[i];
		if (strncmp(a->name, prefix, (size_t)size) == 0 &&
			(a->name[size] == '.' || a->name[size] == '\0'))
			json_put_string(w, a->name, a->value);
	}
	json_end_object(w);
}

static void put_drivers(struct json_writer *w, const struct node_class *class)
{
	json_write_key(w, "Drivers");
	json_begin_object(w);
	for (uint32_t i = 0; i < class->driver_count; i++) {
		const struct attribute *driver = &class->drivers[i];
		bool healthy = strcmp(driver->value, "1") == 0;
		json_write_key(w, driver->name);
		json_begin_object(w);
		put_driver_attributes(w, class, driver->name);
		json_put_bool(w, "Detected", true);
		json_put_bool(w, "Healthy", healthy);
		json_put_string(w, "HealthDescription", healthy ? "Healthy" : "Unhealthy");
		json_put_string(w, "UpdateTime", NEVER);
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
	json_put_null(w, "Attributes");
	json_write_key(w, "Instances");
	json_begin_array(w);
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
	json_write_key(w, "Devices");
	if (class->device_count == 0) {
		json_write_null(w);
		return;
	}
	json_begin_array(w);
	for (uint32_t i = 0; i < class->device_count; i++)
		put_device_group(w, &class->devices[i]);
	json_end_array(w);
}

// One member object with one number, Nomad's way to say {"Memory": {"MemoryMB": n}}.
static void put_amount(struct json_writer *w, const char *what, const char *unit, uint64_t amount)
{
	json_write_key(w, what);
	json_begin_object(w);
	json_put_u64(w, unit, amount);
	json_end_object(w);
}

static void put_node_resources(struct json_writer *w, const struct node *node)
{
	const char *cores = node_attribute(node, "cpu.numcores");
	json_write_key(w, "NodeResources");
	json_begin_object(w);
	json_write_key(w, "Cpu");
	json_begin_object(w);
	json_put_u64(w, "CpuShares", node->total.cpu_mhz);
	json_put_u64(w, "TotalCpuCores", cores ? strtoul(cores, NULL, 10) : 0);
	json_put_null(w, "ReservableCpuCores");
	json_end_object(w);
	put_amount(w, "Memory", "MemoryMB", node->total.memory_mb);
	put_amount(w, "Disk", "DiskMB", node->total.disk_mb);
	json_put_null(w, "Networks");
	json_put_null(w, "NodeNetworks");
	put_devices(w, node->node_class);
	json_end_object(w);
}

static void put_reserved_resources(struct json_writer *w, const struct node *node)
{
	json_write_key(w, "ReservedResources");
	json_begin_object(w);
	json_write_key(w, "Cpu");
	json_begin_object(w);
	json_put_u64(w, "CpuShares", node->reserved.cpu_mhz);
	json_put_null(w, "ReservedCpuCores");
	json_end_object(w);
	put_amount(w, "Memory", "MemoryMB", node->reserved.memory_mb);
	put_amount(w, "Disk", "DiskMB", node->reserved.disk_mb);
	json_write_key(w, "Networks");
	json_begin_object(w);
	json_put_string(w, "ReservedHostPorts", "");
	json_end_object(w);
	json_end_object(w);
}

// The form of resources before version 0.9, which Nomad's command line still adds up.
static void put_legacy_resources(struct json_writer *w, const char *key, struct resources amounts)
{
	json_write_key(w, key);
	json_begin_object(w);
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

static void put_pairs(struct json_writer *w, const struct attribute *pairs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		json_put_string(w, pairs[i].name, pairs[i].value);
}

static void put_identity(struct json_writer *w, const struct node *node)
{
	json_put_uuid(w, "ID", &node->id);
	json_put_string(w, "Datacenter", node->node_class->datacenter);
	json_put_string(w, "Name", node->name);
	json_put_string(w, "NodeClass", node->node_class->class_name);
	json_put_string(w, "NodePool", node->node_class->pool);
	json_put_bool(w, "Drain", false);
	json_put_string(w, "SchedulingEligibility", node_eligibility_names[node->eligibility]);
	json_put_string(w, "Status", node_status_names[node->status]);
	json_put_string(w, "StatusDescription", node->status_description);
	put_drivers(w, node->node_class);
	json_put_null(w, "HostVolumes");
	json_put_null(w, "LastDrain");
	json_put_u64(w, "CreateIndex", node->record.create_index);
	json_put_u64(w, "ModifyIndex", node->record.modify_index);
}

void node_json_stub(struct json_writer *w, const struct node *node, bool resources)
{
	json_begin_object(w);
	json_write_key(w, "Address");
	json_write_text(w, host_of(node->address));
	put_identity(w, node);
	json_put_string(w, "Version", node->version);
	if (resources) {
		put_node_resources(w, node);
		put_reserved_resources(w, node);
	} else {
		json_put_null(w, "NodeResources");
		json_put_null(w, "ReservedResources");
	}
	json_end_object(w);
}

// What only Berth knows of a node.
static void put_berth(struct json_writer *w, struct state *state, const struct node *node)
{
	const struct node_cell *cell = state_node_cell(state, node->slot);
	json_write_key(w, "Berth");
	json_begin_object(w);
	json_put_u64(w, "Slot", node->slot);
	json_put_u64(w, "Generation", node->generation);
	json_write_key(w, "RegisteredAt");
	json_write_time(w, (int64_t)node->register_sequence * 1000000);
	json_put_string(w, "AgentVersion", node->version);
	put_legacy_resources(w, "Used", cell->used);
	json_put_u64(w, "Allocations", cell->allocation_count);
	json_end_object(w);
}

static void put_attributes(struct json_writer *w, const struct node *node)
{
	json_write_key(w, "Attributes");
	json_begin_object(w);
	put_pairs(w, node->node_class->attributes, node->node_class->attribute_count);
	put_pairs(w, node->unique_attributes, node->unique_attribute_count);
	json_end_object(w);
	json_write_key(w, "Meta");
	json_begin_object(w);
	put_pairs(w, node->node_class->meta, node->node_class->meta_count);
	put_pairs(w, node->unique_meta, node->unique_meta_count);
	json_end_object(w);
}

void node_json(struct json_writer *w, struct state *state, const struct node *node)
{
	char class_hash[32];
	snprintf(class_hash, sizeof class_hash, "v1:%llu",
		(unsigned long long)node->node_class->hash);
	json_begin_object(w);
	put_identity(w, node);
	put_attributes(w, node);
	json_put_string(w, "ComputedClass", class_hash);
	json_put_string(w, "HTTPAddr", node->address);
	json_put_bool(w, "TLSEnabled", false);
	json_put_string(w, "SecretID", "");
	json_put_u64(w, "StatusUpdatedAt", node->status_updated_at_s);
	json_put_null(w, "DrainStrategy");
	json_put_null(w, "Links");
	json_put_null(w, "Events");
	json_put_null(w, "CSIControllerPlugins");
	json_put_null(w, "CSINodePlugins");
	put_node_resources(w, node);
	put_reserved_resources(w, node);
	put_legacy_resources(w, "Resources", node->total);
	put_legacy_resources(w, "Reserved", node->reserved);
	put_berth(w, state, node);
	json_end_object(w);
}
