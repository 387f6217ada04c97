// Counters of one worker. Written by that worker only, relaxed; read by anybody and summed.
//
// Identity, checked in tests and exported as a metric that must be 0:
//	received = Σ refused[] + heartbeats + requests + neighbour answers
// The first check that a packet fails names it. A refused packet may still be answered: the rows that say so count the
// packet once, and its answer in replies. A heartbeat is accepted when it is a sign of life: authentic, of this
// generation and this term, and new. up.request counts each frame that it is handed as one of requests, bad-body,
// requests-full and request-rate.
#pragma once
#include <stdatomic.h>
#include <stdint.h>

// One row each: enum suffix, metric label. A packet that is not answered or acted on is counted in
// exactly one of these.
#define HOT_REFUSALS(X)                                                                      \
	X(SHORT, "short")            /* cut off inside a header */                           \
	X(SEGMENTED, "segmented")    /* several mbuf segments */                             \
	X(OVERSIZED, "oversized")    /* longer than a frame may be */                        \
	X(NOT_OURS_MAC, "other-mac") /* addressed to another port */                         \
	X(SOURCE, "bad-source")      /* from an address that cannot be answered */           \
	X(VLAN, "other-vlan")        /* tagged with another VLAN, or tagged twice */         \
	X(ETHERTYPE, "ethertype")    /* neither IPv4, IPv6 nor ARP */                        \
	X(ARP, "arp")                /* ARP for somebody else, or malformed */               \
	X(IP_HEADER, "ip-header")    /* version, length or hop fields wrong */               \
	X(IP_OPTIONS, "ip-options")  /* IPv4 options or IPv6 extension headers */            \
	X(IP_CHECKSUM, "ip-checksum")                                                        \
	X(FRAGMENT, "fragment")                                                              \
	X(NOT_OURS_IP, "other-address")                                                      \
	X(PROTOCOL, "protocol") /* neither UDP nor ICMP */                                   \
	X(ICMP, "icmp")         /* not an echo request or solicitation for us */             \
	X(UDP_LENGTH, "udp-length")                                                          \
	X(UDP_CHECKSUM, "udp-checksum")                                                      \
	X(NOT_OURS_PORT, "other-port")                                                       \
	X(FRAME_SHORT, "frame-short")                                                        \
	X(FRAME_MAGIC, "frame-magic")                                                        \
	X(FRAME_VERSION, "frame-version")                                                    \
	X(FRAME_LENGTH, "frame-length")                                                      \
	X(FRAME_TYPE, "frame-type")                                                          \
	X(UNKNOWN_SLOT, "unknown-slot")                                                      \
	X(UNKNOWN_KEY, "unknown-key") /* no key of that id, or of that sender */             \
	X(BAD_TAG, "bad-tag")                                                                \
	X(REPLAY, "replay")                     /* authentic, but seen before or too old */  \
	X(STALE_GENERATION, "stale-generation") /* authentic; answered REFUSED */            \
	X(STALE_TERM, "stale-term")             /* authentic; answered with the term */      \
	X(BAD_BODY, "bad-body")                 /* authentic; answered REFUSED */            \
	X(REQUESTS_FULL, "requests-full")       /* authentic; answered REFUSED overloaded */ \
	X(PINGS, "pings")                       /* more than are answered in a second */     \
	X(REVOKED, "revoked")                   /* of a node or client that is revoked */    \
	X(REQUEST_RATE, "request-rate")         /* authentic; answered REFUSED overloaded */ \
	X(BEAT_RATE, "beat-rate")               /* an authentic heartbeat, again too soon */ \
	X(NOT_LEADER, "not-leader")             /* authentic; told where the leader is */    \
	X(SERVICE, "service-address")           /* to a follower; the leader answers it */   \
	X(FOLLOW_RATE, "follow-rate")           /* to a follower: more than it looks at */

enum hot_refusal {
#define X(name, label) HOT_REFUSED_##name,
	HOT_REFUSALS(X)
#undef X
		HOT_REFUSED_KINDS,
};
extern const char *const hot_refusal_labels[];

struct hot_counters {
	_Atomic uint64_t received;
	_Atomic uint64_t heartbeats;  // accepted
	_Atomic uint64_t requests;    // authentic and handed on: REGISTER, PLACE, …
	_Atomic uint64_t neighbours;  // ARP, neighbour solicitations and pings answered
	_Atomic uint64_t replies;     // packets turned around or built
	_Atomic uint64_t reply_drops; // replies the port did not take
	_Atomic uint64_t notices;     // sent to nodes that did not ask
	_Atomic uint64_t specs_sealed,
		specs_clear; // pieces of what is to run, by how they went out
	_Atomic uint64_t refused[HOT_REFUSED_KINDS];
	_Atomic uint64_t bursts, busy_cycles;
	_Atomic uint64_t expired, returned;  // reports pushed
	_Atomic uint64_t reports_deferred;   // reports that found the ring full and are tried again
	_Atomic uint64_t stalls, stalled_ms; // gaps in the loop that froze the liveness clock
	_Atomic uint64_t foreign;            // heartbeats accepted from nodes of another worker
	// Not a count: this worker's liveness clock, read by workers that hear a node of this one.
	_Atomic uint32_t clock_ms;
	// Neither, as the newest round of this worker's sweep left them: armed nodes, those of them that were silent
	// for longer than half the time to live, and `expired`.
	_Atomic uint32_t nodes, nodes_silent;
	_Atomic uint64_t nodes_expired;
	// Nor this: the node that the newest registration named whose key or tag was not that node's, as two halves of
	// its id.
	_Atomic uint64_t stranger[2];
} __attribute__((aligned(64)));

// A counter has one writer, so it needs no locked instruction.
static inline void counter_add(_Atomic uint64_t *counter, uint64_t more)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
		memory_order_relaxed);
}
