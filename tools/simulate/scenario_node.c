#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/number_ranges.h"
#include "tools/simulate/scenario_node_json.h"
#include <stdio.h>
#include <stdlib.h>

#define PORT_MOST 65535
#define AMOUNT_MOST INT32_MAX

// A node under construction, and where mistakes are noted.
struct making {
	struct scenario_node *node;
	const char *path;
	struct json_report *report;
};

static uint32_t amount(struct making *m, const char *field, int64_t value, int64_t most)
{
	if (value >= 0 && value <= most)
		return (uint32_t)value;
	json_sentence(&m->report->errors, "%s.%s: must be from 0 to %lld, not %lld", m->path, field,
		(long long)most, (long long)value);
	return 0;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static const char *ports(struct making *m, const char *field, const char *text)
{
	if (!text || number_ranges_are_sound(text_of(text), PORT_MOST))
		return or_empty(text);
	json_sentence(&m->report->errors,
		"%s.%s: \"%.64s\" is no list of ports; write it like \"22,8000-8010\"", m->path,
		field, text);
	return "";
}

// Chooses the attributes that are not unique to the node; sorted by name, as the map is.
static struct attribute *choose_shared(const struct array *pairs, uint32_t *count)
{
	struct attribute *chosen = memory_take_array(pairs->count + 1, sizeof *chosen);
	*count = 0;
	for (uint32_t i = 0; i < pairs->count; i++) {
		const struct string_pair *pair = ARRAY_AT(pairs, struct string_pair, i);
		if (!attribute_is_unique(text_of(pair->name)))
			chosen[(*count)++] = (struct attribute){pair->name, or_empty(pair->value)};
	}
	return chosen;
}

static void choose_own(struct own_rows *rows, const struct array *pairs,
	void add(struct own_rows *, struct text name, struct text value))
{
	for (uint32_t i = 0; i < pairs->count; i++) {
		const struct string_pair *pair = ARRAY_AT(pairs, struct string_pair, i);
		if (attribute_is_unique(text_of(pair->name)))
			add(rows, text_of(pair->name), text_of(or_empty(pair->value)));
	}
}

static void make_attributes(struct scenario_node *n)
{
	struct node_class *c = &n->node_class;
	n->attributes = choose_shared(&n->given.attributes, &c->attribute_count);
	n->meta = choose_shared(&n->given.meta, &c->meta_count);
	n->own = own_rows_begin(TEXT(""), text_of(or_empty(n->given.name)), TEXT(""));
	choose_own(&n->own, &n->given.attributes, own_rows_add_attribute);
	choose_own(&n->own, &n->given.meta, own_rows_add_meta);
	own_rows_show(&n->own, &n->record);
	c->attributes = n->attributes;
	c->meta = n->meta;
}

static void make_drivers(struct scenario_node *n)
{
	n->drivers = memory_take_array(n->given.drivers.count + 1, sizeof *n->drivers);
	for (uint32_t i = 0; i < n->given.drivers.count; i++) {
		const struct scenario_driver_json *driver =
			ARRAY_AT(&n->given.drivers, struct scenario_driver_json, i);
		bool usable = driver->detected && driver->healthy;
		n->drivers[i] = (struct attribute){driver->name, usable ? "1" : "0"};
	}
	n->node_class.drivers = n->drivers;
	n->node_class.driver_count = n->given.drivers.count;
}

static void make_volumes(struct scenario_node *n)
{
	n->volumes = memory_take_array(n->given.volumes.count + 1, sizeof *n->volumes);
	for (uint32_t i = 0; i < n->given.volumes.count; i++) {
		const struct scenario_volume_json *volume =
			ARRAY_AT(&n->given.volumes, struct scenario_volume_json, i);
		n->volumes[i] = (struct host_volume){
			volume->name, or_empty(volume->path), volume->read_only};
	}
	n->fittings.volumes = n->volumes;
	n->fittings.volume_count = n->given.volumes.count;
}

// Writes an attribute's value as text with its unit, as nodes report it.
static void make_text(struct scenario_device_attribute_json *a)
{
	char *text = NULL;
	if (a->string)
		return;
	if (a->flag.set)
		text = text_copy(a->flag.value ? TEXT("true") : TEXT("false"));
	else if (a->integer.set)
		CHECK(asprintf(&text, "%lld%s%s", (long long)a->integer.value, a->unit ? " " : "",
			      or_empty(a->unit)) >= 0);
	else
		CHECK(asprintf(&text, "%.17g%s%s", a->real, a->unit ? " " : "",
			      or_empty(a->unit)) >= 0);
	a->string = text;
}

static struct attribute *make_device_attributes(struct scenario_device_json *given)
{
	struct attribute *made = memory_take_array(given->attributes.count + 1, sizeof *made);
	for (uint32_t i = 0; i < given->attributes.count; i++) {
		struct scenario_device_attribute_json *a =
			ARRAY_AT(&given->attributes, struct scenario_device_attribute_json, i);
		make_text(a);
		made[i] = (struct attribute){a->name, a->string};
	}
	return made;
}

static uint32_t healthy_instances(const struct scenario_device_json *given)
{
	uint32_t healthy = 0;
	for (uint32_t i = 0; i < given->instances.count; i++)
		healthy += ARRAY_AT(&given->instances, struct scenario_instance_json, i)->healthy;
	return healthy;
}

static void make_device(struct making *m, uint32_t i)
{
	struct scenario_device_json *given =
		ARRAY_AT(&m->node->given.resources.devices, struct scenario_device_json, i);
	uint32_t healthy = healthy_instances(given);
	m->node->devices[i] = (struct device_group){
		.vendor = or_empty(given->vendor),
		.type = or_empty(given->type),
		.name = or_empty(given->name),
		.instances = (uint8_t)amount(
			m, "NodeResources.Devices.Instances", healthy, NODE_DEVICES_MAX),
		.attribute_count = given->attributes.count,
		.attributes = make_device_attributes(given),
	};
}

static void make_devices(struct making *m)
{
	struct scenario_node *n = m->node;
	uint32_t count = n->given.resources.devices.count;
	if (count > NODE_DEVICE_GROUPS_MAX) {
		json_sentence(&m->report->errors,
			"%s.NodeResources.Devices: %u groups; a node may have %u", m->path, count,
			NODE_DEVICE_GROUPS_MAX);
		count = 0;
	}
	n->devices = memory_take_array(count + 1, sizeof *n->devices);
	for (uint32_t i = 0; i < count; i++)
		make_device(m, i);
	n->node_class.devices = n->devices;
	n->node_class.device_count = count;
}

// The instance of that number among the healthy ones, which is its bit.
static const struct scenario_instance_json *instance_at(
	const struct scenario_device_json *given, uint32_t number)
{
	for (uint32_t i = 0; i < given->instances.count; i++) {
		const struct scenario_instance_json *instance =
			ARRAY_AT(&given->instances, struct scenario_instance_json, i);
		if (instance->healthy && number-- == 0)
			return instance;
	}
	return NULL;
}

const char *scenario_device_id(const struct scenario_node *n, uint32_t group, uint32_t instance)
{
	if (group >= n->node_class.device_count)
		return NULL;
	const struct scenario_instance_json *found = instance_at(
		ARRAY_AT(&n->given.resources.devices, struct scenario_device_json, group),
		instance);
	return found ? found->id : NULL;
}

static uint64_t bit_of(const struct scenario_device_json *given, const char *id)
{
	const struct scenario_instance_json *instance;
	for (uint32_t bit = 0; bit < NODE_DEVICES_MAX && (instance = instance_at(given, bit));
		bit++)
		if (instance->id && strcmp(instance->id, id) == 0)
			return 1ull << bit;
	return 0;
}

void scenario_device_bits(const struct scenario_node *n, const char *vendor, const char *type,
	const char *name, const struct array *ids, struct device_set *set)
{
	for (uint32_t g = 0; g < n->node_class.device_count; g++) {
		const struct device_group *group = &n->devices[g];
		if (strcmp(group->vendor, or_empty(vendor)) != 0 ||
			strcmp(group->type, or_empty(type)) != 0 ||
			strcmp(group->name, or_empty(name)) != 0)
			continue;
		const struct scenario_device_json *given =
			ARRAY_AT(&n->given.resources.devices, struct scenario_device_json, g);
		for (uint32_t i = 0; i < ids->count; i++)
			set->groups[g] |= bit_of(given, or_empty(*ARRAY_AT(ids, char *, i)));
	}
}

static uint32_t address_count(const struct scenario_resources_json *given)
{
	uint32_t count = given->networks.count;
	for (uint32_t i = 0; i < given->node_networks.count; i++)
		count += ARRAY_AT(&given->node_networks, struct scenario_node_network_json, i)
				 ->addresses.count;
	return count;
}

static struct node_network make_network(struct making *m,
	const struct scenario_node_network_json *given, struct node_address *addresses)
{
	for (uint32_t i = 0; i < given->addresses.count; i++) {
		const struct scenario_address_json *a =
			ARRAY_AT(&given->addresses, struct scenario_address_json, i);
		addresses[i] = (struct node_address){or_empty(a->alias), or_empty(a->address),
			ports(m, "NodeResources.NodeNetworks.Addresses.ReservedPorts",
				a->reserved_ports)};
	}
	return (struct node_network){or_empty(given->mode), or_empty(given->device),
		amount(m, "NodeResources.NodeNetworks.Speed", given->speed_mbits, AMOUNT_MOST),
		given->addresses.count, addresses};
}

// Agents before 0.12 report one address for each network.
static struct node_network make_old_network(
	struct making *m, const struct scenario_network_json *given, struct node_address *address)
{
	*address = (struct node_address){"default", or_empty(given->ip), ""};
	return (struct node_network){given->mode ? given->mode : "host", or_empty(given->device),
		amount(m, "NodeResources.Networks.MBits", given->mbits, AMOUNT_MOST), 1, address};
}

static void make_networks(struct making *m)
{
	struct scenario_node *n = m->node;
	const struct scenario_resources_json *given = &n->given.resources;
	bool old = given->node_networks.count == 0;
	uint32_t count = old ? given->networks.count : given->node_networks.count, used = 0;
	n->networks = memory_take_array(count + 1, sizeof *n->networks);
	n->addresses = memory_take_array(address_count(given) + 1, sizeof *n->addresses);
	for (uint32_t i = 0; i < count; i++) {
		n->networks[i] =
			old ? make_old_network(m,
				      ARRAY_AT(&given->networks, struct scenario_network_json, i),
				      &n->addresses[used])
			    : make_network(m,
				      ARRAY_AT(&given->node_networks,
					      struct scenario_node_network_json, i),
				      &n->addresses[used]);
		used += n->networks[i].address_count;
	}
	n->fittings.networks = n->networks;
	n->fittings.network_count = count;
	n->fittings.reserved_ports = ports(m, "ReservedResources.Networks.ReservedHostPorts",
		n->given.reserved.networks.reserved_host_ports);
	n->record.port_least = (uint16_t)amount(
		m, "NodeResources.MinDynamicPort", given->min_dynamic_port, PORT_MOST);
	n->record.port_most = (uint16_t)amount(
		m, "NodeResources.MaxDynamicPort", given->max_dynamic_port, PORT_MOST);
}

static bool contains_port(const struct array *numbers, int64_t number)
{
	for (uint32_t i = 0; i < numbers->count; i++)
		if (*ARRAY_AT(numbers, int64_t, i) == number)
			return true;
	return false;
}

// "0,1,2": the reservable cores without those that the node keeps for itself.
static void make_cores(struct making *m)
{
	const struct array *all = &m->node->given.resources.cpu.reservable_cores;
	const struct array *kept = &m->node->given.reserved.cpu.reserved_cores;
	size_t size;
	FILE *out = open_memstream(&m->node->cores, &size);
	CHECK(out);
	const char *comma = "";
	for (uint32_t i = 0; i < all->count; i++) {
		int64_t core = *ARRAY_AT(all, int64_t, i);
		if (contains_port(kept, core))
			continue;
		fprintf(out, "%s%u", comma,
			amount(m, "NodeResources.Cpu.ReservableCpuCores", core, UINT16_MAX));
		comma = ",";
	}
	CHECK(fclose(out) == 0);
	m->node->fittings.reservable_cores = m->node->cores;
}

static void make_resources(struct making *m)
{
	const struct scenario_resources_json *total = &m->node->given.resources;
	const struct scenario_reserved_json *reserved = &m->node->given.reserved;
	struct node *n = &m->node->record;
	n->total = (struct resources){
		amount(m, "NodeResources.Cpu.CpuShares", total->cpu.shares, AMOUNT_MOST),
		amount(m, "NodeResources.Memory.MemoryMB", total->memory.mb, AMOUNT_MOST),
		amount(m, "NodeResources.Disk.DiskMB", total->disk.mb, AMOUNT_MOST)};
	n->reserved = (struct resources){
		amount(m, "ReservedResources.Cpu.CpuShares", reserved->cpu.shares, AMOUNT_MOST),
		amount(m, "ReservedResources.Memory.MemoryMB", reserved->memory.mb, AMOUNT_MOST),
		amount(m, "ReservedResources.Disk.DiskMB", reserved->disk.mb, AMOUNT_MOST)};
}

// The standing decides whether the node takes work; its time does not matter here.
static void make_standing(struct scenario_node *n)
{
	const struct scenario_standing_json *given = &n->given.berth.lifecycle;
	static const struct standing stands[NODE_STANDINGS] = {[NODE_SUSPENDED] = {.lost_ns = 1},
		[NODE_OFFLINED] = {.offlined = true},
		[NODE_FORGOTTEN] = {.forgotten = true}};
	n->record.standing = stands[given->standing];
	n->record.snapshot = n->given.snapshot ? n->given.snapshot : or_empty(given->snapshot);
}

static void make_identity(struct making *m)
{
	const struct scenario_node_json *given = &m->node->given;
	struct node *n = &m->node->record;
	struct node_class *c = &m->node->node_class;
	if (uuid_is_zero(&given->id))
		json_sentence(&m->report->errors, "%s.ID: is missing; give it a UUID", m->path);
	n->id = given->id;
	n->record.create_index = given->create_index;
	n->record.modify_index = given->modify_index;
	n->generation = 1;
	n->status = (uint8_t)given->status;
	n->eligibility = (uint8_t)given->eligibility;
	n->drain = given->drain;
	n->node_class = c;
	c->datacenter = or_empty(given->datacenter);
	c->class_name = or_empty(given->class_name);
	c->pool = given->pool && *given->pool ? given->pool : "default";
}

void scenario_node_read(
	struct scenario_node *node, json_t *value, const char *path, struct json_report *report)
{
	static const struct drain_strategy unlimited;
	struct making m = {node, path, report};
	memset(node, 0, sizeof *node);
	node->record.fittings = &node->fittings;
	json_read_exact(&scenario_node_json_description, &node->given, value, path, report);
	make_identity(&m);
	make_standing(node);
	make_resources(&m);
	make_attributes(node);
	make_drivers(node);
	make_volumes(node);
	make_devices(&m);
	make_networks(&m);
	make_cores(&m);
	if (!node->record.drain && node->given.is_draining)
		node->record.drain = &unlimited;
}

void scenario_node_release(struct scenario_node *n)
{
	for (uint32_t i = 0; n->devices && i < n->node_class.device_count; i++)
		free((void *)n->devices[i].attributes);
	free(n->attributes);
	free(n->meta);
	own_rows_free(&n->own);
	free(n->drivers);
	free(n->devices);
	free(n->volumes);
	free(n->networks);
	free(n->addresses);
	free(n->cores);
	record_release(&scenario_node_json_description, &n->given);
}
