// The controllers of other regions, as the region watcher asks them. The calls may block for a bounded time.
#pragma once
#include "placement/watch/jobs/regions.h"
#include "state/records/job.h"

struct peers {
	const char *region; // our own
	int64_t poll_ns;    // how often those of a rollout are asked
	// Status of the deployment that the region has of this submission: enum deployment_status, or enum region_seen.
	int (*deployment)(void *context, const char *region, const char *namespace_name,
		const char *job_id, const char *rollout);
	// Registers there what was submitted here (job->multiregion->submission). 0, or a negative error.
	int (*submit)(void *context, const char *region, const struct job *job);
	// Stops it there as it was stopped here (job->multiregion->stop_everywhere_ns, purge_everywhere). Alike; 0
	// also when it is not there.
	int (*stop)(void *context, const char *region, const struct job *job);
	void *context;
};
