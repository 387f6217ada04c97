// Clients of TLS that speak with somebody who has a socket in clear: one thread carries the bytes of all of them.
#pragma once
#include <stddef.h>

struct gnutls_session_int;
struct tunnels;

// Returns 0 or -errno.
int tunnels_start(struct tunnels **);
// Lets go of all sessions at once, and returns when every end in clear is closed; whoever has one sees that nothing
// comes any more. NULL: nothing.
void tunnels_stop(struct tunnels *);

// Any thread. The session has shaken hands, and does not block; it and its socket are not to be used until ended is
// called, on the tunnels' thread and once: when both sides have ended, and what was said last in clear is on its way.
// first is what the client hears before all else. Returns the end in clear, a socket that does not block and that the
// caller closes; or -errno, and ended is never called.
int tunnels_open(struct tunnels *, struct gnutls_session_int *, int session_fd, const void *first,
	size_t first_size, void (*ended)(void *context), void *context);
