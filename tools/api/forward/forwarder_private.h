// What the files of the forwarder share. Everything is the thread's but for what the lock guards.
#pragma once
#include "tools/api/forward/curl_events.h"
#include "tools/api/forward/forwarder.h"
#include <pthread.h>
#include <stdatomic.h>

struct forwarder {
	struct forwarder_settings settings;
	struct curl_events *events;
	int upgrades_fd; // epoll: of connections over which another protocol is asked for
	pthread_t thread;
	pthread_mutex_t lock; // guards what follows
	struct cds_list_head queue;
	bool stops, is_closed;
	uint32_t under_way, upgrades; // upgrades: of those under way
	uint64_t body_bytes;          // the same
	// Of the thread alone.
	bool is_ending; // it is closed: no connections over which another protocol is spoken
	struct cds_list_head all;
	struct cluster_status status;
	uint64_t looked_ns;
	uint64_t leaderless_since_ns; // 0: somebody leads
	_Atomic uint64_t repeated;
	_Atomic uint64_t outcomes[FORWARD_OUTCOMES];
};

uint64_t forwarder_now_ns(const struct forwarder *);
void forwarder_wake_reader(struct forwarder *, struct exchange *);
void forwarder_turns(struct forwarder *, struct exchange *, enum exchange_stage);
// The way of an exchange to the leader has ended: well, with the whole answer, or it is asked anew, or broken off.
void forwarder_ends_way(struct forwarder *, struct exchange *, bool is_good);

// An easy handle for the exchange, to be added to those under way. False: there is no memory.
bool leader_request_begin(struct forwarder *, struct exchange *);
void leader_request_end(struct forwarder *, struct exchange *);

// upgrade.c: requests that ask for another protocol, mostly WebSockets. libcurl connects to the leader, and over that
// connection the request is sent, its answer taken, and after a 101 bytes go both ways, until one side ends. Of each
// side at most TUNNEL_BYTES are held, and then it waits.

// How long the leader takes nothing of a request, or a client that was told 101 does not go on, or a side does not take
// the rest of what the other one said before it ended.
#define UPGRADE_STALL_MS 10000u

// 0 or -errno; undone with the descriptor.
int upgrades_open(struct forwarder *);
// Goes on with all that may.
void upgrades_turn(struct forwarder *);

// Over the connection that the exchange's easy has made. False: it is of no use.
bool upgrade_begin(struct forwarder *, struct exchange *);
// Goes on after the reader made room.
void upgrade_continue(struct upgrade *);
// The client's side, which is closed again when there is nothing to join it with.
void upgrade_join(struct exchange *, const struct exchange_joint *);
// Whether the leader may have begun with what it was asked.
bool upgrade_has_spoken(const struct upgrade *);
// Ends what took too long, whose client has left, or everything when the forwarder is closed.
void upgrade_look(struct upgrade *, uint64_t now_ns);
// Before its easy is gone. The client's side is closed; of a WebSocket with the reason, if it was not closed before.
void upgrade_end(struct upgrade *);
