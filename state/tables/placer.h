// What the applier asks of placement. Declared here, implemented in placement/: the applier decides
// placements in order with all other changes (each sees the one before), but state knows no policy.
// All calls on the applier thread.
#pragma once
#include "state/log/command.h"
#include "state/records/job.h"
#include <stdint.h>

#define PLACER_NO_NODE 0xffffffffu

struct placer_choice {
	uint32_t slot; // PLACER_NO_NODE: none feasible, refusal filled
	double score;
	uint32_t nodes_evaluated; // ready nodes looked at, in effect the whole fleet
	uint32_t nodes_feasible;
	struct device_set devices; // instances chosen on the node
};

struct placer {
	void *context;
	// The best of all feasible nodes for one more instance of job's group; ties go to the
	// lowest slot.
	void (*best)(void *context, const struct job *job, uint32_t group, struct placer_choice *,
		struct place_refusal *);
	// The working record, status or use of this node changed, or the node came or went.
	void (*node_changed)(void *context, uint32_t slot);
	// A job version will not be asked for again: forget what was cached for it.
	void (*job_retired)(void *context, const struct job *job);
	// The applier has nothing else to do: may work off what node_changed left for later, for at most so many nodes.
	// Returns whether more is left. NULL: nothing ever is.
	bool (*catch_up)(void *context, uint32_t nodes);
};
