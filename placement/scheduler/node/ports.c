#include "placement/scheduler/node/ports.h"
#include "placement/scheduler/common/growing.h"
#include "state/base/check.h"
#include <stdlib.h>
#include <string.h>

#define DYNAMIC_PROBES 20u

void port_index_release(struct port_index *index)
{
	free(index->maps);
	index->maps = NULL;
	index->map_count = index->map_room = 0;
}

static struct port_map *map_of(const struct port_index *index, const char *address)
{
	for (uint32_t i = 0; address && i < index->map_count; i++)
		if (strcmp(index->maps[i].address, address) == 0)
			return &index->maps[i];
	return NULL;
}

static bool is_taken(const struct port_map *map, int64_t port)
{
	CHECK(port >= 0 && port < PORTS);
	return map->taken[port / 64] >> (port % 64) & 1;
}

static void take_port(struct port_map *map, int64_t port)
{
	if (map && port >= 0 && port < PORTS)
		map->taken[port / 64] |= 1ull << (port % 64);
}

// Takes ranges like "22,80,8000-8010". Registration has checked them, so whatever does not parse is passed over.
static void take_ranges(struct port_map *map, const char *ranges)
{
	CHECK(map);
	while (ranges && *ranges) {
		char *end;
		long first = strtol(ranges, &end, 10), last = first;
		if (end == ranges)
			return;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (long port = first; port <= last && port < (long)PORTS; port++)
			take_port(map, port);
		ranges = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			return;
	}
}

static void add_address(struct port_index *index, const struct node_address *address)
{
	CHECK(address->address);
	struct port_map *map = map_of(index, address->address);
	if (!map) {
		GROW(index->maps, index->map_count, index->map_room);
		map = &index->maps[index->map_count++];
		*map = (struct port_map){.address = address->address};
		take_ranges(map, node_fittings(index->node)->reserved_ports);
	}
	take_ranges(map, address->reserved_ports);
}

void port_index_begin(struct port_index *index, const struct node *node)
{
	index->node = node;
	index->map_count = 0;
	const struct node_fittings *fittings = node_fittings(node);
	for (uint32_t i = 0; i < fittings->network_count; i++)
		for (uint32_t j = 0; j < fittings->networks[i].address_count; j++)
			if (fittings->networks[i].addresses[j].address)
				add_address(index, &fittings->networks[i].addresses[j]);
	CHECK(index->map_count <= index->map_room);
}

static void take_ports(struct port_index *index, const char *address, const struct array *ports)
{
	for (uint32_t i = 0; i < ports->count; i++)
		take_port(map_of(index, address), ARRAY_AT(ports, struct port, i)->value);
}

static void take_networks(struct port_index *index, const struct array *networks)
{
	for (uint32_t i = 0; i < networks->count; i++) {
		const struct allocated_network *n = ARRAY_AT(networks, struct allocated_network, i);
		take_ports(index, n->ip, &n->reserved_ports);
		take_ports(index, n->ip, &n->dynamic_ports);
	}
}

void port_index_take(struct port_index *index, const struct alloc_details *details)
{
	if (!details)
		return;
	for (uint32_t i = 0; i < details->ports.count; i++) {
		const struct allocated_port *p =
			ARRAY_AT(&details->ports, struct allocated_port, i);
		take_port(map_of(index, p->host_ip), p->value);
	}
	// The group's network repeats its ports, all on one address.
	if (details->ports.count == 0)
		take_networks(index, &details->networks);
	for (uint32_t i = 0; i < details->tasks.count; i++)
		take_networks(
			index, &ARRAY_AT(&details->tasks, struct allocated_task, i)->networks);
}

bool port_is_taken(const struct port_index *index, const char *address, int64_t port)
{
	const struct port_map *map = map_of(index, address);
	return map && port >= 0 && port < PORTS && is_taken(map, port);
}

