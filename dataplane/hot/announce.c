#include "dataplane/hot/announce.h"
#include "dataplane/hot/headers.h"

#define ARP_BYTES 28u
#define FRAME_BYTES_LEAST 60u   // of Ethernet, without its checksum
#define ADVERTISEMENT_BYTES 32u // with the option that has our address of the link

static void ethertype_put(uint8_t *data, uint32_t value)
{
	word16_put(data, swapped16(value));
}

// Returns where the packet begins.
static uint32_t ethernet_put(
	const struct hot_port *port, const uint8_t *to, uint32_t ethertype, uint8_t *data)
{
	uint32_t type_at = 12;
	memset(data, 0, ANNOUNCE_BYTES_MAX);
	memcpy(data, to, 6);
	memcpy(data + 6, port->mac, 6);
	if (port->vlan_id != 0) {
		ethertype_put(data + type_at, ETHERTYPE_VLAN);
		ethertype_put(data + ETHER_BYTES, port->vlan_id);
		type_at += VLAN_BYTES;
	}
	ethertype_put(data + type_at, ethertype);
	return type_at + 2;
}

uint32_t announce_ipv4(const struct hot_port *port, const uint8_t *address, uint8_t *data)
{
	static const uint8_t everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	static const uint8_t request[8] = {0, 1, 8, 0, 6, 4, 0, 1};
	uint32_t l3 = ethernet_put(port, everybody, ETHERTYPE_ARP, data);
	uint8_t *arp = data + l3;
	memcpy(arp, request, sizeof request);
	memcpy(arp + 8, port->mac, 6);
	memcpy(arp + 14, address, 4);
	memcpy(arp + 24, address, 4); // who has it is who asks
	uint32_t bytes = l3 + ARP_BYTES;
	return bytes < FRAME_BYTES_LEAST ? FRAME_BYTES_LEAST : bytes;
}

uint32_t announce_ipv6(const struct hot_port *port, const uint8_t *address, uint8_t *data)
{
	static const uint8_t all_nodes_mac[6] = {0x33, 0x33, 0, 0, 0, 1};
	static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1};
	static const uint8_t advertisement[8] = {136, 0, 0, 0, 0x20}; // override
	uint32_t l3 = ethernet_put(port, all_nodes_mac, ETHERTYPE_IPV6, data);
	uint8_t *ip = data + l3, *icmp = ip + IPV6_BYTES;
	ip[0] = 0x60;
	ip[5] = ADVERTISEMENT_BYTES;
	ip[6] = PROTOCOL_ICMPV6;
	ip[7] = 255;
	memcpy(ip + 8, address, 16);
	memcpy(ip + 24, all_nodes, 16);
	memcpy(icmp, advertisement, sizeof advertisement);
	memcpy(icmp + 8, address, 16);
	icmp[24] = 2; // the target's address of the link
	icmp[25] = 1;
	memcpy(icmp + 26, port->mac, 6);
	struct checksum_sum sum = l4_sum(icmp, ADVERTISEMENT_BYTES, true, PROTOCOL_ICMPV6);
	word16_put(icmp + 2, (uint16_t)~checksum_fold(sum));
	return l3 + IPV6_BYTES + ADVERTISEMENT_BYTES;
}
