// The applier's own state. For applier*.c only.
#pragma once
#include "state/applier/applier.h"
#include "state/decide/decide.h"
#include <pthread.h>

#define TAKE_MAX 32u // commands that are taken from the queue at once
#define FLIGHTS_MAX 4u

struct applier {
	struct applier_settings settings;
	struct state *state;
	struct decider decider;
	struct journal_thread *journals[FLIGHTS_MAX]; // of each flight the one at its place
	uint32_t journal_count;
	struct widener *widener; // while the threads run
	struct batch batches[FLIGHTS_MAX + 1];
	struct batch *open;                 // the decider fills it
	struct batch *flights[FLIGHTS_MAX]; // they are being made durable; a ring
	uint32_t first_flight, flight_count;
	bool is_alone;        // the newest flight was
	uint64_t open_due_ns; // monotonic: the open batch waits so long for more; 0: for nothing
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
bool applier_batch_is_closed(const struct batch *);
// The batches and the journals of all that may be on its way.
void applier_flights_create(struct applier *);
void applier_flights_destroy(struct applier *);
int applier_flights_start(struct applier *); // the journals' threads
void applier_flights_stop(struct applier *);
void applier_flights_deadline(struct applier *, uint64_t monotonic_ns);
bool applier_flights_have_no_room(const struct applier *);
// Work was added to the open batch, which had none before or had some: that of a command, or (NULL) other.
void applier_batch_note(struct applier *, const struct command *, bool had_none);
// Whether the open batch need not wait for those on their way, or for more.
bool applier_batch_may_launch(const struct applier *);
// The time until it may, if that is known and shorter than most_us.
uint32_t applier_batch_nap_us(const struct applier *, uint32_t most_us);
// Closes the open batch, which is the newest flight then, and begins another.
void applier_batch_launch(struct applier *);
// Publishes a batch that is durable, and answers its commands.
void applier_batch_settle(struct applier *, struct batch *);
void applier_batch_refuse(struct applier *, struct batch *);
// The oldest flight, on the calling thread, without the journals: for who steps. Settles it. Returns append's result.
int applier_flight_append(struct applier *);
// Makes the newest flight durable, if nobody is at it yet: by this thread, or by a journal's. Not in a read section.
void applier_flight_send(struct applier *);
// Settles the oldest flights as far as they are written. Returns whether there was one.
bool applier_flight_collect(struct applier *);
void applier_flights_refuse(struct applier *);
// Waits for the oldest one.
void applier_flight_wait(struct applier *);
// When the oldest append that is going on began, monotonic; 0: none is. Any thread.
uint64_t applier_append_began_ns(const struct applier *);
// Lets the placer follow changes of at most so many nodes. Returns whether some are left.
bool applier_placer_catches_up(struct applier *, uint32_t nodes);
// Whether a command is refused at once, since the log is away and its sender can come again: sets its outcome.
bool applier_sends_away(const struct applier *, struct command *);
