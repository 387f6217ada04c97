#include "tests/state/store/lmdb/lmdb_maker.h"
#include "state/base/bytes.h"
#include "state/base/crc32c.h"
#include "state/store/lmdb/lmdb_format.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define MAP_BYTES (64ul << 20)

// As state/store/lmdb/lmdb_format.c has it; no program writes it any more.
static void write_header(uint8_t to[static LMDB_HEADER_BYTES], uint64_t transaction,
	const struct journal_batch *batch)
{
	struct bytes_writer w = bytes_writer_over(to, LMDB_HEADER_BYTES);
	bytes_put_u32(&w, LMDB_MAGIC);
	bytes_put_u32(&w, LMDB_VERSION);
	bytes_put_u64(&w, transaction);
	bytes_put_u32(&w, batch->entries);
	bytes_put_u32(&w, batch->size);
	bytes_put_u32(&w, 0);
	uint32_t crc = crc32c(0, &batch->first_index, sizeof batch->first_index);
	crc = crc32c(crc, to, LMDB_HEADER_BYTES - 4);
	bytes_put_u32(&w, crc32c(crc, batch->data, batch->size));
	assert_false(w.failed);
}

static void put_value(struct lmdb_maker *m, MDB_txn *txn, const struct journal_batch *batch)
{
	size_t index = batch->first_index;
	MDB_val key = {sizeof index, &index};
	MDB_val value = {LMDB_HEADER_BYTES + (size_t)batch->size, NULL};
	assert_int_equal(mdb_put(txn, m->dbi, &key, &value, MDB_RESERVE), 0);
	write_header(value.mv_data, mdb_txn_id(txn), batch);
	if (batch->size > 0)
		memcpy((char *)value.mv_data + LMDB_HEADER_BYTES, batch->data, batch->size);
}

static MDB_txn *begin(struct lmdb_maker *m)
{
	MDB_txn *txn;
	assert_int_equal(mdb_txn_begin(m->env, NULL, 0, &txn), 0);
	return txn;
}

void lmdb_maker_open(struct lmdb_maker *m, const char *directory)
{
	char path[300];
	snprintf(path, sizeof path, "%s/log", directory);
	bool is_new = mkdir(path, 0750) == 0;
	assert_int_equal(mdb_env_create(&m->env), 0);
	assert_int_equal(mdb_env_set_mapsize(m->env, MAP_BYTES), 0);
	assert_int_equal(mdb_env_open(m->env, path, MDB_NOLOCK | MDB_NOSYNC, 0640), 0);
	MDB_txn *txn = begin(m);
	assert_int_equal(mdb_dbi_open(txn, NULL, MDB_INTEGERKEY, &m->dbi), 0);
	if (is_new)
		put_value(m, txn, &(struct journal_batch){0});
	assert_int_equal(mdb_txn_commit(txn), 0);
}

void lmdb_maker_close(struct lmdb_maker *m)
{
	mdb_env_close(m->env);
}

void lmdb_maker_append(struct lmdb_maker *m, uint64_t first_index, uint32_t entries,
	const void *batch, uint32_t size)
{
	MDB_txn *txn = begin(m);
	put_value(m, txn, &(struct journal_batch){first_index, entries, size, batch});
	assert_int_equal(mdb_txn_commit(txn), 0);
}

void lmdb_maker_remove(struct lmdb_maker *m, uint64_t first_index)
{
	MDB_txn *txn = begin(m);
	size_t index = first_index;
	MDB_val key = {sizeof index, &index};
	assert_int_equal(mdb_del(txn, m->dbi, &key, NULL), 0);
	put_value(m, txn, &(struct journal_batch){0});
	assert_int_equal(mdb_txn_commit(txn), 0);
}

void lmdb_maker_put(struct lmdb_maker *m, uint64_t key_, const void *bytes, uint32_t size)
{
	MDB_txn *txn = begin(m);
	size_t index = key_;
	MDB_val key = {sizeof index, &index}, value = {size, (void *)(uintptr_t)bytes};
	assert_int_equal(mdb_put(txn, m->dbi, &key, &value, 0), 0);
	if (key_ != 0)
		put_value(m, txn, &(struct journal_batch){0});
	assert_int_equal(mdb_txn_commit(txn), 0);
}
