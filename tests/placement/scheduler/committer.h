// A planner for tests of schedulers: views show a world, plans are committed into it except on nodes without room, and
// evaluations are kept. After each commit it checks what must hold in every committed state.
#pragma once
#include "placement/scheduler/common/planner.h"
#include "tests/placement/scheduler/world.h"

#define COMMITTER_NODES_MAX 64u

struct committer {
	struct world *world;
	struct view_fleet *fleet;
	bool rejects[COMMITTER_NODES_MAX];                   // by slot, of the present plan
	struct evaluation **created, **updated, **reblocked; // copies, in order
	uint32_t created_count, updated_count, reblocked_count;
	uint32_t plans, views;
	uint32_t changes; // committed so far
	bool in_view;
	int64_t priority;     // of the evaluation that is worked off
	uint64_t asked_index; // of the newest view
	// Of the newest submitted plan, with its annotations.
	uint32_t stops, preemptions, placements, updates;
	struct array annotations; // desired_updates
	// Failed allocations placed anew since the run began; then values of the last one.
	uint32_t reschedules;
	int64_t attempted, limit, wait_until_ns;
	// Faults: errors to return instead; a node that so many plans reject; a refresh with each rejection.
	int view_error, submit_error, create_error, update_error;
	uint32_t rejected_slot, rejections;
	bool refreshes;
	const char *other_group; // a result names 7 placed instances of it; NULL: none
	bool may_break;  // a test expects an invariant to fail; otherwise that ends the test
	uint32_t broken; // number of failed invariants
};

void committer_init(struct committer *, struct world *);
void committer_release(struct committer *);
struct scheduler_settings committer_settings(struct committer *, struct prng *, int64_t now_ns);

// An evaluation of a job, pending. Caller frees.
struct evaluation *evaluation_for(const struct job *, enum eval_trigger);
// Works off an evaluation and checks that it ended; first forgets what it kept of earlier ones.
int committer_run(struct committer *, const struct evaluation *);
// The end of the newest evaluation.
const struct evaluation *committer_end(const struct committer *);

// Aborts when a node has two living instances of one name of a system job, or an allocation without room.
void world_check(struct world *);
// Living allocations of a job, or of all when it is NULL.
uint32_t world_living(const struct world *, const struct job *);
