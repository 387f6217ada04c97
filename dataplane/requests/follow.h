// The packets of a follower: it answers authentic frames with where the leader is, and touches no node's line. Worker's
// thread, but for follow_set_leader().
#pragma once
#include "dataplane/requests/packet_worker.h"

// Handles a burst as hot_receive() does: parsed alike, so neighbours and pings get their answers. count <= BURST_MAX.
void follow_receive(struct packet_worker *, struct packet *burst, uint32_t count);

// Where refusals say that the leader is, from now on. One thread at a time.
void follow_set_leader(struct leader_place *, const struct wire_endpoint *);

// Frames that a worker looks at in a second, each of which costs the derivation of a key: a million nodes are told
// within twenty seconds where the leader is, and whoever floods gets no more of the core.
#define FOLLOWS_PER_S 50000u

// How long a sender waits that hears of no leader: about what it takes to find one.
#define RETRY_NOT_LEADER_MS 500u
