// Slow processes: deployments that become healthy or do not, draining nodes, periodic jobs, disconnected nodes. Each
// watcher remembers what it needs from observed changes of the state, and acts through commands. One thread; it holds
// no state that a restart would lose. berthd starts it.
#pragma once
#include "placement/watch/frame/watchers_stats.h"
#include "state/applier/command_queue.h"
#include "state/base/time_source.h"
#include "state/records/nodes/node_standing.h"
#include "state/tables/state.h"

struct watchers;
struct peers; // placement/watch/jobs/peers.h

struct watchers_settings {
	struct state *state;
	struct command_queue *queue;
	const struct time_source *time;
	uint64_t seed;                   // 0: from the system
	int64_t node_ttl_ns;             // how often a disconnected node is asked about
	struct standing_limits standing; // as applier_settings
	int64_t vm_offline_after_ns;     // likewise
	int64_t vm_interval_ns; // longest time between two looks at virtual machines; 0: 5 s (row D1)
	// NULL: the watchers of this region. Else only the watcher of rollouts over several regions, on a thread of its
	// own because it waits for peers, which must outlive the watchers.
	const struct peers *peers;
	// Without threads: as pipeline_settings.
	void (*step)(void *context);
	void *step_context;
};

// Before the applier starts; the state tells it of every change from then on.
struct watchers *watchers_create(const struct watchers_settings *);
// Call after recovery: reads the whole state, starts the thread.
int watchers_start(struct watchers *);
// In the pipeline's order: watchers_stop, applier_stop, watchers_destroy.
void watchers_stop(struct watchers *);
void watchers_destroy(struct watchers *);
// Without a thread: everything that is due by the clock, on the calling thread. True when something was done.
bool watchers_turn(struct watchers *);

void watchers_stats(struct watchers *, struct watchers_stats *);