// Finds a free dynamic port; -1: none is left. A few random probes spread new ports over the range, so that a port is
// not given out again at once; then the whole range is searched.
static int64_t find_dynamic(struct port_index *index, const struct port_map *map)
{
	CHECK(index->node);
	int64_t least = index->node->port_least ? index->node->port_least : DYNAMIC_PORT_LEAST;
	int64_t most = index->node->port_most ? index->node->port_most : DYNAMIC_PORT_MOST;
	for (uint32_t i = 0; i < DYNAMIC_PROBES && most > least; i++) {
		int64_t port = least + (int64_t)prng_below(&index->prng, (uint64_t)(most - least));
		if (!is_taken(map, port))
			return port;
	}
	for (int64_t port = least; port <= most; port++)
		if (!is_taken(map, port))
			return port;
	return -1;
}

static const char *check_static(
	struct reasons *reasons, const struct port_map *map, const struct port *ask)
{
	const char *label = ask->label ? ask->label : "";
	if (ask->value < 0 || ask->value >= PORTS)
		return reasons_format(
			reasons, "invalid port %lld (out of range)", (long long)ask->value);
	if (is_taken(map, ask->value))
		return reasons_format(
			reasons, "reserved port collision %s=%lld", label, (long long)ask->value);
	return NULL;
}

static char *copy_text(const char *text)
{
	return text_copy(text_of(text));
}

static struct port *put_port(struct array *ports, const struct node *node, const struct port *ask,
	int64_t value, int64_t to)
{
	CHECK(value >= 0 && value < PORTS);
	char id[UUID_TEXT_BYTES];
	struct port *port = array_append(ports, sizeof *port);
	port->label = copy_text(ask->label);
	port->host_network = ask->host_network
				     ? copy_text(port_host_network(node, ask->host_network, id))
				     : NULL;
	port->value = value;
	port->to = to;
	return port;
}

static void put_allocated(
	struct alloc_details *details, const struct port *port, const char *address)
{
	CHECK(address);
	struct allocated_port *given = array_append(&details->ports, sizeof *given);
	given->label = copy_text(port->label);
	given->host_ip = copy_text(address);
	given->value = port->value;
	given->to = port->to;
}

static const char *host_network_of(const struct port *port)
{
	return port->host_network && port->host_network[0] ? port->host_network : "default";
}

static const char *assign_static(struct port_index *index, struct reasons *reasons,
	const struct port *ask, struct alloc_details *details, struct allocated_network *network)
{
	CHECK(index->node);
	const char *address = port_address(index->node, ask->host_network);
	struct port_map *map = map_of(index, address);
	if (!map)
		return reasons_format(
			reasons, "no addresses available for %s network", host_network_of(ask));
	const char *refusal = check_static(reasons, map, ask);
	if (refusal)
		return refusal;
	take_port(map, ask->value);
	put_allocated(details,
		put_port(&network->reserved_ports, index->node, ask, ask->value, ask->to), address);
	return NULL;
}

static const char *assign_dynamic(struct port_index *index, struct reasons *reasons,
	const struct port *ask, struct alloc_details *details, struct allocated_network *network)
{
	CHECK(index->node);
	const char *address = port_address(index->node, ask->host_network);
	struct port_map *map = map_of(index, address);
	if (!map)
		return reasons_format(
			reasons, "no addresses available for %s network", host_network_of(ask));
	int64_t value = find_dynamic(index, map);
	if (value < 0)
		return "dynamic port selection failed";
	take_port(map, value);
	put_allocated(details,
		put_port(&network->dynamic_ports, index->node, ask, value,
			ask->to == -1 ? value : ask->to),
		address);
	return NULL;
}

static const char *host_address(const struct node *node)
{
	const struct node_fittings *fittings = node_fittings(node);
	for (uint32_t i = 0; i < fittings->network_count; i++) {
		const struct node_network *n = &fittings->networks[i];
		bool is_host = !n->mode || !n->mode[0] || strcmp(n->mode, "host") == 0;
		if (is_host && n->address_count > 0)
			return n->addresses[0].address;
	}
	return NULL;
}

