// What every test and benchmark of a whole controller begins with: state, queue of commands and applier, put together
// in the daemon's order. Its user adds the log, the placer, and what runs beside (tests/support/core/crew.h). Without
// threads the caller gives the applier its steps. What cannot go on ends the program.
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

// State and queue. Limits that are 0 are set to something middling; `producers` have a ring each.
void core_create(struct core *, struct state_limits, uint32_t producers);
// The applier, also in place of an earlier one. State and queue are the core's. By default the log keeps nothing, the
// clock is the real one, and a log that fails ends the program.
void core_appoint(struct core *, struct applier_settings);
// Ends recovery and begins a new term. Returns what applier_open said.
int core_open(struct core *);
// From now on the applier has threads of its own, pinned to a CPU or (negative) anywhere.
void core_start(struct core *, int cpu);
// Ends the threads. What is queued is done, or after drain_ms refused.
void core_stop(struct core *, uint32_t drain_ms);
// Destroys the applier alone, before the placer and the log that it uses.
void core_dismiss(struct core *);
void core_destroy(struct core *);

// Puts a command into the shared ring. When it is done, that counts into *done (NULL: nowhere).
void core_push(struct core *, struct command *, uint32_t *done);
// Until so many are done; gives the applier its steps when it has no threads.
void core_await(struct core *, const uint32_t *done, uint32_t count);
// One command from push to done; returns its outcome.
enum command_outcome core_run(struct core *, struct command *);

// Every item of a snapshot with its size before it; the caller frees.
struct bytes_writer core_image(struct state *);
