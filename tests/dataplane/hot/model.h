// The packet path again, one packet at a time and as plainly as can be: written from the headers' contracts,
// bytes at a time, with none of the packet path's code. Neighbours' packets are only classified.
#pragma once
#include "tests/dataplane/hot/fleet.h"

struct model_node {
	uint32_t generation;
	uint64_t highest;
	bool seen[4096]; // sequences, which the test keeps below that
	uint8_t key_id;
	bool down;
	uint32_t heard_ms;
	uint32_t tokens, tokens_ms; // in its bucket, and when one was put in last
};

// Of the limit that the test sets: early heartbeats, and how many of them are let through.
#define MODEL_EARLY_MS 100u
#define MODEL_TOKEN_MS 20u
#define MODEL_BURST 5u

struct model {
	const struct fleet *fleet; // for keys and addresses only
	struct model_node nodes[FLEET_NODES + 1];
	uint64_t refused[HOT_REFUSED_KINDS];
	uint64_t received, heartbeats, requests, replies, returned, deferred;
	uint32_t reports_left;
	uint32_t now_ms;
};

void model_start(struct model *, const struct fleet *);
// Returns the length of the reply, written to reply, or 0.
uint32_t model_receive(struct model *, const struct packet *, uint8_t *reply);
