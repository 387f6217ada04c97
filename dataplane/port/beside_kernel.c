#include "dataplane/port/beside_kernel.h"
#include "dataplane/port/device.h"
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdio.h>

static void add_held_address(struct port_settings *s, const struct sockaddr *held)
{
	char *text = s->addresses[s->address_count];
	const struct sockaddr_in *four = (const void *)held;
	const struct sockaddr_in6 *six = (const void *)held;
	bool is_fit = held->sa_family == AF_INET ||
		      (held->sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr));
	const void *bytes = held->sa_family == AF_INET ? (const void *)&four->sin_addr
						       : (const void *)&six->sin6_addr;
	if (is_fit && inet_ntop(held->sa_family, bytes, text, sizeof s->addresses[0]) != NULL)
		s->address_count++;
}

static void take_addresses(struct port_settings *s)
{
	struct ifaddrs *all;
	uint32_t of_family[2] = {0};
	if (getifaddrs(&all) != 0)
		return;
	for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next) {
		if (i->ifa_addr == NULL || strcmp(i->ifa_name, s->device) != 0)
			continue;
		uint32_t *known = &of_family[i->ifa_addr->sa_family == AF_INET6];
		uint32_t before = s->address_count;
		if (*known < HOT_ADDRESSES_MAX)
			add_held_address(s, i->ifa_addr);
		*known += s->address_count - before;
	}
	freeifaddrs(all);
}

static bool all_are_held(const struct port_settings *s)
{
	for (uint32_t i = 0; i < s->address_count; i++)
		if (!host_interface_has_address(s->device, s->addresses[i]))
			return false;
	return true;
}

// Of what a whole-port mode cannot do without, sockets have none, and a shared port leaves it to the kernel.
static bool may_be_settled(const struct port_settings *s)
{
	return port_is_open(s) && s->vlan_id == 0 && !s->promiscuous &&
	       host_interface_exists(s->device) && all_are_held(s);
}

static void settle_io(struct port_settings *s)
{
	const char *against = device_against_xdp(s->device, port_queues(s));
	s->automatic = true;
	snprintf(s->io, sizeof s->io, "%s", against != NULL ? "socket" : "shared");
	snprintf(s->why, sizeof s->why, "the kernel has its addresses%s%s",
		against != NULL ? ", and no AF_XDP: " : "", against != NULL ? against : "");
}

void beside_kernel_settle(struct port_settings *s)
{
	if (may_be_settled(s))
		settle_io(s);
	if (port_is_beside_kernel(s) && s->address_count == 0 && s->device[0] != '\0')
		take_addresses(s);
}
