// Bytes both ways between a session, mostly one of TLS, and a socket that speaks in clear, until one side ends. Neither
// blocks, and what one side does not take holds the other up.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TUNNEL_BYTES 16384u

struct tunnel_flow {
	size_t at, size; // bytes[at..size) were not handed on yet
	bool has_ended;  // nothing comes any more
	unsigned char bytes[TUNNEL_BYTES];
};

// receive gives bytes, 0 at the end; send says how many were taken; both -EAGAIN: not now, or another error.
struct tunnel_session {
	ssize_t (*receive)(void *context, void *data, size_t size);
	ssize_t (*send)(void *context, const void *data, size_t size);
	void *context;
};
struct gnutls_session_int;
struct tunnel_session tunnel_session_of_tls(struct gnutls_session_int *);

struct tunnel {
	struct tunnel_session session; // the caller's
	int fd;                        // in clear; the caller's
	struct tunnel_flow in,
		out; // from the session, and to it; what is in them at the beginning goes on first
	uint32_t session_events,
		fd_events; // POLLIN and POLLOUT: what each side waits for, after a turn
	bool has_moved;    // any byte, in the newest turn
	bool has_more; // that turn was cut short so that others have theirs, and the next one is due
};

// Moves what can be moved, up to a mebibyte each way. False: one side has ended, and the other has what it said.
bool tunnel_turn(struct tunnel *);
