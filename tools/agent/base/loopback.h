// Connections to servers of this node.
#pragma once
#include <stdint.h>

// How long a server may take that does not accept.
#define LOOPBACK_WAIT_MS 5000u

// A connected TCP socket that does not block, the caller's, or -errno; -ETIMEDOUT: whoever listens does not accept
// within wait_ms. family: AF_INET or AF_INET6. Blocks for so long at most. Any thread.
int loopback_connect(int family, uint16_t port, uint32_t wait_ms);
