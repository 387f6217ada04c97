// Entries that put a whole record or delete one: bodies of entries as entry.h tells.
// The bytes are documented at the top of entry.c.
#pragma once
#include "state/base/schema.h"
#include "state/records/state_table.h"

struct entry_record_put {
	uint8_t kind;      // enum state_table
	bool settles_mark; // of an evaluation: it answers the mark of its job
	void *record;      // taken over by apply, freed by entry_release otherwise
};

struct entry_record_delete {
	uint8_t kind;     // enum state_table
	struct uuid id;   // of a kind that is known by ids
	struct text name; // of a kind that is known by names
};

extern const struct record_type entry_record_delete_description;
void entry_record_put_encode(const void *body, struct bytes_writer *);
int entry_record_put_decode(void *body, struct bytes_reader *);
void entry_record_put_release(void *body);
