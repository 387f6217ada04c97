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
// The largest Ethernet frame that is accepted: 1500 bytes and a VLAN tag.
#define ETHER_BYTES_MAX (ETHER_BYTES + VLAN_BYTES + 1500u)

#define ETHERTYPE_IPV4 0x0800u
#define ETHERTYPE_ARP 0x0806u
#define ETHERTYPE_VLAN 0x8100u
#define ETHERTYPE_IPV6 0x86ddu
#define ETHERTYPE_QINQ 0x88a8u

#define PROTOCOL_ICMP 1u
#define PROTOCOL_UDP 17u
#define PROTOCOL_ICMPV6 58u

#define HOP_LIMIT 64u // of packets that we send

static inline uint16_t net16(const uint8_t *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof v);
	return be16toh(v);
}

// Loads several fields as one little-endian word, in which a 16-bit field in network order is swapped.
static inline uint32_t word32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return le32toh(v);
}

static inline uint64_t word64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return le64toh(v);
}

static inline void word16_put(uint8_t *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, sizeof v);
}

static inline void word32_put(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof v);
}

static inline void word64_put(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof v);
}

static inline uint16_t swapped16(uint32_t v)
{
	return __builtin_bswap16((uint16_t)v);
}

// One's complement sums do not depend on byte order or on the width of the words: words as above are summed 64 bits at
// a time with the carries apart, and folded at the end.
struct checksum_sum {
	uint64_t low, carries;
};

static inline struct checksum_sum checksum_add_word(struct checksum_sum sum, uint64_t word)
{
	sum.carries += __builtin_add_overflow(sum.low, word, &sum.low);
	return sum;
}

// A size that the compiler knows makes this a straight line of additions.
static inline __attribute__((always_inline)) struct checksum_sum checksum_add(
	struct checksum_sum sum, const uint8_t *data, uint32_t size)
{
	uint32_t i = 0;
#pragma GCC unroll 16
	for (; i + 8 <= size; i += 8)
		sum = checksum_add_word(sum, word64(data + i));
	if (size & 4) {
		sum = checksum_add_word(sum, word32(data + i));
		i += 4;
	}
	if (size & 3) {
		uint8_t last[4] = {0};
		memcpy(last, data + i, size & 3);
		sum = checksum_add_word(sum, word32(last));
	}
	return sum;
}

// The same sum as a number to which many more 32-bit words can be added without a carry.
static inline uint64_t checksum_halves(struct checksum_sum sum)
{
	return (sum.low & UINT32_MAX) + (sum.low >> 32) + sum.carries;
}

// Folds a sum; 0xffff when the words include their right checksum. Adding a word to itself with its halves swapped
// leaves the carry of each half where it belongs.
static inline uint16_t checksum_fold(struct checksum_sum sum)
{
	sum = checksum_add_word((struct checksum_sum){sum.low, 0}, sum.carries);
	uint64_t a = sum.low + sum.carries;
	a += a >> 32 | a << 32;
	uint32_t b = (uint32_t)(a >> 32);
	b += b >> 16 | b << 16;
	return (uint16_t)(b >> 16);
}

// Sums the payload of an IP packet, the addresses right before it, its length and protocol.
static inline struct checksum_sum l4_sum(
	const uint8_t *l4, uint32_t l4_bytes, bool ipv6, uint8_t protocol)
{
	uint32_t address_bytes = ipv6 ? 32 : 8;
	struct checksum_sum sum = {(uint64_t)swapped16(l4_bytes) + swapped16(protocol), 0};
	sum = checksum_add(sum, l4 - address_bytes, address_bytes);
	return checksum_add(sum, l4, l4_bytes);
}

// The first six bytes, as a number to compare.
#define MAC_BITS 0xffffffffffffull
static inline uint64_t mac_at(const uint8_t *eight_bytes)
{
	return word64(eight_bytes) & MAC_BITS;
}

static inline bool mac_is_group(uint64_t mac)
{
	return mac & 1;
}
