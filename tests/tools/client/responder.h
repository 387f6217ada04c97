// A controller in miniature for tests of the agent, the fleet and the client: a thread with a UDP socket
// on the loopback that speaks the real wire code, keeps nodes and allocations in arrays, and misbehaves
// when told. It decides nothing; berthd itself is tested in tests/integration.
#pragma once
#include "dataplane/wire/auth.h"
#include "dataplane/wire/wire.h"
#include <pthread.h>
#include <stdatomic.h>

#define RESPONDER_NODES_MAX 4096u
#define RESPONDER_PLACES_MAX 4096u

// How to misbehave. Counts go down to 0; all may be set while it runs.
struct responder_rules {
	_Atomic uint32_t drop;        // requests that are not looked at
	_Atomic uint32_t refuse;      // requests answered with REFUSED
	_Atomic uint32_t reason;      // enum wire_refusal of refuse
	_Atomic uint32_t forge;       // answers with a wrong tag
	_Atomic uint32_t stray;       // answers with another sequence
	_Atomic uint32_t place_limit; // allocations after which PLACE finds no node
	_Atomic uint32_t ttl_ms;
	_Atomic uint64_t term;
	_Atomic uint32_t directives; // of every heartbeat answer
};

struct responder_node {
	struct uuid id;
	uint32_t generation;
	uint64_t registration;
	uint32_t parts_seen; // bits of the newest registration
	uint32_t pairs;      // of all parts of the newest registration
	uint64_t sequence, window, beats;
	bool gone; // said goodbye
};

struct responder_counters {
	_Atomic uint64_t heartbeats, resyncs, registrations, goodbyes, placed, released, statuses;
	_Atomic uint64_t bad_tag, replay, malformed;
};

struct responder {
	struct responder_rules rules;
	struct responder_counters counters;
	struct master_keys masters;
	char address[32]; // "127.0.0.1:port"
	_Atomic uint32_t node_count;
	struct responder_node nodes[RESPONDER_NODES_MAX];
	// the rest: its thread only
	uint32_t place_count;
	struct {
		uint64_t issued_ms, request;
		struct wire_placed placed;
	} places[RESPONDER_PLACES_MAX];
	uint64_t index;
	int fd;
	uint16_t port;
	_Atomic bool stop;
	pthread_t thread;
};

// master key 1 is the bytes 0, 1, … 31. Starts the thread. Caller stops.
struct responder *responder_start(void);
void responder_stop(struct responder *);
// Closes the socket and forgets all nodes, then listens on the same port again: a controller that lost its state.
void responder_forget(struct responder *);
