// The controllers of a cluster that a node or client was told of, of which it speaks to one at a time (docs/wire.md,
// Several controllers).
#pragma once
#include "dataplane/wire/wire.h"
#include <stdbool.h>
#include <stdint.h>

#define SERVERS_MAX 16u
#define SERVER_TEXT_BYTES 300u

struct servers {
	const char *list; // the caller's: "A,B,C", each as in endpoint.h
	uint32_t count, at;
	char current
		[SERVER_TEXT_BYTES]; // whom to speak to: one of the list, or a leader that a controller named
};

// Begins with the first. Returns 0, or -EINVAL and a sentence in message.
int servers_open(struct servers *, const char *list, char *message, uint32_t message_size);
// The current one is silent, or does not know the leader: goes on to the next of the list. False: there is no other.
bool servers_next(struct servers *);
// The current one does not lead: goes on to the leader that it named, or to the next. False: there is no other.
bool servers_follow(struct servers *, const struct wire_endpoint *leader);
