// Where a node's frames come from, kept small, so that a frame can be sent there that answers none.
#pragma once
#include "dataplane/hot/headers.h"
#include "dataplane/hot/hot_worker.h"

struct node_source {
	uint8_t address[16]; // IPv6, or IPv4 in the first four bytes
	uint8_t mac[6];
	uint8_t vlan[2]; // tag as it came
	uint8_t udp_port[2];
	uint8_t ours; // which of our port's addresses the node speaks to
	uint8_t kind; // sum of enum node_source_kind; 0: nothing is known
	uint32_t told_ms;
};

enum node_source_kind { NODE_SOURCE_KNOWN = 1, NODE_SOURCE_IPV6 = 2, NODE_SOURCE_VLAN = 4 };

_Static_assert(sizeof(struct node_source) == 32, "there is one for each node");

// Tells most sources of a frame from each other; never 0. Only a hint: the source itself is compared by nobody.
static inline uint16_t source_mark(const uint8_t *frame, bool ipv6)
{
	const uint8_t *udp = frame - UDP_BYTES;
	uint64_t source = (uint64_t)word32(udp) << 32 | word32(ipv6 ? udp - 20 : udp - 8);
	uint16_t mark = (uint16_t)(source * 0x9e3779b97f4a7c15u >> 48); // neighbours differ
	return mark == 0 ? 1 : mark;
}

static inline bool packet_is_vlan(const uint8_t *data)
{
	return net16(data + 12) == ETHERTYPE_VLAN;
}

static inline bool packet_is_ipv6(const uint8_t *data)
{
	return net16(data + (packet_is_vlan(data) ? 12 + VLAN_BYTES : 12)) == ETHERTYPE_IPV6;
}

// The same of a packet's frame at offset.
static inline uint16_t source_mark_of(const uint8_t *data, uint32_t offset)
{
	return source_mark(data + offset, packet_is_ipv6(data));
}

// Takes the source of a packet that hot_receive() handed on; offset is where its frame starts. told_ms stays.
void source_take(
	struct node_source *, const struct hot_port *, const struct packet *, uint32_t offset);
// Writes headers of a packet from the source to us, which hot_turn_around() turns around. Returns the frame's offset.
uint32_t source_put(const struct node_source *, const struct hot_port *, uint8_t *data);
