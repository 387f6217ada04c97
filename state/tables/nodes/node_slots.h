// Slots that a purge freed, and when one may be used again. For state/ only; applier thread.
//
// A freed slot keeps a tombstone with its newest generation, so that nothing that was meant for the former node is ever
// taken for the next one's. The slot is used again once no reader can follow the former node through the tables any
// more.
#pragma once
#include "state/tables/nodes/node_extra.h"

#define NO_SLOT 0xffffffffu

// The tombstone of a slot that no node has; else NULL.
static inline struct node *node_slot_gone(const struct node_cell *cell)
{
	return node_extra_of(cell)->gone;
}

// Removes the working node: leaves a tombstone and puts the slot among the free ones.
void node_cell_close(struct state *, struct node_cell *, uint64_t index);
// Puts back a slot that was free in a snapshot.
void node_cell_load_free(struct state *, uint32_t slot, uint32_t generation, uint16_t owner);
// Puts the slot into use for the first time. owner counts when the slot is the first of its block.
void node_slot_reserve(struct state *, uint32_t slot, uint16_t owner);
// Takes a free slot for its next node.
void node_slot_take(struct state *, uint32_t slot);

// A slot that may be used now, or NO_SLOT.
uint32_t node_slot_ready(const struct state *);
// The generation of the next node of a slot that no node has.
uint32_t node_slot_generation(const struct state *, uint32_t slot);
// The generation that follows this one.
uint32_t generation_after(uint32_t generation);
bool node_slot_is_free(const struct state *, uint32_t slot);

// Follows a published change of a node: tells the packet path about its slot and, when the node is gone, begins the
// slot's rest.
void node_slot_follow(struct state *, struct node_cell *, const struct node *after);
// Sets the directives that answer the node's next heartbeat.
void node_slot_direct(struct state *, const struct node *);
