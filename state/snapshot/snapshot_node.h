// Puts back nodes, their classes and free slots from items of a snapshot (snapshot_view.c says what is in them).
#pragma once
#include "state/base/bytes.h"
#include "state/records/nodes/node_description.h"
#include "state/tables/tables.h"

struct snapshot_nodes {
	struct node_class **classes; // by number; one reference each until the release
	uint32_t count, capacity;
	struct node_registration description; // scratch
};

// Return 0, -ERROR_CORRUPT, -ERROR_VERSION or -ERROR_TABLE_FULL.
int class_item_load(struct state *, struct snapshot_nodes *, struct bytes_reader *);
int node_item_load(struct state *, struct snapshot_nodes *, bool is_sound, struct bytes_reader *);
// On the thread that is ahead: whether the description in the item of a node keeps the rules. What cannot be decoded is
// left to node_item_load.
bool node_item_is_sound(struct node_registration *scratch, struct bytes_reader);
// Backs what putting the node of an item back will touch: memory for the cells of slots up to beyond it. *backed: slots
// so far.
void node_item_approach(const struct state *, uint32_t *backed, struct bytes_reader);
int free_slot_item_load(struct state *, struct bytes_reader *);
void snapshot_nodes_release(struct state *, struct snapshot_nodes *);
