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
int node_item_load(struct state *, struct snapshot_nodes *, struct bytes_reader *);
int free_slot_item_load(struct state *, struct bytes_reader *);
void snapshot_nodes_release(struct state *, struct snapshot_nodes *);
