// Answers what a port owes its neighbours: ARP, IPv6 neighbour solicitations and pings. An answer is written over its
// request, is never longer than it and never goes to a group.
//
// Who is not sure whether the addresses are still its own says so only to who asks it alone, and so believes it
// already: an answer to everybody could outlive that of whoever has them by now.
//
// Duplicate address detection of IPv6 (a solicitation from the unspecified address) is refused: its answer
// would go to all nodes of the link.
#pragma once
#include "dataplane/hot/headers.h"
#include "dataplane/hot/hot_worker.h"

// The headers of one packet.
struct headers {
	struct packet *packet;
	uint8_t *data;      // the packet's
	uint32_t l3, l4;    // offsets
	uint32_t end;       // offset behind the IP packet, by its header
	uint32_t ethertype; // of what the frame carries
	uint8_t protocol;   // of what the IP packet carries
	bool ipv6;
	bool group; // came in a frame to a group address
	uint32_t *pings_left;
	bool is_unsure; // hot_worker
};

// Answers ARP, ICMP and ICMPv6; of pings, as many as are left. Returns NEIGHBOUR_ANSWERED or an enum hot_refusal.
#define NEIGHBOUR_ANSWERED (-1)
int neighbour_answer(const struct hot_port *, struct headers);

static inline bool port_has_ipv4(const struct hot_port *port, const uint8_t *address)
{
	bool ours = false;
	for (uint32_t i = 0; i < port->ipv4_count; i++)
		ours |= word32(port->ipv4[i]) == word32(address);
	return ours;
}

static inline bool port_has_ipv6(const struct hot_port *port, const uint8_t *address)
{
	bool ours = false;
	for (uint32_t i = 0; i < port->ipv6_count; i++)
		ours |= word64(port->ipv6[i]) == word64(address) &&
			word64(port->ipv6[i] + 8) == word64(address + 8);
	return ours;
}

// True when address is the solicited-node group of one of ours.
bool port_is_solicited(const struct hot_port *, const uint8_t *address);
