// The applier's own state. For applier*.c only.
#pragma once
#include "state/applier/applier.h"
#include "state/decide/decide.h"
#include <pthread.h>

#define TAKE_MAX 32u // commands that are taken from the queue at once

struct applier {
	struct applier_settings settings;
	struct state *state;
	struct decider decider;
	struct journal_thread *journal;
	struct widener *widener; // while the threads run
	struct batch batches[2];
	struct batch *open;   // the decider fills it
	struct batch *flying; // it is being made durable; or NULL
	bool is_alone;        // the newest flying batch was
	bool has_answered;    // since the applier looked for commands last
	// Taken from the queue, not decided yet.
	struct command *taken[TAKE_MAX];
	uint32_t taken_at, taken_count;
	struct command *held; // taken; decided once the tables have buckets for its placements
	uint32_t since_plan;  // other commands since the last call of next_plan
	bool has_failed;      // the log failed: nothing is acknowledged any more
	pthread_t thread;
	bool is_running;
	_Atomic uint64_t turn_began_ns; // 0: it waits for something to do, or for the log
	_Atomic bool is_stopping;
	_Atomic uint64_t stop_deadline_ns;
	struct applier_counters counters;
};

// Around what the applier's thread does without a wait.
void applier_turn_begins(struct applier *);
void applier_turn_ends(struct applier *);
void applier_batch_begin(struct applier *, struct batch *);
bool applier_batch_has_work(const struct batch *);
// Closes the open batch, which is the flying one then, and begins the other.
void applier_batch_launch(struct applier *);
// Publishes a batch that is durable, and answers its commands.
void applier_batch_settle(struct applier *, struct batch *);
void applier_batch_refuse(struct applier *, struct batch *); // NULL is allowed
// Makes the flying batch durable, if nobody is at it yet: by this thread, or by the journal's. Not in a read section.
void applier_flight_send(struct applier *);
// Takes back the batch that is written. Returns whether there was one.
bool applier_flight_collect(struct applier *);
// Lets the placer follow changes of at most so many nodes. Returns whether some are left.
bool applier_placer_catches_up(struct applier *, uint32_t nodes);
// Whether a command is refused at once, since the log is away and its sender can come again: sets its outcome.
bool applier_sends_away(const struct applier *, struct command *);
