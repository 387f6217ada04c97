// What few nodes need beside their cell (struct node_extra). For state/ only; applier thread, unless said otherwise.
#pragma once
#include "state/tables/state.h"

// The cell's own, made if it has none.
struct node_extra *node_extra_make(struct state *, struct node_cell *);
void node_extra_free(struct state *, struct node_cell *);

// The same to be read, all of it zero when the cell has none. For any thread, which reads of it what is published.
const struct node_extra *node_extra_of(const struct node_cell *);

// The id of the slot's node, or of its last one while the slot is free; all zero when it had none. Applier thread.
const struct uuid *node_cell_id(const struct node_cell *);

// Instances of its devices that allocations hold.
static inline const struct device_set *node_devices_used(const struct node_cell *cell)
{
	return &node_extra_of(cell)->devices_used;
}
