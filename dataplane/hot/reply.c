#include "dataplane/hot/reply.h"
#include "state/base/check.h"

void hot_turn_around(
	const struct hot_worker *w, struct packet *packet, uint32_t offset, uint32_t frame_bytes)
{
	uint8_t *data = packet->data;
	uint32_t type = net16(data + 12);
	if (type == ETHERTYPE_VLAN)
		type = net16(data + 12 + VLAN_BYTES);
	bool ipv6 = type == ETHERTYPE_IPV6;
	HOT_CHECK(offset + frame_bytes <= packet->capacity);
	headers_turn_around(&w->port, data, offset, frame_bytes, ipv6,
		checksum_halves(
			checksum_add((struct checksum_sum){0}, data + offset, frame_bytes)));
	packet->size = offset + frame_bytes;
}
