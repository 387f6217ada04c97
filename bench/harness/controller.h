// A controller without a network, for benchmarks: state, applier, placement and, with a directory, the store, put
// together as in the daemon; and a fleet of nodes to fill it with.
#pragma once
#include "placement/direct/placement.h"
#include "state/store/store.h"
#include "tests/support/core/crew.h"
#include <stdbool.h>
#include <stdint.h>

struct controller_settings {
	const char *directory; // NULL: nothing is stored
	uint32_t nodes_max, allocations_max;
	bool sync;                       // of the store
	uint32_t jobs_max;               // 0: a few
	uint32_t schedulers;             // that decide at once; 0: only clients place
	int cpu;                         // processor of applier and schedulers, plus one; 0: any
	struct state_observer *observer; // of the state; NULL: none
	const struct time_source *time;  // NULL: the real one
	bool watch;                      // with watchers
	// Watchers have no thread: the caller gives them their turns, and they call this while they wait for the
	// applier.
	void (*watch_step)(void *context);
};

struct controller {
	struct core core;
	struct crew crew;
	struct state *state; // the core's, as are the next two
	struct command_queue *queue;
	struct applier *applier;
	struct placement *placement;
	struct store *store;       // NULL without a directory
	struct pipeline *pipeline; // the crew's; NULL without schedulers
	struct watchers *watchers; // the crew's; NULL without them
	int scheduler_cpus[PIPELINE_THREADS_MAX];
	struct store_recovery recovered;
	double open_seconds; // recovery, derived state and the new term
};

// Recovers what the directory holds and starts the applier. Ends the program with a sentence when that fails.
void controller_open(struct controller *, const struct controller_settings *);
void controller_close(struct controller *);

// Registers nodes [from, from + count) of the fleet; returns when all are durable. The calling thread is the only
// producer. With schedulers the nodes have one driver, raw_exec.
void controller_register(struct controller *, uint32_t from, uint32_t count);
// Registers the direct job that controller_place asks for: one group, a small instance.
void controller_register_job(struct controller *);
// Runs commands and waits for all of them. Ends the program when one is refused.
void controller_run(struct controller *, struct command *, uint32_t count);
// Places instances one request each, with under_way requests at a time, for as long as more() holds, and waits for the
// last. Returns how many were placed; every one is durable. Ends the program when one is refused.
typedef bool controller_more(void *context, uint64_t placed);
uint64_t controller_place(
	struct controller *, uint32_t under_way, controller_more *, void *context);

// Bytes of a node's description as an agent would send it: its texts without any framing.
uint32_t fleet_description_bytes(uint32_t number);
