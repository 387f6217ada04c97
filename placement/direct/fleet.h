// The fleet as one reader of the state keeps it, so that a decision need not look at every node: an index for each
// algorithm that somebody asked for, kept by changes. One thread.
#pragma once
#include "placement/direct/classes/class_sets.h"
#include "placement/direct/classes/node_values.h"
#include "placement/direct/fit_index.h"
#include "placement/direct/victims/victims.h"

struct fleet;

struct fleet_index {
	struct fit_index *fit;
	struct class_sets *sets;
	struct node_values_kept *values;
};

// Where nodes are read from.
struct fleet_source {
	uint32_t (*slots)(void *context); // slots 0 … n-1 may hold nodes
	// Fills in what the slot's node is now, with pointers that stay during the call; false: there is none.
	bool (*read)(void *context, uint32_t slot, struct fit_input *);
	// Visits what holds something of the slot's node.
	void (*allocations)(
		void *context, uint32_t slot, state_allocation_visit *, void *visit_context);
	// Calls fleet_reread() for what changed since it was called last, or fleet_reread_all(). NULL: nothing changes.
	void (*catch_up)(void *context, struct fleet *);
	void *context;
};

struct fleet *fleet_create(const struct fleet_source *);
void fleet_destroy(struct fleet *); // NULL is fine

// For the source: a node changed, or what is on it, or many.
void fleet_reread(struct fleet *, uint32_t slot);
void fleet_reread_all(struct fleet *);

// A new view of the state begins: the first index that is asked for in it catches up, and then none changes any more.
void fleet_begin_view(struct fleet *);
// The index of an algorithm, made on first use; valid as long as the fleet.
const struct fleet_index *fleet_index(struct fleet *, enum placement_algorithm);
// What allocations up to this priority hold, kept for those priorities that were asked for last; up to date until the
// next call.
struct victims *fleet_victims(struct fleet *, int64_t priority);
