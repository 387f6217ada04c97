// What a node can take, computed the slow and obvious way, only from the lists of world and plan. Groups with at most
// one static port, no devices and no cores.
#pragma once
#include "placement/scheduler/stack/stack.h"
#include "tests/placement/scheduler/world.h"

struct naive {
	const struct world *world;
	const struct plan *plan;
	const struct job *job;
	uint32_t first_slot; // of equal nodes
	double lowest_boost; // of values that are wanted, at most -1
};

struct naive_verdict {
	enum stack_outcome outcome;
	const char *dimension; // when exhausted
	double preference;     // by the snapshot: 1, a half, a quarter or 0; before the score
	double score;
};

struct naive_answer {
	uint32_t slot; // NODE_SLOT_NONE
	double preference, score;
	uint32_t evaluated, filtered, exhausted;
};

bool naive_is_candidate(const struct naive *, const struct node *);
struct naive_verdict naive_node(
	struct naive *, const struct stack_request *, const struct node *, bool generic);
struct naive_answer naive_select(struct naive *, const struct stack_request *);
