// The next step of a region in a rollout over several of them (rows C37–C41, docs/spec/watchers.md). Pure: every
// region reads the status of all and decides about itself alone, so that no region is asked to act, and no region is
// waited for without need. What a region sees may be old: it then sees too little progress, and waits.
#pragma once
#include "state/records/deployment.h"

// What is known of one region: the status of its deployment of this rollout, or
enum region_seen {
	REGION_UNKNOWN = DEPLOYMENT_STATUSES, // it could not be asked
	REGION_ABSENT,                        // it does not have the job yet
};

enum region_step { REGION_WAIT, REGION_RUN, REGION_UNBLOCK, REGION_FAIL };

struct rollout {
	const int *
		seen; // enum deployment_status or enum region_seen, in the order of the job's regions
	uint32_t count;
	int64_t max_parallel;   // regions that are at work at once; 0: all
	const char *on_failure; // NULL or "", "fail_all", "fail_local"
};

enum region_step region_next_step(const struct rollout *, uint32_t self);
