// A planner for tests of schedulers: views are those of a world, plans are committed into it but for nodes that have
// no room, and evaluations are kept. After each commit what must hold in every committed state is checked.
#pragma once
#include "placement/scheduler/common/planner.h"
#include "tests/placement/scheduler/world.h"

#define COMMITTER_NODES_MAX 64u

struct committer {
	struct world *world;
	bool rejects[COMMITTER_NODES_MAX];                   // by slot, of the plan at hand
	struct evaluation **created, **updated, **reblocked; // copies, in order
	uint32_t created_count, updated_count, reblocked_count;
	uint32_t plans, views;
	uint32_t changes; // that were committed
	bool in_view;
	uint64_t asked_index; // of the newest view
	// Of the newest plan that was submitted; its annotations are kept, too.
	uint32_t stops, preemptions, placements, updates;
	struct array annotations; // desired_updates
	// Of failed allocations that are placed anew, since the run began; and of those the last.
	uint32_t reschedules;
	int64_t attempted, limit, wait_until_ns;
	// Faults: errors that are returned instead; nodes that are rejected in so many plans; a refresh with each.
	int view_error, submit_error, create_error, update_error;
	uint32_t rejected_slot, rejections;
	bool refreshes;
	bool may_break;  // an invariant is expected not to hold; otherwise that ends the test
	uint32_t broken; // how often that was told
};

void committer_init(struct committer *, struct world *);
void committer_release(struct committer *);
struct scheduler_settings committer_settings(struct committer *, struct prng *, int64_t now_ns);

// An evaluation of a job, pending. Caller frees.
struct evaluation *evaluation_for(const struct job *, enum eval_trigger);
// Works off an evaluation and checks that it ended; what was kept of earlier ones is forgotten first.
int committer_run(struct committer *, const struct evaluation *);
// The end of the newest one.
const struct evaluation *committer_end(const struct committer *);

// No two living instances of one name of a system job on a node, and none that the node has no room for. Aborts
// otherwise.
void world_check(struct world *);
// Living allocations of a job, or of all when it is NULL.
uint32_t world_living(const struct world *, const struct job *);
