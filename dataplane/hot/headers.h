// Ethernet, IPv4, IPv6 and UDP by offset, and the Internet checksum.
#pragma once
#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ETHER_BYTES 14u
#define VLAN_BYTES 4u
#define IPV4_BYTES 20u
#define IPV6_BYTES 40u
#define UDP_BYTES 8u
// The largest Ethernet frame that is looked at: 1500 bytes, a VLAN tag.
#define ETHER_BYTES_MAX (ETHER_BYTES + VLAN_BYTES + 1500u)

#define ETHERTYPE_IPV4 0x0800u
#define ETHERTYPE_ARP 0x0806u
#define ETHERTYPE_VLAN 0x8100u
#define ETHERTYPE_IPV6 0x86ddu
#define ETHERTYPE_QINQ 0x88a8u

#define PROTOCOL_ICMP 1u
#define PROTOCOL_UDP 17u
#define PROTOCOL_ICMPV6 58u

#define HOP_LIMIT 64u // of what we send

static inline uint16_t net16(const uint8_t *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof v);
	return be16toh(v);
}

static inline void net16_put(uint8_t *p, uint16_t v)
{
	v = htobe16(v);
	memcpy(p, &v, sizeof v);
}

static inline uint32_t raw32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static inline uint64_t raw64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

// One's complement arithmetic does not care about byte order, nor about how wide the words are that are
// added: sums are kept in memory order, 64 bits at a time with the carries above, and folded at the end.
typedef unsigned __int128 checksum_sum;

static inline checksum_sum checksum_add(checksum_sum sum, const uint8_t *data, uint32_t size)
{
	uint32_t i = 0;
	for (; i + 8 <= size; i += 8)
		sum += raw64(data + i);
	if (i < size) {
		uint64_t last = 0;
		memcpy(&last, data + i, size - i);
		sum += last;
	}
	return sum;
}

// A 16-bit number that is not in the packet as such.
static inline checksum_sum checksum_add16(checksum_sum sum, uint16_t v)
{
	return sum + htobe16(v);
}

// 0xffff when the words, the right checksum among them, add up.
static inline uint16_t checksum_fold(checksum_sum sum)
{
	uint64_t low = (uint64_t)sum, high = (uint64_t)(sum >> 64);
	uint64_t a = (low & 0xffffffff) + (low >> 32) + high;
	a = (a & 0xffffffff) + (a >> 32);
	a = (a & 0xffff) + (a >> 16);
	a = (a & 0xffff) + (a >> 16);
	return (uint16_t)((a & 0xffff) + (a >> 16));
}

// In memory order: to be stored as it is.
static inline void checksum_store(uint8_t *p, uint16_t checksum)
{
	memcpy(p, &checksum, sizeof checksum);
}

// What addresses, length and protocol add to the checksum of what an IP packet carries. The addresses lie
// right before it in both versions.
static inline checksum_sum pseudo_header_sum(
	const uint8_t *l4, uint32_t l4_bytes, bool ipv6, uint8_t protocol)
{
	checksum_sum sum = checksum_add16(0, protocol);
	sum = checksum_add16(sum, (uint16_t)l4_bytes);
	uint32_t address_bytes = ipv6 ? 32 : 8;
	return checksum_add(sum, l4 - address_bytes, address_bytes);
}

static inline bool mac_is_group(const uint8_t *mac)
{
	return mac[0] & 1;
}

static inline bool mac_is_zero(const uint8_t *mac)
{
	return (mac[0] | mac[1] | mac[2] | mac[3] | mac[4] | mac[5]) == 0;
}
