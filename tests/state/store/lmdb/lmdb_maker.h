// Makes logs as the first version of the program wrote them, for the tests of what reads them.
#pragma once
#include <lmdb.h>
#include <stdint.h>

struct lmdb_maker {
	MDB_env *env;
	MDB_dbi dbi;
};

// Creates DIRECTORY/log/data.mdb, or opens the one that is there.
void lmdb_maker_open(struct lmdb_maker *, const char *directory);
void lmdb_maker_close(struct lmdb_maker *);
// One transaction each, as then: a batch, also key 0 anew beside a removal or a value of the test's own.
void lmdb_maker_append(struct lmdb_maker *, uint64_t first_index, uint32_t entries,
	const void *batch, uint32_t size);
void lmdb_maker_remove(struct lmdb_maker *, uint64_t first_index);
void lmdb_maker_put(struct lmdb_maker *, uint64_t key, const void *value, uint32_t size);
