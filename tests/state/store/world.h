// A whole controller without network: store, state, applier, and a placer that takes the first node
// that fits. Everything runs on the calling thread (applier_step), on a clock that stands still
// unless told.
#pragma once
#include "state/base/time_source.h"
#include "state/store/store.h"
#include "tests/support/core/core.h"
#include <stdbool.h>

struct world {
	char directory[64];
	struct store_settings settings;
	struct state_limits limits; // middling ones, unless a test changes them
	struct store *store;
	struct core core;
	struct state *state; // the core's, as the next two
	struct command_queue *queue;
	struct applier *applier;
	struct manual_time time;
	struct time_source source;
	struct store_recovery recovery;
	char message[1024]; // why opening was refused
	// The log may fail: it ends the world then, as it ends a daemon. What was not done by then is refused.
	bool may_fail;
	int log_error; // the first
};

// A directory of its own, nothing open yet.
void world_init(struct world *);
void world_remove(struct world *);
// Opens the store and recovers; world_open also begins a new term. On error nothing is left open.
int world_recover(struct world *);
int world_open(struct world *);
void world_close(struct world *);

// Each runs one command to its end and returns its outcome.
enum command_outcome world_run(struct world *, struct command *);
enum command_outcome world_register(struct world *, uint32_t number);
enum command_outcome world_expire(struct world *, uint32_t slot);
enum command_outcome world_job(struct world *, uint32_t cpu);
enum command_outcome world_place(struct world *, uint64_t request, struct command_place *result);
enum command_outcome world_release(struct world *, struct uuid allocation);

// The whole state, byte by byte, as a snapshot would hold it; the caller frees.
struct bytes_writer world_image(struct world *);
