#include "dataplane/hot/neighbour.h"
#include "dataplane/hot/reply.h"

#define ARP_BYTES 28u
#define ICMP_BYTES 8u
#define SOLICITATION_BYTES 24u
#define LINK_OPTION_BYTES 8u

#define ICMP_ECHO 8
#define ICMP_ECHO_REPLY 0
#define ICMPV6_ECHO 128
#define ICMPV6_ECHO_REPLY 129
#define ICMPV6_SOLICITATION 135
#define ICMPV6_ADVERTISEMENT 136
#define OPTION_SOURCE_LINK 1
#define OPTION_TARGET_LINK 2

bool port_is_solicited(const struct hot_port *port, const uint8_t *address)
{
	static const uint8_t prefix[13] = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};
	if (memcmp(address, prefix, sizeof prefix) != 0)
		return false;
	for (uint32_t i = 0; i < port->ipv6_count; i++) {
		if (memcmp(port->ipv6[i] + 13, address + 13, 3) == 0)
			return true;
	}
	return false;
}

static bool mac_can_answer(const uint8_t *mac)
{
	uint8_t padded[8] = {0};
	memcpy(padded, mac, 6);
	return !mac_is_group(mac_at(padded)) && mac_at(padded) != 0;
}

// True when the sender is 0.0.0.0 (a probe, RFC 5227) or a host's address, and not ours.
static bool arp_sender_can_answer(const struct hot_port *port, const uint8_t *arp)
{
	uint8_t first = arp[14];
	return mac_can_answer(arp + 8) && first < 224 && first != 127 &&
	       !port_has_ipv4(port, arp + 14);
}

static int arp_answer(const struct hot_port *port, struct headers *h)
{
	static const uint8_t request[8] = {0, 1, 8, 0, 6, 4, 0, 1};
	struct packet *packet = h->packet;
	if (packet->size < h->l3 + ARP_BYTES)
		return HOT_REFUSED_SHORT;
	uint8_t *arp = packet->data + h->l3;
	if (memcmp(arp, request, sizeof request) != 0 || !port_has_ipv4(port, arp + 24) ||
		!arp_sender_can_answer(port, arp))
		return HOT_REFUSED_ARP;
	uint8_t ours[4];
	memcpy(ours, arp + 24, 4);
	arp[7] = 2;
	memcpy(arp + 18, arp + 8, 10); // the sender becomes the target
	memcpy(arp + 8, port->mac, 6);
	memcpy(arp + 14, ours, 4);
	memcpy(packet->data, arp + 18, 6);
	memcpy(packet->data + 6, port->mac, 6);
	return NEIGHBOUR_ANSWERED;
}

// Changes the checksum by as much as the first word changes, whose lower byte is the type.
static void echo_turn_around(uint8_t *icmp, uint8_t reply_type)
{
	uint32_t start = word32(icmp);
	uint16_t request = (uint16_t)start, checksum = (uint16_t)(start >> 16);
	struct checksum_sum sum = {
		(uint64_t)(uint16_t)~checksum + (uint16_t)~request + reply_type, 0};
	word32_put(icmp, reply_type | (uint32_t)(uint16_t)~checksum_fold(sum) << 16);
}

static bool ping_take(const struct headers *h)
{
	bool is_left = *h->pings_left > 0;
	*h->pings_left -= is_left;
	return is_left;
}

static int icmp_answer(const struct hot_port *port, struct headers *h)
{
	uint8_t *icmp = h->data + h->l4;
	uint32_t bytes = h->end - h->l4;
	if (bytes < ICMP_BYTES)
		return HOT_REFUSED_SHORT;
	if (icmp[0] != ICMP_ECHO || icmp[1] != 0 ||
		checksum_fold(checksum_add((struct checksum_sum){0}, icmp, bytes)) != 0xffff)
		return HOT_REFUSED_ICMP;
	if (!ping_take(h))
		return HOT_REFUSED_PINGS;
	echo_turn_around(icmp, ICMP_ECHO_REPLY);
	ethernet_turn_around(port, h->data);
	ipv4_turn_around(h->data + h->l3, IPV4_BYTES + bytes, PROTOCOL_ICMP);
	return NEIGHBOUR_ANSWERED;
}

