// What the files of the service share of it.
#pragma once
#include "tools/agent/service/service_settings.h"
#include <stdatomic.h>

struct MHD_Daemon;

struct agent_service {
	struct agent_service_settings settings;
	struct MHD_Daemon *daemon;
	int stop_fd;                  // readable from the beginning of agent_service_stop() on
	_Atomic uint32_t sockets;     // handed over and not closed
	_Atomic uint32_t talks;       // requests that were upgraded, or are about to be
	_Atomic uint32_t is_stopping; // a boolean
};
