// A kind of record is one row: everything that tables, publication, snapshots and checks must know of it. To add one,
// describe its record, give it a number in enum state_table (records/state_table.h) and write its row in kinds.c. The
// functions of table.h then find, put, revise, delete, bury, store and check its records.
//
// Nodes, jobs, job versions, allocations, reports and placement requests have cells of their own. Their rows have no
// fields: functions do what the description of the record does for other kinds.
#pragma once
#include "state/base/schema.h"
#include "state/base/uuid.h"
#include "state/records/record.h"
#include "state/tables/state.h"

enum kind_key {
	KEY_OWN,  // cells of its own
	KEY_UUID, // a struct uuid in the record
	KEY_NAME, // a char * in the record
	KEY_ONE,  // none: there is exactly one record, which begins with its defaults and index 0
};

// The place of one record. It stays as long as anything refers to it, so it may outlive the record; a new record of the
// same key takes the same place. Cells of every kind begin with these two members.
struct cell {
	void *published; // RCU
	void *working;   // applier; NULL: something names the record, but it never existed
	union {          // by enum kind_key
		struct uuid id;
		char *name;
	};
	struct cds_lfht_node by_key;
	uint64_t
		index; // of its first record, by which the kind's records are in order; 0: it had none
	uint32_t position;
	uint8_t table; // enum state_table
	bool is_in_grave;
	struct rcu_head rcu;
};

// The beginning of a kind's cell: struct cell, with the types of its record and of its key.
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
	uint32_t key_offset;              // of the key, in the record; KEY_OWN: see has_ids
	uint32_t cell_bytes;              // size of its cell, which begins with a struct cell
	const struct record_type *fields; // codec, copy, release; NULL with KEY_OWN
	uint32_t limit_offset;            // of its limit (uint32_t) in struct state_limits
	uint32_t limit_max;       // the largest limit that is allowed; 0: the kind has no limit
	uint32_t position_offset; // KEY_OWN: for sequence_init()
	bool is_hashed;           // KEY_OWN: a hash table finds its cells
	bool has_other_hash;      // a second hash table finds its cells by something else
	bool has_ids;  // key_offset is that of a struct uuid: id_order.h can keep their order
	bool is_quiet; // observers are not told of its changes

	// All functions may be NULL unless said otherwise.

	// Whether readers see something else, though both show the same record to observers.
	bool (*shown_anew)(const struct record *before, const struct record *after);

	// Whether a thing in its hash table has the key of another one, which is given as a struct cds_lfht_node. With
	// this function a snapshot's things are added together.
	int (*is_same)(struct cds_lfht_node *, const void *other);

	// Whether the tables can rely on a record; required for a kind with fields.
	bool (*is_sound)(const void *record);
	// More checks of a record that a snapshot brings. Returns 0 or -ERROR_CORRUPT.
	int (*check_loaded)(const struct state *, const void *record);

	// The working state.
	void (*made)(struct cell *);                    // after a cell was made
	void (*entered)(struct state *, struct cell *); // after its first record came
	void (*replaced)(
		struct cell *, const void *record); // before a record replaces the working one
	void (*follow)(
		struct state *, struct cell *); // after every change: updates counts and lists

	// Publication.
	void (*showing)(void *record); // before readers see the record
	// After readers see it, also for a record of a snapshot. before: NULL when there was none.
	void (*published)(struct state *, void *cell, void *before, void *now);
	void (*noted)(void *cell, uint64_t index); // the same, but not for a snapshot's
	// After readers see the whole batch, when state.is_unsettled was set meanwhile.
	void (*settled)(struct state *, void *record);
	// The record that observers get, if it is another one; and, for a deleted one, a copy that says so. The copy is
	// freed after the observers.
	const struct record *(*seen)(const struct record *);
	struct record *(*seen_gone)(const struct record *);

	// Goes on with the sum of what a record says that is there; NULL: of its fields (publication_check.h). It is
	// the same wherever the same log was applied: without slots, addresses, and what a start changes.
	uint64_t (*sum)(const struct record *, uint64_t sum);

	// The end of a record. retired: gives references back as soon as another version replaced it.
	// free: frees it when no reader has it any more; NULL: by its fields.
	void (*retired)(struct state *, void *old, const void *now);
	void (*free)(void *record);

	// The end of a cell whose record is deleted.
	bool (*is_idle)(const struct cell *);            // whether it may go; NULL: at once
	void (*buried)(struct state *, struct cell *);   // after it left the tables
	void (*released)(struct state *, struct cell *); // frees what it owns
	bool (*bury)(struct state *, void *item); // KEY_OWN; false: a reader may still need it
	void (*destroy)(struct state *);          // KEY_OWN: frees all, with the state
	uint32_t (*count)(
		const struct state *); // items in its hash table; NULL: as many as are in order
};

extern const struct kind *const state_kinds[STATE_TABLES];
