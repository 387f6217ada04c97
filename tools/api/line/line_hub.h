// The controller's end of the line (docs/wire.md, The line): takes the connections that nodes dial, and brings requests
// over them to the nodes. One thread has all of them.
//
// A request waits until there is a connection to its node: one that idles, or one that the node dials because it is
// called. A connection serves one request at a time and is kept a while.
#pragma once
#include "state/base/limits.h"
#include "state/base/time_source.h"
#include "tools/api/forward/exchange.h"
#include "tools/tls/psk.h"

// How long a request waits for its node: longer than between two heartbeats, which call it, too.
#define LINE_DIAL_WAIT_MS 10000u
// What a node is called again after, while somebody waits.
#define LINE_CALL_AGAIN_MS 300u
#define LINE_HANDSHAKE_MS 5000u
#define LINE_IDLE_MS 60000u
// How long a client may take to say who it is, and how many may be about to: the oldest makes room for a newer one.
#define LINE_GREETING_MS 10000u
#define LINE_GREETINGS_MAX 64u
// A connection over which a request is sent, or a request that is being sent, and nothing moves.
#define LINE_STALL_MS 60000u
// Nobody is accepted for so long after the system had no descriptor or memory for one more.
#define LINE_ACCEPT_PAUSE_MS 100u

// Why a connection is refused or ended.
enum line_refusal {
	LINE_ACCEPTED,
	LINE_REFUSED_IDENTITY,     // its name is no node's
	LINE_REFUSED_UNKNOWN_NODE, // of that id there is none
	LINE_REFUSED_UNKNOWN_KEY,  // no master key has that id
	LINE_REFUSED_REVOKED,
	LINE_REFUSED_NOT_LEADING, // this controller follows
	LINE_REFUSED_BAD_KEY,     // it does not have the node's present key
	LINE_REFUSED_TLS,         // what it says is no TLS that is spoken here
	LINE_REFUSED_PROTOCOL,    // it does not say who asks
	LINE_REFUSED_LEFT,        // it went away in its handshake
	LINE_REFUSED_SLOW,        // its handshake took too long
	LINE_REFUSED_CROWDED,     // newer ones came while its handshake was under way
	LINE_REFUSED_TOO_MANY,    // connections, of all nodes or of this one
	LINE_REFUSALS,
};
extern const char *const line_refusal_names[];

struct line_hub_settings {
	int listen_fd; // not blocking; the hub's from then on
	const struct time_source *time;
	// The node's present key, or why it has none.
	enum line_refusal (*node_key)(
		void *context, const struct psk_identity *, uint8_t key[static PSK_KEY_BYTES]);
	// A connection is wanted, or is wanted no more.
	void (*call)(void *context, const struct uuid *node);
	void (*call_no_more)(void *context, const struct uuid *node);
	// A node asks, over a socket with what it says in clear, which is the callee's. 0 or -errno.
	int (*answer)(void *context, const struct uuid *node, int fd);
	void *context;
	// An exchange that somebody waits for has news.
	void (*wake)(void *wake_context);
	void *wake_context;
	uint32_t dial_wait_ms; // 0: as above
};
// All callbacks are called on the hub's thread and do not block.

struct line_hub;

int line_hub_start(const struct line_hub_settings *,
	struct line_hub **); // 0 or -errno; owns listen_fd even then
// Ends all connections, and with them what was joined. No exchange begins any more.
void line_hub_close(struct line_hub *);
void line_hub_stop(struct line_hub *); // once all exchanges are dropped; frees it. NULL is fine

// Any thread. Takes the exchange over; its creator reads it until it drops it. False: too many are under way, or the
// hub is closed, and the exchange stays the caller's.
bool line_hub_begin(struct line_hub *, struct exchange *, const struct uuid *node);

struct line_hub_counts {
	uint32_t handshakes, idle, busy, asking, waiting; // now
	uint64_t accepted;                                // handshakes done
	uint64_t refused[LINE_REFUSALS];
	uint64_t unreached;      // requests whose node did not dial in time
	uint64_t accepts_failed; // connections that the system had no room for
	uint64_t outcomes[FORWARD_OUTCOMES];
};
void line_hub_count(struct line_hub *, struct line_hub_counts *);
