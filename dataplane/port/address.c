#include "dataplane/port/address.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int add_address(struct hot_port *port, const char *text)
{
	uint8_t bytes[16];
	if (inet_pton(AF_INET, text, bytes) == 1) {
		// Broadcast, multicast and 0.0.0.0 are nobody's own.
		if (bytes[0] == 0 || bytes[0] >= 224)
			return -EINVAL;
		if (port->ipv4_count == HOT_ADDRESSES_MAX)
			return -ENOSPC;
		memcpy(port->ipv4[port->ipv4_count++], bytes, 4);
		return 0;
	}
	if (inet_pton(AF_INET6, text, bytes) != 1 || bytes[0] == 0xff ||
		IN6_IS_ADDR_UNSPECIFIED((const struct in6_addr *)(const void *)bytes))
		return -EINVAL;
	if (port->ipv6_count == HOT_ADDRESSES_MAX)
		return -ENOSPC;
	memcpy(port->ipv6[port->ipv6_count++], bytes, 16);
	return 0;
}

int port_addresses(const struct port_settings *s, uint32_t index, struct hot_port *port,
	char *message, uint32_t message_size)
{
	port->ipv4_count = port->ipv6_count = 0;
	for (uint32_t i = 0; i < s->address_count; i++) {
		int error = add_address(port, s->addresses[i]);
		if (error == -ENOSPC)
			snprintf(message, message_size,
				"port %u: \"%s\" is one address too many; at most %u of IPv4 and "
				"%u of IPv6",
				index, s->addresses[i], HOT_ADDRESSES_MAX, HOT_ADDRESSES_MAX);
		else if (error != 0)
			snprintf(message, message_size,
				"port %u: \"%s\" is no address for a port; write one IPv4 or IPv6 "
				"unicast "
				"address without a prefix length",
				index, s->addresses[i]);
		if (error != 0)
			return error;
	}
	if (s->address_count > 0)
		return 0;
	snprintf(message, message_size,
		"port %u: no address; give the port at least one in addresses, for nodes to report "
		"to",
		index);
	return -EINVAL;
}
