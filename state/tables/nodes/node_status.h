// What becomes of a node that falls silent or is heard again (docs/spec/states.md, rows B53, B54). Applier thread only.
#pragma once
#include "state/tables/state.h"

// A living allocation: one that is to run and has not ended.
bool node_has_living(const struct node_cell *);
// The status that it comes to, for enum node_status_cause; its own: it stays as it is.
uint8_t node_status_after(const struct node_cell *, uint8_t cause, int64_t now_ns);
// The same of one that registers again.
uint8_t node_status_registered(const struct node_cell *);
// An initializing node may be used again: nothing lives on it, or it told what became of that since it was silent.
bool node_is_settled(const struct node_cell *);
// What lives on the node became more or less.
void node_living_changed(struct state *, uint32_t slot);
