// A stack that is asked for the best node with victims, and another one by which every node is looked at: both must say
// the same node, victims, scores and metrics.
#pragma once
#include "placement/scheduler/stack/stack.h"
#include "placement/scheduler/stack/view_fleet.h"
#include "state/base/prng.h"
#include "tests/placement/scheduler/world.h"

#define OTHERS 8u

struct evicting {
	struct prng prng;
	struct world *world;
	struct scheduler_view view;
	struct view_fleet *fleet;
	struct job *job, *others[OTHERS];
	// The first is asked; of the second every node is looked at.
	struct plan *plans[2];
	struct stack *stacks[2];
	uint32_t first_slot, placed, with_victims, refused;
	bool is_by_index;
};

// The world, its view and the job are there.
void evicting_open_stacks(struct evicting *);
// Takes down what is there.
void evicting_end(struct evicting *);
// Asks both for one more instance, and places it.
void evicting_check_instance(struct evicting *);
// Stops or evicts an allocation.
void evicting_change_plan(struct evicting *);
// Somewhere the job's own allocations count.
void evicting_be_strict_somewhere(struct evicting *);
