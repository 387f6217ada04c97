#include "dataplane/hot/silence.h"
#include "dataplane/hot/neighbour.h"
#include "dataplane/hot/source.h"

#define ARP_TARGET 24u
#define IPV4_TARGET 16u
#define IPV6_TARGET 24u

// The first pass has looked at the packet up to its addresses, or has refused it for another reason.
bool silence_is_asked(
	const struct hot_port *port, const struct packet *packet, enum hot_refusal reason)
{
	const uint8_t *data = packet->data;
	if (reason != HOT_REFUSED_NOT_OURS_IP && reason != HOT_REFUSED_ARP)
		return false;
	const uint8_t *l3 = data + ETHER_BYTES + (packet_is_vlan(data) ? VLAN_BYTES : 0);
	if (reason == HOT_REFUSED_ARP)
		return port_has_ipv4(port, l3 + ARP_TARGET);
	if (!packet_is_ipv6(data))
		return port_has_ipv4(port, l3 + IPV4_TARGET);
	return port_has_ipv6(port, l3 + IPV6_TARGET) || port_is_solicited(port, l3 + IPV6_TARGET);
}
