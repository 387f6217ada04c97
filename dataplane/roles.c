#include "dataplane/roles.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// As in a wire_endpoint, so that two texts of one address are the same.
static bool parse_address(const char *text, uint8_t address[static 16])
{
	memset(address, 0, 10);
	memset(address + 10, 0xff, 2);
	return inet_pton(AF_INET, text, address + 12) == 1 ||
	       inet_pton(AF_INET6, text, address) == 1;
}

static bool port_lists(const struct port_settings *port, const uint8_t *own)
{
	uint8_t address[16];
	for (uint32_t i = 0; i < port->address_count; i++)
		if (parse_address(port->addresses[i], address) && memcmp(address, own, 16) == 0)
			return true;
	return false;
}

bool roles_add_own(struct port_settings *ports, uint32_t port_count, const char *own_address)
{
	uint8_t own[16];
	if (!parse_address(own_address, own))
		return false;
	for (uint32_t i = 0; i < port_count; i++)
		if (port_lists(&ports[i], own))
			return true;
	if (port_count == 0 || ports[0].address_count == 2 * HOT_ADDRESSES_MAX)
		return false;
	snprintf(ports[0].addresses[ports[0].address_count++], sizeof ports[0].addresses[0], "%s",
		own_address);
	return true;
}

struct hot_port roles_own(const struct hot_port *port, const char *own_address)
{
	uint8_t own[16], mapped[16] = {[10] = 0xff, [11] = 0xff};
	struct hot_port following = *port;
	following.ipv4_count = following.ipv6_count = 0;
	if (!parse_address(own_address, own))
		return following;
	for (uint32_t i = 0; i < port->ipv4_count; i++) {
		memcpy(mapped + 12, port->ipv4[i], 4);
		if (memcmp(mapped, own, 16) == 0)
			memcpy(following.ipv4[following.ipv4_count++], own + 12, 4);
	}
	for (uint32_t i = 0; i < port->ipv6_count; i++)
		if (memcmp(port->ipv6[i], own, 16) == 0)
			memcpy(following.ipv6[following.ipv6_count++], own, 16);
	return following;
}

bool roles_parse_place(const char *text, struct wire_endpoint *place)
{
	char address[64];
	const char *colon = strrchr(text, ':');
	bool is_bracketed = text[0] == '[';
	if (colon == NULL || (is_bracketed && (colon == text || colon[-1] != ']')))
		return false;
	int size = (int)(colon - text) - 2 * is_bracketed;
	char *end;
	unsigned long port = strtoul(colon + 1, &end, 10);
	if (size <= 0 || (size_t)size >= sizeof address || port == 0 || port > UINT16_MAX ||
		*end != '\0')
		return false;
	snprintf(address, sizeof address, "%.*s", size, text + is_bracketed);
	place->port = (uint16_t)port;
	return parse_address(address, place->address) &&
	       is_bracketed == (strchr(address, ':') != NULL);
}
