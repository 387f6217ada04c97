// Shared by the files of the log.
#pragma once
#include "state/store/journal.h"
#include <lmdb.h>
#include <string.h>

struct journal {
	MDB_env *env;
	MDB_dbi dbi;
	char *path; // of LMDB's directory
	int64_t map_bytes;
	uint32_t page_bytes;
	bool read_only;
	uint64_t next_index; // first index of the next append; 0 until known
	int failed;          // error after which nothing is written
	uint64_t cut_done;   // cut_index up to which removal is complete
	_Atomic uint64_t cut_index, live_bytes, appended_bytes;
	_Atomic uint64_t used_bytes, reserved_bytes; // in use; with disk space
};

// Translates LMDB's code into 0 or a negative error.
int journal_lmdb_error(int rc);

static inline uint64_t key_index(const MDB_val *key)
{
	size_t index;
	memcpy(&index, key->mv_data, sizeof index);
	return index;
}
