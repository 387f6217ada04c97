// Packets for the packet path's tests, built and checked independently of it: checksums are added 16 bits
// at a time, headers are written byte by byte.
#pragma once
#include "dataplane/hot/packet.h"
#include "dataplane/hot/receive.h"
#include "dataplane/hot/reply.h"
#include <stddef.h>

#define PACKET_BYTES_MAX 2048u
#define TEST_PORT 4647u

// From whom to whom a packet goes, and how.
struct route {
	bool vlan, ipv6;
	uint16_t vlan_tag;
	uint8_t source_mac[6], mac[6];
	uint8_t source_ipv4[4], ipv4[4];
	uint8_t source_ipv6[16], address_ipv6[16];
	uint16_t source_port, port;
	bool no_udp_checksum;
};

// Our side of every test: two IPv4 and two IPv6 addresses.
struct hot_port test_port(void);
// From the host of that number (from 1 on) to our first address.
struct route route_from(uint32_t host, bool ipv6, bool vlan);

uint32_t route_l3(const struct route *);
uint32_t route_offset(const struct route *); // of the frame
// Headers and payload; returns the size.
uint32_t udp_build(const struct route *, const void *payload, uint32_t bytes, uint8_t *data);
// Ethernet and IP headers around what is at data + route_l3 + its IP header; protocol as given.
uint32_t ip_build(
	const struct route *, uint8_t protocol, uint8_t hop_limit, uint32_t bytes, uint8_t *data);
// Sets the IPv4 header checksum, or the UDP checksum, right again after a test has changed something.
void ipv4_checksum_fix(uint8_t *ip);
void udp_checksum_fix(const struct route *, uint8_t *data, uint32_t bytes);

// The plain Internet checksum (RFC 1071) of words in network order.
uint16_t naive_checksum(uint32_t sum, const uint8_t *data, size_t bytes);
uint32_t naive_pseudo_sum(const uint8_t *ip, bool ipv6, uint8_t protocol, uint32_t bytes);

// Fails the test unless data is a well-formed UDP packet that goes back the route; returns its frame.
const uint8_t *reply_check(
	const struct route *, const struct packet *, uint32_t request_size, uint32_t *frame_bytes);
