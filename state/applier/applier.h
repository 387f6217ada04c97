// The single writer. Takes commands, decides them into entries, applies the entries to the working
// state, has the batch journalled, publishes it, and only then calls each command's done.
//
//	command → decide → entry → apply (working) → journal → publish → done
//
// Batches overlap: while the journal writes one, the next is decided, and a log that takes several at a time is given
// several; they are settled in their order. A command that is alone is journalled by the applier's own thread. Replay
// after a restart runs the same apply functions over stored entries.
#pragma once
#include "state/applier/command_log.h"
#include "state/applier/command_queue.h"
#include "state/base/prng.h"
#include "state/base/time_source.h"
#include "state/decide/applier_counters.h"
#include "state/decide/rejections.h"
#include "state/tables/placer.h"
#include "state/tables/state.h"

struct applier;
struct replay_batch;

struct applier_settings {
	struct state *state;
	struct command_queue *queue;
	struct command_log log;
	struct placer placer;
	const struct time_source *time;
	uint64_t seed;            // for allocation ids; 0: from the system
	int64_t collect_after_ms; // terminal allocations are kept this long
	int64_t beat_ns; // between two heartbeats of a node (job_reevaluations.h); 0: not known
	struct standing_limits standing;      // zeros: the defaults of node_standing.h
	bool admits_known;                    // only nodes that a rule names may register
	int64_t vm_offline_after_ns;          // row D23; 0: VM_OFFLINE_AFTER_NS
	uint32_t plan_changes_max;            // of one plan in one turn; 0: PLAN_CHANGES_MAX
	struct rejection_settings rejections; // of plans, by nodes; zeros: not counted
	// Returns the next plan (COMMAND_PLAN) to decide, or NULL; called whenever no other command waits. Whoever
	// adds a plan kicks the queue. May be NULL.
	struct command *(*next_plan)(void *context);
	void *plan_context;
	// Called on the thread that appended when the log has failed for good: report it and stop the process.
	void (*log_failed)(void *context, int error);
	void *context;
};

struct applier *applier_create(const struct applier_settings *);
// Recovery, before start: applies one stored batch. Returns what replay_batch_apply does.
int applier_replay(struct applier *, uint64_t first_index, struct replay_batch *);
// Ends recovery: rebuilds derived data, starts a new term (its entry is journalled before the return), tells the
// placer of every node. Returns 0 or a negative error; the log_failed of the settings was called before, if the log has
// failed for good.
int applier_open(struct applier *);
// Starts the applier and journal threads. cpu < 0: not pinned.
int applier_start(struct applier *, int cpu);
// Finishes what is queued (refusing with STOPPING after drain_ms), stops both threads.
void applier_stop(struct applier *, uint32_t drain_ms);
void applier_destroy(struct applier *);
// For tests and simulation, instead of start: takes the queued commands, journals, publishes and completes them on
// the calling thread. Returns the number of commands handled.
uint32_t applier_step(struct applier *);

const struct applier_counters *applier_counters(const struct applier *);

// For how long what the threads are at has been going on; 0: they wait.
struct applier_work {
	uint64_t turn_ns;   // deciding and publishing
	uint64_t append_ns; // making a batch durable
};
// Any thread.
struct applier_work applier_work(const struct applier *);
