// Turning a request's headers around in place. Replies are written as if from scratch (hop limit, no
// options, no traffic class), so nothing that a sender put into its headers comes back to somebody else.
#pragma once
#include "dataplane/hot/headers.h"
#include "dataplane/hot/receive.h"

static inline void ethernet_turn_around(const struct hot_port *port, uint8_t *data)
{
	memcpy(data, data + 6, 6);
	memcpy(data + 6, port->mac, 6);
}

// IPv4 and IPv6 headers end with source and destination: they change places.
static inline void ipv4_turn_around(uint8_t *ip, uint32_t total_bytes, uint8_t protocol)
{
	uint32_t source = raw32(ip + 12), destination = raw32(ip + 16);
	ip[0] = 0x45;
	ip[1] = 0;
	net16_put(ip + 2, (uint16_t)total_bytes);
	memset(ip + 4, 0, 2);
	net16_put(
		ip + 6, 0x4000); // a datagram that is never cut needs no identification (RFC 6864)
	ip[8] = HOP_LIMIT;
	ip[9] = protocol;
	memcpy(ip + 12, &destination, 4);
	memcpy(ip + 16, &source, 4);
	checksum_sum sum = (checksum_sum)source + destination;
	sum = checksum_add16(sum, 0x4500);
	sum = checksum_add16(sum, (uint16_t)total_bytes);
	sum = checksum_add16(sum, 0x4000);
	sum = checksum_add16(sum, (uint16_t)(HOP_LIMIT << 8 | protocol));
	checksum_store(ip + 10, (uint16_t)~checksum_fold(sum));
}

static inline void ipv6_turn_around(
	uint8_t *ip, uint32_t payload_bytes, uint8_t next_header, uint8_t hop_limit)
{
	uint8_t source[16];
	memcpy(source, ip + 8, 16);
	memcpy(ip + 8, ip + 24, 16);
	memcpy(ip + 24, source, 16);
	const uint8_t version[4] = {0x60};
	memcpy(ip, version, 4);
	net16_put(ip + 4, (uint16_t)payload_bytes);
	ip[6] = next_header;
	ip[7] = hop_limit;
}

// All of the headers but the UDP checksum, which needs the finished frame.
static inline void headers_turn_around(const struct hot_port *port, uint8_t *data, uint32_t offset,
	uint32_t frame_bytes, bool ipv6)
{
	uint8_t *udp = data + offset - UDP_BYTES;
	uint32_t udp_bytes = UDP_BYTES + frame_bytes;
	ethernet_turn_around(port, data);
	if (ipv6)
		ipv6_turn_around(udp - IPV6_BYTES, udp_bytes, PROTOCOL_UDP, HOP_LIMIT);
	else
		ipv4_turn_around(udp - IPV4_BYTES, IPV4_BYTES + udp_bytes, PROTOCOL_UDP);
	uint16_t source_port;
	memcpy(&source_port, udp, 2);
	memcpy(udp, udp + 2, 2);
	memcpy(udp + 2, &source_port, 2);
	net16_put(udp + 4, (uint16_t)udp_bytes);
}

static inline void udp_checksum_put(uint8_t *udp, uint32_t frame_bytes, bool ipv6)
{
	checksum_store(udp + 6, 0);
	uint32_t udp_bytes = UDP_BYTES + frame_bytes;
	checksum_sum sum = pseudo_header_sum(udp, udp_bytes, ipv6, PROTOCOL_UDP);
	sum = checksum_add(sum, udp, udp_bytes);
	uint16_t checksum = (uint16_t)~checksum_fold(sum);
	// Zero would say that there is none.
	checksum_store(udp + 6, checksum == 0 ? 0xffff : checksum);
}
