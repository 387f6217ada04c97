// Clients of TLS that speak with somebody who has a socket in clear: one thread carries the bytes of all of them.
#pragma once
#include <stddef.h>

struct gnutls_session_int;
struct open_tunnel;
struct tunnels;

// Returns 0 or -errno.
int tunnels_start(struct tunnels **);
// Lets go of all sessions at once, and returns when every end in clear is left; whoever has one sees that nothing comes
// any more. NULL: nothing.
void tunnels_stop(struct tunnels *);
// After the stop, and after the last who may open one.
void tunnels_destroy(struct tunnels *);

// Any thread. The session has shaken hands, and does not block; it and its socket are not to be used until ended is
// called, on the tunnels' thread and once: when the session has ended, what was said last in clear is on its way, and
// the end in clear was left. first is what the client hears before all else. Returns the end in clear, a socket that
// does not block, and the tunnel to leave by it; or -errno, and ended is never called.
int tunnels_open(struct tunnels *, struct gnutls_session_int *, int session_fd, const void *first,
	size_t first_size, void (*ended)(void *context), void *context,
	struct open_tunnel **opened);
// Any thread, once. Closes the end in clear, and the tunnel is gone soon.
void tunnel_leave(struct open_tunnel *);
