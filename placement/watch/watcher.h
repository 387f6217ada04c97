// One of the watchers, as their frame (watchers.c) drives it.
#pragma once
#include "placement/pipeline/submitter.h"
#include "placement/watch/watchers.h"
#include "state/base/prng.h"
#include <pthread.h>

#define WATCH_NEVER INT64_MAX

// What a watcher acts with. Commands are sent with submitter_run on the watchers' thread, outside of read sections.
struct watch_tools {
	struct state *state;
	struct submitter *submitter;
	const struct time_source *time;
	struct prng *prng;
	int64_t node_ttl_ns;
	struct lifecycle_limits lifecycle;
	int64_t vm_offline_after_ns, vm_interval_ns;
	const struct peers *peers;    // of the region watcher
	struct watchers_stats *stats; // of the frame; changed by watch_count() and watch_gauge()
	pthread_mutex_t *stats_mutex;
	void (*step)(void *context); // as watchers_settings
	void *step_context;
};
void watch_count(const struct watch_tools *, uint64_t *counter, uint64_t more);
void watch_gauge(const struct watch_tools *, uint32_t *gauge, uint32_t value);
// submitter_run; counts what is refused.
int watch_run(const struct watch_tools *, struct command *);
// Sends all of them before it waits, so that one write of the log can serve many; counts what is refused. Those that
// could not be sent have OUTCOME_STOPPING.
void watch_run_all(const struct watch_tools *, struct command **, uint32_t count);

// One table of these in watchers.c. A context is made by create and given to the others.
struct watcher {
	const char *name;
	void *(*create)(const struct watch_tools *);
	void (*destroy)(void *context);
	// After recovery, before anything else: looks at the whole state (in read sections of its own).
	void (*take_over)(void *context);
	// A published change, on the applier's thread: notes what is of interest, under a lock of its own, which no
	// command is waited for with. True: the watcher wants a turn.
	bool (*changed)(void *context, const struct state_change *);
	// Does what is due; unix time. Returns when it wants the next turn (unix ns), or WATCH_NEVER. done: set when
	// something was done.
	int64_t (*turn)(void *context, int64_t now_ns, bool *done);
};
extern const struct watcher deployment_watcher, drain_watcher, periodic_watcher, disconnect_watcher,
	lifecycle_watcher, standing_watcher, region_watcher, vm_watcher;
