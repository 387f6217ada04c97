// Counts what becomes of allocations as the state publishes it, so that a benchmark can wait for it; and notes what
// nodes would have to say of them.
#pragma once
#include "state/tables/state.h"
#include <pthread.h>

struct census_note {
	struct uuid id;
	uint32_t slot; // of its node
	bool stops;    // else it is new
};

struct census {
	struct state_observer observer;
	pthread_mutex_t mutex; // of all that follows
	pthread_cond_t changed;
	// Allocations so far: new ones; those that run no more; those lost with their node; those found healthy.
	uint64_t placed, ended, lost, healthy;
	uint64_t living_most; // that were to run at once, as of the end of a change
	// Living ones on nodes that are marked here, by slot; NULL: none is.
	const bool *dead;
	uint64_t doomed;
	bool notes; // else nothing is noted
	struct census_note *noted;
	uint32_t noted_count, noted_room;
};

void census_init(struct census *, bool notes);
void census_free(struct census *);
uint64_t census_read(struct census *, const uint64_t *counter);
// Until one of its counters is at least so high. Ends the program when that takes minutes.
void census_await(struct census *, const uint64_t *counter, uint64_t target);
// Until nothing is alive on a dead node, and so many are elsewhere.
void census_await_moved(struct census *, uint64_t living);
// Until something changes, for a moment at most.
void census_doze(struct census *);
// Nodes are marked as dead before anybody is told: so many of the living are on them.
void census_mark(struct census *, const bool *dead, uint64_t doomed);
// What was noted since the last time, ordered by node; the caller frees it.
struct census_note *census_take(struct census *, uint32_t *count);
