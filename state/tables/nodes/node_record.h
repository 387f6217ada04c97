// Records of nodes: built, changed and given back. For state/ only; applier thread.
#pragma once
#include "state/tables/nodes/node_history.h"
#include "state/tables/state.h"

struct node_registration;

// Builds a node record from a description; the caller fills the rest.
struct node *node_build(struct state *, const struct node_registration *, struct node_class *,
	const struct node_history *);
// Returns a version that may be changed until it is published.
struct node *node_revise(struct state *, struct node_cell *, uint64_t index);
// The same with another history, and with one more event.
struct node *node_revise_with_history(
	struct state *, struct node_cell *, uint64_t index, const struct node_history *);
struct node *node_revise_with_event(
	struct state *, struct node_cell *, uint64_t index, enum node_message, int64_t time_ns);
// The same with another description of the node, which has the same devices.
struct node *node_revise_with_description(
	struct state *, struct node_cell *, uint64_t index, const struct node_registration *);
// Gives back the record's strings, class and bytes: nobody begins to read it any more.
void node_retire(struct state *, struct node *);

// The instances that a group of the node's devices has, one bit each.
uint64_t node_instances(const struct node *, uint32_t group);
// Whether the devices exist and none of them is taken.
bool node_has_devices(
	const struct node *, const struct device_set *held, const struct device_set *ask);

// Of struct kind.
uint64_t node_sum(const struct record *, uint64_t sum);
