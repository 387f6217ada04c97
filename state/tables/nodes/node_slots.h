// Slots that a purge freed, and when one may be used again. For state/ only; applier thread.
//
// A slot that was freed keeps a tombstone, which remembers the newest generation, so that nothing
// that was meant for the former node is ever taken for the next one's. It is used again once no
// reader can be on the former node's way through the tables any more.
#pragma once
#include "state/tables/state.h"

#define NO_SLOT 0xffffffffu

// The working node is gone: leaves a tombstone and puts the slot among the free ones.
void node_cell_close(struct state *, struct node_cell *, uint64_t index);
// Of a snapshot: a slot that was free.
void node_cell_load_free(struct state *, uint32_t slot, uint32_t generation, uint16_t owner);
// The slot is in use from now on. owner counts when it is the first of its block.
void node_slot_reserve(struct state *, uint32_t slot, uint16_t owner);
// Its next node takes it.
void node_slot_take(struct state *, uint32_t slot);

// A slot that may be used now, or NO_SLOT.
uint32_t node_slot_ready(const struct state *);
// The generation of the next node of a slot that no node has.
uint32_t node_slot_generation(const struct state *, uint32_t slot);
// The one that follows a generation.
uint32_t generation_after(uint32_t generation);
bool node_slot_is_free(const struct state *, uint32_t slot);

// Publication of a change of a node: what the packet path is told of its slot, and, of one that is
// gone, the beginning of the slot's rest.
void node_slot_follow(struct state *, struct node_cell *, const struct node *after);
// What its next heartbeat is answered with.
void node_slot_direct(struct state *, const struct node *);
