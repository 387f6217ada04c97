// Looks after what takes its time: deployments that become healthy or do not, nodes that drain, periodic jobs,
// nodes that lost their connection. Each watcher remembers what it needs from the changes of the state that it
// observes, and acts through commands. One thread, no state of its own that a restart would miss. Started by berthd.
#pragma once
#include "placement/pipeline/pipeline.h"
#include "state/applier/command_queue.h"
#include "state/tables/state.h"

struct watchers;
struct peers; // placement/watch/jobs/peers.h

struct watchers_settings {
	struct state *state;
	struct command_queue *queue;
	const struct time_source *time;
	uint64_t seed;                     // 0: from the system
	int64_t node_ttl_ns;               // how often a disconnected node is looked at again
	struct lifecycle_limits lifecycle; // as applier_settings
	int64_t vm_offline_after_ns;       // the same
	int64_t vm_interval_ns; // longest time between two looks at virtual machines; 0: 5 s (row D1)
	// NULL: those of this region. Else the one that looks after rollouts over several regions: it waits for peers,
	// so that it is one by itself. Must outlive the watchers.
	const struct peers *peers;
	// Without threads: as pipeline_settings.
	void (*step)(void *context);
	void *step_context;
};

// Before the applier starts; the state tells it of every change from then on.
struct watchers *watchers_create(const struct watchers_settings *);
// After recovery: looks at everything that is stored, starts the thread.
int watchers_start(struct watchers *);
// As those of the pipeline: watchers_stop, applier_stop, watchers_destroy.
void watchers_stop(struct watchers *);
void watchers_destroy(struct watchers *);
// Without a thread: everything that is due by the clock, on the calling thread. True when something was done.
bool watchers_turn(struct watchers *);

struct watchers_stats {
	uint64_t deployments_failed, deployments_promoted, deployments_reverted;
	uint64_t drains_completed, drains_forced, allocations_flagged;
	uint64_t periodic_launched, periodic_skipped;
	uint64_t regions_told, regions_refused, region_steps;
	uint64_t nodes_swept;
	uint64_t vm_turns, vms_assigned;
	struct pipeline_timing vm_scheduling; // of each assignment: since the machine was created
	uint64_t looks_changed,
		looks_unchanged; // at how the nodes stand: numbers were new, or not (row E30)
	uint32_t sweep_us;       // how long the newest sweep took
	uint64_t commands_refused;
	uint32_t deployments_watched, nodes_draining, periodic_jobs, nodes_disconnected;
	uint32_t rollouts_watched; // over several regions
	uint32_t vm_workers_online, vm_workers_offline;
};
void watchers_stats(struct watchers *, struct watchers_stats *);

// How the nodes stand, as rows E27 and E28 count them: offlined and forgotten ones are in none of these.
struct node_standings {
	uint32_t healthy, free, running, suspended;
};
struct node_standings node_standings_of(const struct state_counts *);
