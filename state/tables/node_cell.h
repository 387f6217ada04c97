// Nodes in the tables: by slot and by id, and what is counted of them. For state/ only; applier thread.
#pragma once
#include "state/records/resources.h"
#include "state/tables/node_class.h"
#include "state/tables/node_history.h"
#include "state/tables/table.h"

extern const struct kind node_kind, node_report_kind;

bool nodes_create(struct state *); // false: memory is short
uint32_t nodes_count(const struct state *);

// A node record built from a description; the caller fills the rest of it.
struct node *node_build(struct state *, const struct node_registration *, struct node_class *,
	const struct node_history *);
// A copy that may be changed until it is published.
struct node *node_revise(struct state *, struct node_cell *, uint64_t index);
// The same with another history, and with one more event.
struct node *node_revise_with_history(
	struct state *, struct node_cell *, uint64_t index, const struct node_history *);
struct node *node_revise_with_event(
	struct state *, struct node_cell *, uint64_t index, enum node_message, int64_t time_ns);
// Takes back what the record counted: nobody begins to read it any more.
void node_retire(struct state *, struct node *);

// The instances that a group of the node's devices has, one bit each.
uint64_t node_instances(const struct node *, uint32_t group);
// They exist, and none of them is taken.
bool node_has_devices(const struct node_cell *, const struct device_set *);
// The slot is in use from now on. owner counts when it is the first of its block.
void node_slot_reserve(struct state *, uint32_t slot, uint16_t owner);
// The slot's cell, made ready for a node. owner counts when the slot is the first of its
// block.
struct node_cell *node_cell_open(
	struct state *, uint32_t slot, uint16_t owner, const struct uuid *id);
struct node_cell *node_cell_find(const struct state *, const struct uuid *);
void state_count_node(struct state *, const struct node *, int change);
// Placement is told that a node's record or use changed.
void state_node_changed(struct state *, uint32_t slot);
