// What allocations hold of a node: its cpu, memory, disk, device instances, ports and cores. An allocation that is to
// stop holds its room until it has ended (row A47), so one that replaces it on the same node shares the room with it
// for a while: a node may hold more than it has, and a device instance may be held twice. For state/ only; applier
// thread unless said otherwise.
#pragma once
#include "state/records/resources.h"
#include <stdbool.h>
#include <stdint.h>

struct alloc_cell;
struct allocation;
struct node_cell;
struct state;

// Call it when an allocation came, changed or was deleted: counts it on its node as its newest version says.
void node_room_follow(struct state *, struct alloc_cell *);
// Call it before an allocation leaves its node for good.
void node_room_leave(struct state *, struct alloc_cell *);
// Around a change of what a living allocation holds.
void node_room_release(struct state *, const struct alloc_cell *);
void node_room_take(struct state *, const struct alloc_cell *);

// What is held by living allocations and machines, without allocations that are to stop. What was decided before those
// counted is judged by it when it is read again.
struct resources node_room_of_living(const struct node_cell *);
// Whether the node has the device instances and no living allocation holds one of them.
bool node_living_spare_devices(const struct node_cell *, const struct device_set *ask);

// The published use of a node follows a published change of an allocation. Device instances are taken only after all
// instances of the batch were given back: changes are published in the order in which allocations were touched first,
// and one allocation may take what a later one gives back.
void node_use_follow(struct state *, const struct alloc_cell *, const struct allocation *before,
	const struct allocation *after);
void node_use_take_devices(struct state *, const struct allocation *);

// Readers see that virtual machines hold `now` of the slot's node instead of `before`.
void node_use_machines(
	struct state *, uint32_t slot, struct resources before, struct resources now);
