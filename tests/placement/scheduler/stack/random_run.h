// Random fleets, jobs and what is on the nodes, for tests that compare the stack with the naive model.
#pragma once
#include "placement/scheduler/node/stack_state.h"
#include "placement/scheduler/stack/stack.h"
#include "placement/scheduler/stack/view_fleet.h"
#include "state/base/prng.h"
#include "tests/placement/scheduler/stack/naive.h"

// What a run asks for: anything; only what racks decide; at most six instances in each of many racks; what names of
// nodes and hosts decide, too; what up to fourteen properties decide; spreads beside affinities for single nodes.
enum asked { ANYTHING, OF_RACKS, SIX_IN_A_RACK, OF_NODES, OF_MANY, OF_LIKED };

struct run {
	struct prng prng;
	enum asked asked;
	struct world *world;
	struct scheduler_view view;
	struct view_fleet *fleet;
	struct plan *plan;
	struct stack *stack;
	struct plan *twin_plan;
	struct stack *twin; // does and is asked the same, but keeps no metrics; NULL: there is none
	struct job *job;
	struct naive naive;
	uint32_t placed;
	struct allocation *held[3];
	uint32_t racks; // few, or so many that classes are not grouped by them
	uint32_t hosts; // names of hosts, some of which are of several nodes
};

static inline uint32_t below(struct run *r, uint32_t bound)
{
	return (uint32_t)prng_below(&r->prng, bound);
}

static inline bool chance(struct run *r, uint32_t percent)
{
	return below(r, 100) < percent;
}

void random_run_begin(struct run *, uint64_t seed, enum asked);
void random_run_end(struct run *);
