// Where the drain of a node stands, for people: its phase, what is left, and what each of that waits for. Pure: between
// state_read_begin and state_read_end, in which its result must be released too.
#pragma once
#include "placement/watch/drains/drain_survey.h"

enum drain_phase {
	DRAIN_PHASE_NONE,      // the node does not drain
	DRAIN_PHASE_MIGRATING, // instances of services move away
	DRAIN_PHASE_FINISHING, // nothing is left but what is waited for until it ends by itself
	DRAIN_PHASE_SYSTEM,    // nothing is left but system jobs
	DRAIN_PHASE_DONE,      // nothing is left: about to be complete
	DRAIN_PHASES
};
extern const char *const drain_phase_names[]; // "none" "migrating" "finishing" "system" "done" NULL

struct drain_left {
	const struct allocation *allocation;
	bool is_flagged; // told to leave
};
struct drain_reason { // of a job's group
	const char *namespace_name, *job_id, *group;
	enum drain_kind kind;
	uint32_t left, flagged;
	char text[320]; // "2 of 3 instances of web.cache are not healthy yet (max_parallel 1)"
};
struct drain_status {
	enum drain_phase phase;
	const struct drain_strategy *strategy; // NULL: none
	int64_t deadline_ns;                   // INT64_MAX: none; 0: at once
	struct array left;                     // drain_left; what is ignored is not
	struct array reasons; // drain_reason; those that are waited for first, first
};

void drain_status_read(const struct state *, const struct node *, struct drain_status *);
void drain_status_release(struct drain_status *);
