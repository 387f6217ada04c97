// Passes bytes on between a WebSocket, as binary messages, and descriptors: a socket, or a pair of pipes.
#pragma once
#include "tools/web_socket/web_socket.h"

#define RELAY_MESSAGE_BYTES_MAX (1024u * 1024)

// Until either end has closed, or stop_fd (-1: there is none) is readable. Says farewell to the WebSocket unless it is
// gone. Of a pair of pipes, out goes on when in has ended, until nobody reads there. A slow end holds the other one up
// and costs no memory. in and out may be the same descriptor; they stay the caller's. The thread has SIGPIPE blocked
// from then on.
void relay_run(struct web_socket *, const struct web_socket_stream *, int in, int out, int stop_fd);
