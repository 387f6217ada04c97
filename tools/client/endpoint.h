// The controller's address, and a kernel UDP socket connected to it.
#pragma once
#include <stdint.h>
#include <sys/socket.h>

// "host", "host:port", "192.0.2.1:4647", "[2001:db8::1]:4647", "2001:db8::1". The port is WIRE_PORT unless given.
// Resolves to the first address. Returns 0, or -EINVAL / -EHOSTUNREACH and a sentence in message.
int endpoint_resolve(const char *text, struct sockaddr_storage *, socklen_t *, char *message,
	uint32_t message_size);

// Opens a non-blocking socket connected to server and, unless source is NULL, bound to source. Both have the form
// above. Returns the descriptor, or -errno and a sentence in message.
int endpoint_connect(const char *server, const char *source, char *message, uint32_t message_size);
