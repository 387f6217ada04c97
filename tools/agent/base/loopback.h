// Connections to servers of this node.
#pragma once
#include <stdint.h>

// How long a server may take that does not accept.
#define LOOPBACK_WAIT_S 5

// A connected TCP socket that does not block, the caller's, or -errno; -ETIMEDOUT: whoever listens does not accept.
// family: AF_INET or AF_INET6. Blocks. Any thread.
int loopback_connect(int family, uint16_t port);
