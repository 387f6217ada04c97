// How much memory the packets of a port take.
#pragma once
#include "dataplane/port/port_settings.h"

// Packets of a pool that a thread caches.
#define PORT_POOL_CACHE 256u

// As configured, or the usual number when that is 0.
uint32_t port_descriptors(uint32_t configured);
// Packets in a queue's pool: for both rings, bursts in flight, caches, and what AF_XDP keeps.
uint32_t port_queue_mbufs(const struct port_settings *);
// Memory that all pools of these ports need; sockets have none.
uint64_t ports_memory_bytes(const struct port_settings *, uint32_t count, bool huge);