const char *ports_assign_group(struct port_index *index, struct reasons *reasons,
	const struct network_ask *ask, struct alloc_details *details)
{
	CHECK(index->node && details);
	struct allocated_network *network = array_append(&details->networks, sizeof *network);
	network->mode = copy_text(ask->mode);
	network->ip = copy_text(host_address(index->node));
	network->mbits = ask->mbits;
	const char *refusal = NULL;
	for (uint32_t i = 0; i < ask->reserved_ports.count && !refusal; i++)
		refusal = assign_static(index, reasons,
			ARRAY_AT(&ask->reserved_ports, struct port, i), details, network);
	for (uint32_t i = 0; i < ask->dynamic_ports.count && !refusal; i++)
		refusal = assign_dynamic(index, reasons,
			ARRAY_AT(&ask->dynamic_ports, struct port, i), details, network);
	return refusal;
}

// The first network with a device: where tasks have their own addresses and ports.
static const struct node_network *device_network(const struct node *node)
{
	const struct node_fittings *fittings = node_fittings(node);
	for (uint32_t i = 0; i < fittings->network_count; i++) {
		const struct node_network *n = &fittings->networks[i];
		if (n->device && n->device[0] && n->address_count > 0 && n->addresses[0].address)
			return n;
	}
	return NULL;
}

const char *ports_assign_task(struct port_index *index, struct reasons *reasons,
	const struct network_ask *ask, struct allocated_task *task)
{
	CHECK(index->node && task);
	const struct node_network *on = device_network(index->node);
	if (!on)
		return "no networks available";
	const char *address = on->addresses[0].address;
	struct port_map *map = map_of(index, address);
	CHECK(map);
	for (uint32_t i = 0; i < ask->reserved_ports.count; i++) {
		const char *refusal =
			check_static(reasons, map, ARRAY_AT(&ask->reserved_ports, struct port, i));
		if (refusal)
			return refusal;
	}
	struct allocated_network *network = array_append(&task->networks, sizeof *network);
	network->mode = copy_text(ask->mode);
	network->device = copy_text(on->device);
	network->ip = copy_text(address);
	network->mbits = ask->mbits;
	for (uint32_t i = 0; i < ask->reserved_ports.count; i++) {
		const struct port *port = ARRAY_AT(&ask->reserved_ports, struct port, i);
		const char *refusal = check_static(reasons, map, port); // the ask may name it twice
		if (refusal)
			return refusal;
		take_port(map,
			put_port(&network->reserved_ports, index->node, port, port->value, port->to)
				->value);
	}
	for (uint32_t i = 0; i < ask->dynamic_ports.count; i++) {
		const struct port *port = ARRAY_AT(&ask->dynamic_ports, struct port, i);
		int64_t value = find_dynamic(index, map);
		if (value < 0)
			return "dynamic port selection failed";
		take_port(map, value);
		put_port(&network->dynamic_ports, index->node, port, value,
			port->to == -1 ? value : port->to);
	}
	return NULL;
}

static bool network_holds(const struct allocated_network *n, const char *address, int64_t port)
{
	CHECK(address);
	if (!n->ip || strcmp(n->ip, address) != 0)
		return false;
	for (uint32_t i = 0; i < n->reserved_ports.count; i++)
		if (ARRAY_AT(&n->reserved_ports, struct port, i)->value == port)
			return true;
	for (uint32_t i = 0; i < n->dynamic_ports.count; i++)
		if (ARRAY_AT(&n->dynamic_ports, struct port, i)->value == port)
			return true;
	return false;
}

static bool networks_hold(const struct array *networks, const char *address, int64_t port)
{
	for (uint32_t i = 0; i < networks->count; i++)
		if (network_holds(ARRAY_AT(networks, struct allocated_network, i), address, port))
			return true;
	return false;
}

bool details_hold_port(const struct alloc_details *details, const char *address, int64_t port)
{
	CHECK(address);
	if (!details)
		return false;
	for (uint32_t i = 0; i < details->ports.count; i++) {
		const struct allocated_port *p =
			ARRAY_AT(&details->ports, struct allocated_port, i);
		if (p->value == port && p->host_ip && strcmp(p->host_ip, address) == 0)
			return true;
	}
	if (details->ports.count == 0 && networks_hold(&details->networks, address, port))
		return true;
	for (uint32_t i = 0; i < details->tasks.count; i++)
		if (networks_hold(&ARRAY_AT(&details->tasks, struct allocated_task, i)->networks,
			    address, port))
			return true;
	return false;
}
