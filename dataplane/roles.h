// The address that stays with a controller while the others move with the leadership, and the place of the leader.
#pragma once
#include "dataplane/port/port_settings.h"
#include "dataplane/wire/wire.h"

// Gives the own address to the first port, if no port has it. False: it is no address, or there is no room.
bool roles_add_own(struct port_settings *, uint32_t port_count, const char *own_address);
// The own address alone, of those of the port; none, if it is another port's.
struct hot_port roles_own(const struct hot_port *, const char *own_address);
// "192.0.2.1:4647" or "[2001:db8::1]:4647". False: it is neither.
bool roles_parse_place(const char *text, struct wire_endpoint *);
