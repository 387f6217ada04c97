// Which nodes changed lately, for readers that keep something of every node: a ring of slots, written by the applier
// as it publishes. A reader remembers how far it read; one that is too far behind looks at all nodes again.
#pragma once
#include "state/tables/state.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct node_feed {
	_Atomic uint32_t *slots;
	uint32_t room;                // a power of two
	_Atomic uint64_t begun, head; // entries that are being written, and those that are
};

// slots_max: of the table; the ring holds about as many changes, within bounds. False: memory is short.
bool node_feed_create(struct node_feed *, uint32_t slots_max);
void node_feed_destroy(struct node_feed *);

// Tells readers that the node's published record or use is another one. Call it after readers can see that; applier.
void node_feed_note(struct node_feed *, uint32_t slot);

// For any thread. What is read of the node after this is at least as new as the entry.
uint64_t node_feed_head(const struct node_feed *);
// Takes the next changed slots, each maybe more than once; *seen is how far the reader got. Returns how many, 0 at the
// end, at most `wanted`; NODE_FEED_LOST when some of them are no longer there.
uint32_t node_feed_read(const struct node_feed *, uint64_t *seen, uint32_t *slots, uint32_t wanted);
