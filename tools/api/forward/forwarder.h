// Forwards requests to the leader of the cluster, over connections that are kept (libcurl), on a thread of its own.
//
// While nobody leads, or the leader cannot be reached, a request waits, as long as a takeover may take. It is asked
// anew when the leader that it was sent to is none any more and it changes nothing, or was refused by it.
#pragma once
#include "state/base/time_source.h"
#include "state/cluster/cluster_status.h"
#include "tools/api/forward/exchange.h"
#include "tools/http_client/http_tls.h"

// Under way at a time; more are refused. Each has a connection to the leader, which has 4,096 for all
// (http.connections_max): two members that follow leave half of them to its own clients.
#define FORWARDS_MAX 1024u
// Of the bodies of those under way.
#define FORWARD_BODY_BYTES_MAX (64u * 1024 * 1024)
// Of them, those that ask for another protocol: they last, and have a connection each.
#define FORWARD_UPGRADES_MAX 256u
// Nomad's words, which clients look for.
#define FORWARD_NO_LEADER_TEXT "No cluster leader"
// How long a request waits for a leader, and a leader may take nothing of one.
#define FORWARD_HOLD_MS 6000u

// Whether this member leads, and knows that it still does.
static inline bool cluster_leads(const struct cluster_status *s)
{
	return s->role == CLUSTER_LEADER && s->knows_leader;
}

struct forwarder_settings {
	// As in struct api_settings. Called on the forwarder's thread.
	void (*cluster)(void *context, struct cluster_status *);
	void *context;
	struct http_tls tls; // of leaders with https; the texts outlive the forwarder
	uint32_t hold_ms;    // 0: FORWARD_HOLD_MS
	const struct time_source *time;
	// An exchange that somebody waits for has news. Called on the forwarder's thread; never blocks.
	void (*wake)(void *wake_context);
	void *wake_context;
};

struct forwarder;

int forwarder_start(const struct forwarder_settings *, struct forwarder **); // 0 or -errno
// Ends what speaks another protocol, and lets none begin any more.
void forwarder_close(struct forwarder *);
void forwarder_stop(struct forwarder *); // once all exchanges are dropped; frees it

// Any thread. Takes the exchange over; its creator reads it until it drops it. False: too many are under way, and the
// exchange stays the caller's.
bool forwarder_begin(struct forwarder *, struct exchange *);

struct forward_counts {
	uint32_t under_way;
	uint32_t upgrades; // of them, those that ask for another protocol, or speak it
	uint64_t repeated; // asked anew
	uint64_t outcomes[FORWARD_OUTCOMES];
};
void forwarder_note(struct forwarder *, enum forward_outcome);
void forwarder_count(struct forwarder *, struct forward_counts *);
