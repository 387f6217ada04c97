// What becomes of a node that falls silent or is heard again (docs/spec/states.md, rows B53, B54). Applier thread only.
#pragma once
#include "state/tables/state.h"

// The status that the node gets by a cause (enum node_status_cause); it may be the one it has.
uint8_t node_status_after(const struct node_cell *, uint8_t cause, int64_t now_ns);
// The same for a node that registers (row B56), NULL when it is new. is_awaited: see struct entry_node_register.
uint8_t node_status_registered(const struct node_cell *, bool is_awaited);
// Whether no heartbeat came since the node registered as, or while, initializing.
bool node_is_awaited(const struct node *);
// Whether an initializing node may be used again: nothing lives on it, or it reported on that since it was silent.
bool node_is_settled(const struct node_cell *);
// Call it when the node's first living allocation came or its last one went.
void node_busy_changed(struct state *, uint32_t slot);
