// The handshake that opens a WebSocket (RFC 6455): what the server answers the client's key with.
#pragma once
#include <stdbool.h>

// Sec-WebSocket-Accept of a key, at most 64 bytes long: text of 28 characters. False when the key is longer.
#define WEB_SOCKET_ACCEPT_BYTES 29u
bool web_socket_accept(const char *key, char accept[static WEB_SOCKET_ACCEPT_BYTES]);
