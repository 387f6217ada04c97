// The past of a node, which lies right behind its record. For state/ only; applier thread.
#pragma once
#include "state/tables/state.h"

// Events of a node, oldest first; the oldest makes room. Its drains belong to a record or to the code that changes
// them.
struct node_history {
	uint32_t count;
	struct node_event events[NODE_EVENTS_MAX];
	const struct drain_strategy *drain; // NULL: none
	const struct last_drain *last_drain;
};
struct node_history node_history_of(const struct node *); // of NULL: empty
void node_history_add(struct node_history *, enum node_message, int64_t time_ns, uint64_t index);
// Copies the history behind a record's struct, where it takes node_history_bytes().
size_t node_history_bytes(const struct node_history *);
void node_history_place(struct node *, const struct node_history *);
