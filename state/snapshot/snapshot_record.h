// The item of a record of any kind that has fields (kind.h):
//	u64 index of its cell (of the one record of its kind: 0), u64 create index, u64 modify index, the record as its
//	fields say
#pragma once
#include "state/base/bytes.h"
#include "state/tables/tables.h"

// Encodes the version that was newest at index; false: there was none. The one record of a KEY_ONE kind is not there
// while it has its defaults.
bool record_item_encode(
	const struct kind *, const struct cell *, uint64_t index, struct bytes_writer *);
// Returns 0, -ERROR_CORRUPT, -ERROR_VERSION or -ERROR_TABLE_FULL.
int record_item_load(struct state *, enum state_table, struct bytes_reader *);
