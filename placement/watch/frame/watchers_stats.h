// The counts of all watchers, in one struct.
#pragma once
#include "placement/pipeline/timing.h"
#include <stdint.h>

struct watchers_stats {
	uint64_t deployments_failed, deployments_promoted, deployments_reverted;
	uint64_t drains_completed, drains_forced, allocations_flagged;
	uint64_t periodic_launched, periodic_skipped;
	uint64_t regions_told, regions_refused, region_steps;
	uint64_t nodes_swept;
	uint64_t vm_turns, vms_assigned;
	struct pipeline_timing vm_scheduling; // per assignment: time since the machine's creation
	uint64_t looks_changed,
		looks_unchanged; // at how the nodes stand: a node came or went, or none (row E30)
	uint32_t sweep_us;       // duration of the newest sweep
	uint64_t commands_refused;
	uint32_t deployments_watched, nodes_draining, periodic_jobs, nodes_disconnected;
	uint32_t rollouts_watched; // over several regions
	uint32_t vm_workers_online, vm_workers_offline;
};
