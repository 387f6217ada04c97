// What every port on a network owes its neighbours: answers to ARP, to IPv6 neighbour solicitations and to
// pings. Always in the request's place and never longer than it; never to a group.
//
// Duplicate address detection of IPv6 (a solicitation from the unspecified address) is refused: its answer
// would go to all nodes of the link.
#pragma once
#include "dataplane/hot/receive.h"

// One packet under examination.
struct headers {
	struct packet *packet;
	uint32_t l3, l4; // offsets
	uint32_t end;    // offset behind what the IP header says is there
	bool ipv6;
	bool group; // came in a frame to a group address
};

// Each returns NEIGHBOUR_ANSWERED, or an enum hot_refusal.
#define NEIGHBOUR_ANSWERED (-1)
int arp_answer(const struct hot_port *, struct headers *);
int icmp_answer(const struct hot_port *, struct headers *);
int icmpv6_answer(const struct hot_port *, struct headers *);

bool port_has_ipv4(const struct hot_port *, const uint8_t *address);
bool port_has_ipv6(const struct hot_port *, const uint8_t *address);
// True when address is the solicited-node group of one of ours.
bool port_is_solicited(const struct hot_port *, const uint8_t *address);
