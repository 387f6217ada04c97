// How watchers count and act.
#pragma once
#include "placement/pipeline/submitter.h"
#include "placement/watch/frame/watchers_stats.h"
#include "state/base/prng.h"
#include "state/records/nodes/node_standing.h"
#include "state/tables/state.h"
#include <pthread.h>

struct peers; // placement/watch/jobs/peers.h

// A watcher's means to act. It sends commands with submitter_run on the watchers' thread, outside of read sections.
struct watch_tools {
	struct state *state;
	struct submitter *submitter;
	const struct time_source *time;
	struct prng *prng;
	int64_t node_ttl_ns;
	struct standing_limits standing;
	int64_t vm_offline_after_ns, vm_interval_ns;
	const struct peers *peers;    // of the region watcher
	struct watchers_stats *stats; // of the frame; changed by watch_count() and watch_gauge()
	pthread_mutex_t *stats_mutex;
	void (*step)(void *context); // as watchers_settings
	void *step_context;
};
void watch_count(const struct watch_tools *, uint64_t *counter, uint64_t more);
void watch_gauge(const struct watch_tools *, uint32_t *gauge, uint32_t value);
// submitter_run; counts refused commands.
int watch_run(const struct watch_tools *, struct command *);
// Sends all commands before it waits, so that one write of the log can serve many; counts refused ones. Commands that
// could not be sent have OUTCOME_STOPPING.
void watch_run_all(const struct watch_tools *, struct command **, uint32_t count);
