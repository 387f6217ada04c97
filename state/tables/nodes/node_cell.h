// Nodes in the tables: by slot and by id, and what is counted of them. For state/ only; applier thread.
#pragma once
#include "state/records/resources.h"
#include "state/tables/kind.h"

extern const struct kind node_kind;

bool nodes_create(struct state *); // false: memory is short
uint32_t nodes_count(const struct state *);

// Makes the slot's cell ready for a node. owner counts when the slot is the first of its block.
struct node_cell *node_cell_open(
	struct state *, uint32_t slot, uint16_t owner, const struct uuid *id);
struct node_cell *node_cell_find(const struct state *, const struct uuid *);
// A plan may touch more nodes than the caches hold, so they are fetched ahead: first the cell, then the record that it
// points to.
void node_cell_prefetch(const struct state *, uint32_t slot);
void node_cell_prefetch_record(const struct state *, uint32_t slot);
// Backs memory of cells a good way ahead of this slot; backed: how many were so far. Any thread.
void node_cells_back(const struct state *, uint32_t *backed, uint32_t slot);
void state_count_node(struct state *, const struct node *, int change);
// Tells placement that the node's record or use changed.
void state_node_changed(struct state *, uint32_t slot);
