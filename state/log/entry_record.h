// Entries that put a whole record or delete one: bodies of entries as entry.h tells.
// The bytes are documented at the top of entry.c.
#pragma once
#include "state/log/coder.h"
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
coder_function entry_record_put_code;
void entry_record_put_release(void *body);
