// The port's own addresses, from text.
#pragma once
#include "dataplane/port/port_settings.h"

// Fills the addresses of hot_port. Fails with a message that says what, where and what to do.
int port_addresses(const struct port_settings *, uint32_t index, struct hot_port *, char *message,
	uint32_t message_size);
