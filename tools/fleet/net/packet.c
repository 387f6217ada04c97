#include "tools/fleet/net/packet.h"
#include <string.h>

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static uint32_t get16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t add16(uint32_t sum, const uint8_t *data, uint32_t size)
{
	for (uint32_t i = 0; i + 1 < size; i += 2)
		sum += get16(data + i);
	return size & 1 ? sum + ((uint32_t)data[size - 1] << 8) : sum;
}

static uint32_t checksum(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

uint32_t packet_wrap(
	const struct packet_flow *flow, const uint8_t *frame, uint32_t size, uint8_t *packet)
{
	memcpy(packet, flow->mac_to, 6);
	memcpy(packet + 6, flow->mac_from, 6);
	put16(packet + 12, 0x0800);
	uint8_t *ip = packet + 14, *udp = ip + 20;
	static const uint8_t ip_start[] = {0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0};
	memcpy(ip, ip_start, sizeof ip_start);
	put16(ip + 2, 20 + 8 + size);
	memcpy(ip + 12, flow->from, 4);
	memcpy(ip + 16, flow->to, 4);
	put16(ip + 10, checksum(add16(0, ip, 20)));
	put16(udp, flow->port_from);
	put16(udp + 2, flow->port_to);
	put16(udp + 4, 8 + size);
	put16(udp + 6, 0);
	memcpy(udp + 8, frame, size);
	uint32_t sum = add16(17 + 8 + size, ip + 12, 8);
	uint32_t value = checksum(add16(sum, udp, 8 + size));
	put16(udp + 6, value ? value : 0xffff);
	return PACKET_HEADER_BYTES + size;
}

bool packet_unwrap(const uint8_t *packet, uint32_t bytes, const uint8_t address[static 4],
	uint16_t port_least, uint16_t ports, const uint8_t **frame, uint32_t *size)
{
	const uint8_t *ip = packet + 14, *udp = ip + 20;
	if (bytes < PACKET_HEADER_BYTES || get16(packet + 12) != 0x0800 || ip[0] != 0x45 ||
		ip[9] != 17 || memcmp(ip + 16, address, 4) != 0)
		return false;
	uint32_t port = get16(udp + 2), length = get16(udp + 4);
	if (port < port_least || port >= (uint32_t)port_least + ports || length < 8 ||
		length > bytes - 34)
		return false;
	*frame = udp + 8;
	*size = length - 8;
	return true;
}
