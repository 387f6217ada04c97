// The state of a node's drain, for people: its phase, what is left, and what each of that waits for. Pure: between
// state_read_begin and state_read_end, and its result must be released there too.
#pragma once
#include "placement/watch/drains/drain_survey.h"

enum drain_phase {
	DRAIN_PHASE_NONE,      // the node does not drain
	DRAIN_PHASE_MIGRATING, // instances of services move away
	DRAIN_PHASE_FINISHING, // only allocations are left that the drain lets end by themselves
	DRAIN_PHASE_SYSTEM,    // only system jobs are left
	DRAIN_PHASE_DONE,      // nothing is left: about to be complete
	DRAIN_PHASES
};
extern const char *const drain_phase_names[]; // "none" "migrating" "finishing" "system" "done" NULL

struct drain_left {
	const struct allocation *allocation;
	bool is_flagged; // told to leave
};
struct drain_reason { // of one group of a job
	const char *namespace_name, *job_id, *group;
	enum drain_kind kind;
	uint32_t left, flagged;
	char text[320]; // "2 of 3 instances of web.cache are not healthy yet (max_parallel 1)"
};
struct drain_status {
	enum drain_phase phase;
	const struct drain_strategy *strategy; // NULL: no drain
	int64_t deadline_ns;                   // INT64_MAX: none; 0: at once
	struct array left;                     // drain_left; without ignored allocations
	struct array reasons; // drain_reason; what the drain waits for first comes first
};

void drain_status_read(const struct state *, const struct node *, struct drain_status *);
void drain_status_release(struct drain_status *);
