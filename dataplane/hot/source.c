#include "dataplane/hot/source.h"

#define IPV4_SOURCE 12u
#define IPV4_DESTINATION 16u
#define IPV6_SOURCE 8u
#define IPV6_DESTINATION 24u

static uint8_t find_ours(
	const uint8_t *destination, const void *ours, uint32_t address_bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (memcmp((const uint8_t *)ours + i * address_bytes, destination, address_bytes) ==
			0)
			return (uint8_t)i;
	return 0;
}

void source_take(struct node_source *source, const struct hot_port *port,
	const struct packet *packet, uint32_t offset)
{
	const uint8_t *data = packet->data, *udp = data + offset - UDP_BYTES;
	bool vlan = packet_is_vlan(data), ipv6 = packet_is_ipv6(data);
	const uint8_t *ip = udp - (ipv6 ? IPV6_BYTES : IPV4_BYTES);
	memcpy(source->mac, data + 6, sizeof source->mac);
	memcpy(source->vlan, data + ETHER_BYTES, sizeof source->vlan);
	memcpy(source->udp_port, udp, sizeof source->udp_port);
	if (ipv6) {
		memcpy(source->address, ip + IPV6_SOURCE, 16);
		source->ours = find_ours(ip + IPV6_DESTINATION, port->ipv6, 16, port->ipv6_count);
	} else {
		memcpy(source->address, ip + IPV4_SOURCE, 4);
		source->ours = find_ours(ip + IPV4_DESTINATION, port->ipv4, 4, port->ipv4_count);
	}
	source->kind = (uint8_t)(NODE_SOURCE_KNOWN | (ipv6 ? NODE_SOURCE_IPV6 : 0) |
				 (vlan ? NODE_SOURCE_VLAN : 0));
}

static void header_put16(uint8_t *data, uint32_t value)
{
	word16_put(data, swapped16(value));
}

uint32_t source_put(const struct node_source *source, const struct hot_port *port, uint8_t *data)
{
	bool ipv6 = source->kind & NODE_SOURCE_IPV6;
	uint32_t type_at = 12;
	memcpy(data, port->mac, sizeof port->mac);
	memcpy(data + 6, source->mac, sizeof source->mac);
	if (source->kind & NODE_SOURCE_VLAN) {
		header_put16(data + 12, ETHERTYPE_VLAN);
		memcpy(data + ETHER_BYTES, source->vlan, sizeof source->vlan);
		type_at += VLAN_BYTES;
	}
	header_put16(data + type_at, ipv6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4);
	uint8_t *ip = data + type_at + 2, *udp = ip + (ipv6 ? IPV6_BYTES : IPV4_BYTES);
	if (ipv6) {
		memcpy(ip + IPV6_SOURCE, source->address, 16);
		memcpy(ip + IPV6_DESTINATION, port->ipv6[source->ours], 16);
	} else {
		memcpy(ip + IPV4_SOURCE, source->address, 4);
		memcpy(ip + IPV4_DESTINATION, port->ipv4[source->ours], 4);
	}
	memcpy(udp, source->udp_port, sizeof source->udp_port);
	header_put16(udp + 2, port->udp_port);
	return (uint32_t)(udp + UDP_BYTES - data);
}
