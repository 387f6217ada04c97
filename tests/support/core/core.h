// The base of every test and benchmark of a whole controller: state, command queue and applier, put together in the
// daemon's order. Its user adds the log, the placer, and the schedulers and watchers (tests/support/core/crew.h).
// Without threads the caller steps the applier. A failure ends the program.
#pragma once
#include "state/applier/applier.h"
#include <stdbool.h>
#include <stdint.h>

struct core {
	struct state *state;
	struct command_queue *queue;
	struct applier *applier;
	const struct time_source *time;
	bool is_running; // the applier has threads of its own
};

// Creates state and queue. Limits of 0 get middling values; each of `producers` has its own ring.
void core_create(struct core *, struct state_limits, uint32_t producers);
// Creates the applier, also in place of an earlier one. State and queue are the core's. By default the log keeps
// nothing, the clock is the real one, and a log that fails ends the program.
void core_appoint(struct core *, struct applier_settings);
// Ends recovery and begins a new term. Returns the result of applier_open.
int core_open(struct core *);
// Starts the applier's own threads, pinned to a CPU or (negative) anywhere.
void core_start(struct core *, int cpu);
// Ends the threads. Queued commands are done, or refused after drain_ms.
void core_stop(struct core *, uint32_t drain_ms);
// Destroys only the applier, before the placer and the log that it uses.
void core_dismiss(struct core *);
void core_destroy(struct core *);

// Pushes a command to the shared ring. When it is done it adds to *done (NULL: nowhere).
void core_push(struct core *, struct command *, uint32_t *done);
// Waits until so many commands are done; steps an applier without threads.
void core_await(struct core *, const uint32_t *done, uint32_t count);
// Runs one command from push to done; returns its outcome.
enum command_outcome core_run(struct core *, struct command *);
// Collects garbage of any age at once, as PUT /v1/system/gc does.
enum command_outcome core_collect(struct core *);
// The node registers, and its first heartbeat comes: it is ready.
enum command_outcome core_join(struct core *, struct node_registration *);

// Every item of a snapshot, each after its size; the caller frees.
struct bytes_writer core_image(struct state *);
