#include "state/store/lmdb/lmdb_log.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "state/store/lmdb/lmdb_check.h"
#include "state/store/lmdb/lmdb_format.h"
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

struct lmdb_log {
	MDB_env *env;
	MDB_dbi dbi;
	uint64_t first_index, bytes;
};

// LMDB's own codes are negative: the file is not any more what lmdb_check saw.
static int lmdb_error(int rc)
{
	return rc < 0 ? -ERROR_CORRUPT : -rc;
}

static uint64_t key_index(const MDB_val *key)
{
	size_t index;
	memcpy(&index, key->mv_data, sizeof index);
	return index;
}

static int find_first(struct lmdb_log *log, MDB_cursor *cursor)
{
	size_t least = 1;
	MDB_val key = {sizeof least, &least}, value;
	int rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
	if (rc == 0)
		log->first_index = key_index(&key);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

static int attach_env(struct lmdb_log *log, const char *file)
{
	MDB_txn *txn = NULL;
	MDB_cursor *cursor;
	int rc = CAN_REFUSE(LMDB_OPEN, mdb_env_create(&log->env));
	if (rc == 0)
		rc = mdb_env_open(log->env, file, MDB_NOLOCK | MDB_NOSUBDIR | MDB_RDONLY, 0640);
	if (rc == 0)
		rc = mdb_txn_begin(log->env, NULL, MDB_RDONLY, &txn);
	if (rc == 0)
		rc = mdb_dbi_open(txn, NULL, 0, &log->dbi);
	if (rc == 0)
		rc = mdb_cursor_open(txn, log->dbi, &cursor);
	if (rc == 0) {
		rc = find_first(log, cursor);
		mdb_cursor_close(cursor);
	}
	if (rc == 0)
		rc = mdb_txn_commit(txn); // keeps the handle
	else if (txn)
		mdb_txn_abort(txn);
	return lmdb_error(rc);
}

int lmdb_log_open(const char *file, struct lmdb_log **out, const struct complaint *complaint)
{
	uint64_t bytes;
	*out = NULL;
	int error = lmdb_check(file, &bytes, complaint);
	if (error < 0)
		return error;
	struct lmdb_log *log = memory_take(sizeof *log);
	error = attach_env(log, file);
	if (error < 0) {
		lmdb_log_close(log);
		return complain(
			complaint, error, "cannot open the log %s: %s", file, error_text(error));
	}
	log->bytes = bytes;
	*out = log;
	return 0;
}

void lmdb_log_close(struct lmdb_log *log)
{
	if (!log)
		return;
	if (log->env)
		mdb_env_close(log->env);
	free(log);
}

uint64_t lmdb_log_first_index(const struct lmdb_log *log)
{
	return log->first_index;
}

uint64_t lmdb_log_bytes(const struct lmdb_log *log)
{
	return log->bytes;
}

static int walk_value(struct journal_walker *w, uint64_t index, const MDB_val *value)
{
	struct lmdb_value read;
	const char *wrong = lmdb_value_read(value->mv_data, value->mv_size, index, &read);
	if (wrong && read.version > LMDB_VERSION)
		return lmdb_complain_version(w->complaint, w->path, read.version);
	if (wrong)
		return journal_complain_damaged(w, index, wrong);
	if (index == 0)
		return 0;
	w->expected = index + read.batch.entries;
	return w->visit(w->context, &read.batch);
}

static int check_marker(struct journal_walker *w, MDB_cursor *cursor)
{
	MDB_val key, value;
	int rc = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
	if (rc == 0 && key_index(&key) == 0)
		return walk_value(w, 0, &value);
	if (rc != 0 && rc != MDB_NOTFOUND)
		return lmdb_error(rc);
	return complain(w->complaint, -ERROR_CORRUPT,
		"the log %s does not begin as a log of this program does; is it another program's "
		"file?",
		w->path);
}

// No batch begins at the expected index: right only if the newest batch ends before it.
static int check_end(const struct lmdb_log *log, struct journal_walker *w, const MDB_val *key,
	const MDB_val *value)
{
	struct lmdb_value newest;
	if (log->first_index == 0)
		return 0;
	const char *wrong =
		lmdb_value_read(value->mv_data, value->mv_size, key_index(key), &newest);
	if (!wrong && key_index(key) + newest.batch.entries == w->expected)
		return 0;
	return complain(w->complaint, -ERROR_CORRUPT,
		"the log %s has no batch of index %lu and does not end there: its newest begins at "
		"%lu and %s; %s",
		w->path, w->expected, key_index(key), wrong ? wrong : "ends elsewhere",
		JOURNAL_REMEDY);
}

static int walk_batches(const struct lmdb_log *log, struct journal_walker *w, MDB_cursor *cursor)
{
	size_t from = w->expected;
	MDB_val key = {sizeof from, &from}, value;
	int error = check_marker(w, cursor);
	if (error < 0)
		return error;
	int rc = CAN_REFUSE(LMDB_READ, mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE));
	if (rc == MDB_NOTFOUND && (rc = mdb_cursor_get(cursor, &key, &value, MDB_LAST)) == 0)
		return check_end(log, w, &key, &value);
	for (; rc == 0; rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
		if (key_index(&key) != w->expected)
			return journal_complain_gap(w, key_index(&key));
		error = walk_value(w, key_index(&key), &value);
		if (error < 0)
			return error;
	}
	return rc == MDB_NOTFOUND ? 0 : lmdb_error(rc);
}

int lmdb_log_walk(const struct lmdb_log *log, struct journal_walker *w)
{
	MDB_txn *txn;
	MDB_cursor *cursor;
	int rc = CAN_REFUSE(LMDB_BEGIN, mdb_txn_begin(log->env, NULL, MDB_RDONLY, &txn));
	if (rc != 0)
		return lmdb_error(rc);
	rc = mdb_cursor_open(txn, log->dbi, &cursor);
	int error = lmdb_error(rc);
	if (rc == 0) {
		error = walk_batches(log, w, cursor);
		mdb_cursor_close(cursor);
	}
	mdb_txn_abort(txn);
	return error;
}
