// A kind of record as one row: what the tables, publication, snapshots and checks have to know of it. A new kind is a
// description of its record, a number in enum state_table (state.h), and its row in kinds.c; find, put, revise, delete,
// burial, snapshots and the checks that hold for every kind come with them (table.h).
//
// Nodes, jobs, allocations and placement requests are kept in cells of their own: their rows have no fields, and say by
// functions what others say by their description.
#pragma once
#include "state/base/schema.h"
#include "state/base/uuid.h"
#include "state/records/record.h"
#include "state/tables/state.h"

enum kind_key {
	KEY_OWN,  // cells of its own
	KEY_UUID, // a struct uuid in the record
	KEY_NAME, // a char * in the record
	KEY_ONE,  // there is one record, always: with its defaults and index 0 at first
};

// The place of one record for as long as anything refers to it. It outlives its record: what is made again under a key
// takes up its place. The first two members are those of every cell, of whatever kind.
struct cell {
	void *published; // RCU
	void *working;   // applier; NULL: something names it, but it was never there
	union {          // by enum kind_key
		struct uuid id;
		char *name;
	};
	struct cds_lfht_node by_key;
	uint64_t index; // at which it was there first: its key in the order of its kind; 0: never
	uint32_t position;
	uint8_t table; // enum state_table
	bool is_in_grave;
	struct rcu_head rcu;
};

// A cell of a kind begins with this: the same as struct cell, with the types of its record and of its key.
#define CELL_OF(type, key)               \
	union {                          \
		struct cell cell;        \
		struct {                 \
			type *published; \
			type *working;   \
			key;             \
		};                       \
	}

struct kind {
	const char *name; // for messages
	enum kind_key key;
	uint32_t key_offset;              // in the record
	uint32_t cell_bytes;              // of what begins with a struct cell
	const struct record_type *fields; // codec, copy, release
	uint32_t limit_offset;            // of the uint32_t in struct state_limits; with limit_max
	uint32_t limit_max;               // 0: there is no limit
	uint32_t position_offset;         // KEY_OWN: sequence_init()
	bool is_hashed;                   // KEY_OWN: there is a hash table for its cells
	bool has_other_hash;              // for what leads to its cells beside the key
	bool is_quiet;                    // nobody is told of its changes

	// What the tables rely on, of any record and of one that a snapshot brings (0 or -ERROR_CORRUPT).
	bool (*is_sound)(const void *record);
	int (*check_loaded)(const struct state *, const void *record);

	// The working state: a cell was made; it is there for the first time; a record comes to take the place of the
	// working one. follow: what is kept beside the working record is brought in line with it, after every change.
	void (*made)(struct cell *);
	void (*entered)(struct state *, struct cell *);
	void (*replaced)(struct cell *, const void *record);
	void (*follow)(struct state *, struct cell *);

	// What readers see. showing: just before; published: another record is seen (before NULL: none was), also one
	// that a snapshot brought; noted: at which index, not of what a snapshot brought;
	// settled: all of a batch are seen.
	void (*showing)(void *record);
	void (*published)(struct state *, void *cell, void *before, void *now);
	void (*noted)(void *cell, uint64_t index);
	void (*settled)(struct state *, void *record);
	// What observers are told of, where that is not the record itself: of one that is there, and a copy of it that
	// is deleted, which is freed after them.
	const struct record *(*seen)(const struct record *);
	struct record *(*seen_gone)(const struct record *);

	// Nobody begins to read the old record any more; and nobody reads it. NULL: its fields say what it owns.
	void (*retired)(struct state *, void *old, const void *now);
	void (*free)(void *record);

	// A deleted record's cell may go (NULL: at once); it is out of the tables; what it owns is freed with the
	// state, or after it was buried. bury: of a kind with cells of its own; false: a reader may need it still.
	bool (*is_idle)(const struct cell *);
	void (*buried)(struct state *, struct cell *);
	void (*released)(struct state *, struct cell *);
	bool (*bury)(struct state *, void *item);
	void (*destroy)(struct state *);
	uint32_t (*count)(
		const struct state *); // of items in its hash table; NULL: as in its order
};

extern const struct kind *const state_kinds[STATE_TABLES];
