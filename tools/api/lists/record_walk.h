// Walks records in the order of a list, either way and from any place on: those of a table in order of creation or of
// their ids, or chosen ones. Holds a few ids at a time, whatever the length of the list.
#pragma once
#include "state/base/uuid.h"
#include "state/tables/state.h"

// Where a walk goes on: at the record of this key or id, or the next one.
struct record_place {
	uint64_t key;   // in order of creation
	struct uuid id; // in order of ids
	bool is_end;
};

#define WALK_WINDOW 64u

struct record_walk {
	struct state *state;
	enum state_table table;
	bool by_id, reverse;
	void (*prefetch_id)(const struct state *, const struct uuid *); // NULL: nothing is gained
	struct uuid first, last; // by id: the bounds, both included
	// Chosen records: sorted keys or, by id, sorted ids. NULL: the whole table. Owned.
	uint64_t *keys;
	struct uuid *ids;
	uint32_t count;
	bool is_chosen;
	// By id: the next ids of the table.
	struct uuid window[WALK_WINDOW];
	uint32_t window_count, window_next;
	struct uuid window_at; // the place of what is left of them
};

void record_walk_free(struct record_walk *);
// Where the walk begins.
struct record_place record_walk_start(const struct record_walk *);
// Call it outside of a read section, before each section that steps. False at the end.
bool record_walk_prepare(struct record_walk *, struct record_place *);
// Under read lock: fetches what the next steps will read.
void record_walk_prefetch(const struct record_walk *, uint32_t steps);
// Under read lock: moves past the next record; *at is its place. False when there is none left, or none without another
// record_walk_prepare(); the record is NULL when it is gone.
bool record_walk_step(
	struct record_walk *, struct record_place *, const void **record, struct record_place *at);

// The least and the greatest id that begins with the digits (of a text of an id); false: none can.
bool uuid_bounds(const char *digits, uint32_t size, struct uuid *first, struct uuid *last);
