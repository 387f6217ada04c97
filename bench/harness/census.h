// Counts what becomes of allocations as the state publishes it, so that a benchmark can wait for it, and notes what
// nodes should report of them.
#pragma once
#include "state/tables/state.h"
#include <pthread.h>

struct census_note {
	struct uuid id;
	uint32_t slot; // slot of the allocation's node
	bool stops;    // the allocation stops; else it is new
};

struct census {
	struct state_observer observer;
	pthread_mutex_t mutex; // guards everything below
	pthread_cond_t changed;
	// Allocations so far: new ones; ended ones; those lost with their node; those found healthy.
	uint64_t placed, ended, lost, healthy;
	uint64_t living_most; // most that were to run at once, at the end of a change
	// Living allocations on the nodes that dead marks, by slot; NULL: no node is dead.
	const bool *dead;
	uint64_t doomed;
	bool notes; // whether anything is noted
	struct census_note *noted;
	uint32_t noted_count, noted_room;
};

void census_init(struct census *, bool notes);
void census_free(struct census *);
uint64_t census_read(struct census *, const uint64_t *counter);
// Waits until one of its counters reaches target. Ends the program when that takes minutes.
void census_await(struct census *, const uint64_t *counter, uint64_t target);
// Waits until no allocation lives on a dead node, and `living` allocations live elsewhere.
void census_await_moved(struct census *, uint64_t living);
// Waits until something changes, for a moment at most.
void census_doze(struct census *);
// Marks nodes as dead, with `doomed` living allocations on them, before anybody is told.
void census_mark(struct census *, const bool *dead, uint64_t doomed);
// Takes the notes since the last call, ordered by node; the caller frees them.
struct census_note *census_take(struct census *, uint32_t *count);
