// The controllers of other regions, for the region watcher. Calls may block for a bounded time.
#pragma once
#include "placement/watch/jobs/regions.h"
#include "state/records/job.h"

struct peers {
	const char *region; // our own
	int64_t poll_ns;    // how often a rollout's regions are asked
	// Status of the region's deployment of this submission: enum deployment_status, or enum region_seen.
	int (*deployment)(void *context, const char *region, const char *namespace_name,
		const char *job_id, const char *rollout);
	// Registers the job submitted here in the other region (job->multiregion->submission). 0, or a negative error.
	int (*submit)(void *context, const char *region, const struct job *job);
	// Stops the job there as it was stopped here (job->multiregion->stop_everywhere_ns, purge_everywhere). 0,
	// also when the region does not have it, or a negative error.
	int (*stop)(void *context, const char *region, const struct job *job);
	void *context;
};