// Walks the options. Returns false when they are malformed; *link is the sender's address, or stays NULL.
static bool solicitation_options(const uint8_t *option, const uint8_t *end, const uint8_t **link)
{
	while (option < end) {
		if (end - option < 8 || option[1] == 0 || end - option < option[1] * 8)
			return false;
		if (option[0] == OPTION_SOURCE_LINK) {
			if (option[1] != 1 || !mac_can_answer(option + 2))
				return false;
			*link = option + 2;
		}
		option += option[1] * 8;
	}
	return true;
}

// Checks RFC 4861, section 7.1.1, and that there is one host to answer.
static bool solicitation_is_valid(
	const struct hot_port *port, const struct headers *h, const uint8_t **link)
{
	const uint8_t *data = h->data, *ip = data + h->l3, *icmp = data + h->l4;
	if (h->end - h->l4 < SOLICITATION_BYTES || icmp[1] != 0 || ip[7] != 255)
		return false;
	const uint8_t *target = icmp + 8, *destination = ip + 24;
	if (!port_has_ipv6(port, target))
		return false;
	if (!solicitation_options(icmp + SOLICITATION_BYTES, data + h->end, link))
		return false;
	if (h->group)
		return *link != NULL && memcmp(destination + 13, target + 13, 3) == 0;
	return memcmp(destination, target, 16) == 0;
}

static void advertise(const struct hot_port *port, struct headers *h, const uint8_t *link)
{
	uint8_t *data = h->data, *ip = data + h->l3, *icmp = data + h->l4;
	uint8_t target[16];
	memcpy(target, icmp + 8, 16);
	ethernet_turn_around(port, data);
	if (link != NULL)
		memcpy(data, link, 6);
	// A request with a link option has room for ours.
	uint32_t bytes = SOLICITATION_BYTES + (link != NULL ? LINK_OPTION_BYTES : 0);
	ipv6_turn_around(ip, bytes, PROTOCOL_ICMPV6, 255);
	memcpy(ip + 8, target, 16); // the request may have been to a group
	icmp[0] = ICMPV6_ADVERTISEMENT;
	memset(icmp + 2, 0, 6);
	icmp[4] = 0x60; // solicited, override
	if (link != NULL) {
		icmp[24] = OPTION_TARGET_LINK;
		icmp[25] = 1;
		memcpy(icmp + 26, port->mac, 6);
	}
	word16_put(icmp + 2, (uint16_t)~checksum_fold(l4_sum(icmp, bytes, true, PROTOCOL_ICMPV6)));
	h->packet->size = h->l4 + bytes;
}

static int solicitation_answer(const struct hot_port *port, struct headers *h)
{
	const uint8_t *link = NULL;
	if (!solicitation_is_valid(port, h, &link))
		return HOT_REFUSED_ICMP;
	advertise(port, h, link);
	return NEIGHBOUR_ANSWERED;
}

static int echo6_answer(const struct hot_port *port, struct headers *h)
{
	uint8_t *icmp = h->data + h->l4;
	if (icmp[1] != 0 || h->group)
		return HOT_REFUSED_ICMP;
	if (!ping_take(h))
		return HOT_REFUSED_PINGS;
	echo_turn_around(icmp, ICMPV6_ECHO_REPLY);
	ethernet_turn_around(port, h->data);
	ipv6_turn_around(h->data + h->l3, h->end - h->l4, PROTOCOL_ICMPV6, HOP_LIMIT);
	return NEIGHBOUR_ANSWERED;
}

static int icmpv6_answer(const struct hot_port *port, struct headers *h)
{
	const uint8_t *icmp = h->data + h->l4;
	uint32_t bytes = h->end - h->l4;
	if (bytes < ICMP_BYTES)
		return HOT_REFUSED_SHORT;
	if (checksum_fold(l4_sum(icmp, bytes, true, PROTOCOL_ICMPV6)) != 0xffff)
		return HOT_REFUSED_ICMP;
	switch (icmp[0]) {
	case ICMPV6_SOLICITATION: return solicitation_answer(port, h);
	case ICMPV6_ECHO: return echo6_answer(port, h);
	default: return HOT_REFUSED_ICMP;
	}
}

int neighbour_answer(const struct hot_port *port, struct headers h)
{
	if (h.is_unsure && h.group)
		return HOT_REFUSED_SERVICE;
	if (h.ethertype == ETHERTYPE_ARP)
		return arp_answer(port, &h);
	if (h.protocol == PROTOCOL_ICMP && !h.ipv6)
		return icmp_answer(port, &h);
	if (h.protocol == PROTOCOL_ICMPV6 && h.ipv6)
		return icmpv6_answer(port, &h);
	return HOT_REFUSED_PROTOCOL;
}
