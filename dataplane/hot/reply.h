// Turning a request's headers around in place. Replies are written as if from scratch (hop limit, no
// options, no traffic class), so nothing that a sender put into its headers comes back to somebody else.
#pragma once
#include "dataplane/hot/headers.h"
#include "dataplane/hot/hot_worker.h"

// Everything is written in whole words that are made in registers: a word that is read right after parts of
// it were written has to wait for the cache.
static inline void ethernet_turn_around(const struct hot_port *port, uint8_t *data)
{
	uint64_t from = mac_at(data + 6), ours = mac_at(port->mac);
	word64_put(data, from | ours << 48);
	word32_put(data + 8, (uint32_t)(ours >> 16));
}

// Swaps source and destination. Returns the sum of their 32-bit words, which stays the same.
static inline uint64_t ipv4_turn_around(uint8_t *ip, uint32_t total_bytes, uint8_t protocol)
{
	uint32_t source = word32(ip + 12), destination = word32(ip + 16);
	uint64_t addresses = (uint64_t)source + destination;
	// A datagram that is never cut needs no identification (RFC 6864).
	uint64_t start = 0x45 | (uint64_t)swapped16(total_bytes) << 16 | 0x40ull << 48;
	uint32_t hops = HOP_LIMIT | (uint32_t)protocol << 8;
	uint64_t sum = addresses + hops + checksum_halves((struct checksum_sum){start, 0});
	uint16_t checksum = (uint16_t)~checksum_fold((struct checksum_sum){sum, 0});
	word64_put(ip, start);
	word64_put(ip + 8, hops | (uint64_t)checksum << 16 | (uint64_t)destination << 32);
	word32_put(ip + 16, source);
	return addresses;
}

static inline uint64_t ipv6_turn_around(
	uint8_t *ip, uint32_t payload_bytes, uint8_t next_header, uint8_t hop_limit)
{
	uint8_t addresses[32];
	memcpy(addresses, ip + 8, 32);
	memcpy(ip + 8, addresses + 16, 16);
	memcpy(ip + 24, addresses, 16);
	word64_put(ip, 0x60 | (uint64_t)swapped16(payload_bytes) << 32 |
			       (uint64_t)next_header << 48 | (uint64_t)hop_limit << 56);
	return checksum_halves(checksum_add((struct checksum_sum){0}, addresses, 32));
}

// Turns the headers around a finished frame, whose 32-bit words add up to frame_sum.
static inline void headers_turn_around(const struct hot_port *port, uint8_t *data, uint32_t offset,
	uint32_t frame_bytes, bool ipv6, uint64_t frame_sum)
{
	uint8_t *udp = data + offset - UDP_BYTES;
	uint32_t udp_bytes = UDP_BYTES + frame_bytes;
	ethernet_turn_around(port, data);
	uint64_t sum = frame_sum + swapped16(PROTOCOL_UDP);
	sum += ipv6 ? ipv6_turn_around(udp - IPV6_BYTES, udp_bytes, PROTOCOL_UDP, HOP_LIMIT)
		    : ipv4_turn_around(udp - IPV4_BYTES, IPV4_BYTES + udp_bytes, PROTOCOL_UDP);
	uint32_t ports = word32(udp);
	uint64_t start = (ports << 16 | ports >> 16) | (uint64_t)swapped16(udp_bytes) << 32;
	sum += ports + 2ull * swapped16(udp_bytes); // which is in both headers
	uint16_t checksum = (uint16_t)~checksum_fold((struct checksum_sum){sum, 0});
	// A checksum of zero would mean that there is none.
	word64_put(udp, start | (uint64_t)(checksum == 0 ? 0xffff : checksum) << 48);
}

// Turns a packet's Ethernet, IP and UDP headers around for a reply of frame_bytes in the same place, and
// puts size, lengths and checksums right. offset is where the frame starts; the frame is complete, its tag
// included. The packet's headers are those of a request that hot_receive() handed on.
void hot_turn_around(
	const struct hot_worker *, struct packet *, uint32_t offset, uint32_t frame_bytes);
