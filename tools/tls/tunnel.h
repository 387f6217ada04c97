// Bytes both ways between a TLS session and a socket that speaks in clear, until one side ends. Neither blocks, and
// what one side does not take holds the other up.
#pragma once
#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TUNNEL_BYTES 16384u

struct tunnel_flow {
	size_t at, size; // bytes[at..size) were not handed on yet
	bool has_ended;  // nothing comes any more
	unsigned char bytes[TUNNEL_BYTES];
};

struct tunnel {
	gnutls_session_t tls; // the caller's
	int fd;               // in clear; the caller's
	struct tunnel_flow in,
		out; // from the session, and to it; what is in them at the beginning goes on first
	uint32_t tls_events,
		fd_events; // POLLIN and POLLOUT: what each side waits for, after a turn
	bool has_moved;    // any byte, in the newest turn
};

// Moves all that can be moved. False: one side has ended, and the other has what it said.
bool tunnel_turn(struct tunnel *);
