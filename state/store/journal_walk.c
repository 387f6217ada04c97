#include "state/base/error.h"
#include "state/store/journal.h"
#include "state/store/journal_format.h"
#include "state/store/journal_private.h"

struct journal_walker {
	struct journal *journal;
	journal_visit *visit;
	void *context;
	const struct complaint *complaint;
	uint64_t expected; // index of the next batch
};

static const char *const remedy =
	"restore the whole store directory from a copy, or move the log away to start from the "
	"newest snapshot without what came after it";

static int walk_value(struct journal_walker *w, uint64_t index, const MDB_val *value)
{
	struct journal_value read;
	const char *wrong = journal_value_read(value->mv_data, value->mv_size, index, &read);
	if (wrong && read.version > JOURNAL_VERSION)
		return journal_complain_version(w->complaint, w->journal->path, read.version);
	if (wrong)
		return complain(w->complaint, -ERROR_CORRUPT,
			"the log %s is damaged in the batch of index %lu: %s; %s", w->journal->path,
			index, wrong, remedy);
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
		return journal_lmdb_error(rc);
	return complain(w->complaint, -ERROR_CORRUPT,
		"the log %s does not begin as a log of this program does; is it another program's "
		"file?",
		w->journal->path);
}

// No batch begins at the expected index: right only if the newest batch ends before it.
static int check_end(struct journal_walker *w, MDB_cursor *cursor)
{
	MDB_val key, value;
	struct journal_value newest;
	int rc = mdb_cursor_get(cursor, &key, &value, MDB_LAST);
	if (rc != 0)
		return journal_lmdb_error(rc);
	if (key_index(&key) == 0)
		return 0;
	const char *wrong =
		journal_value_read(value.mv_data, value.mv_size, key_index(&key), &newest);
	if (!wrong && key_index(&key) + newest.batch.entries == w->expected)
		return 0;
	return complain(w->complaint, -ERROR_CORRUPT,
		"the log %s has no batch of index %lu and does not end there: its newest begins at "
		"%lu and %s; %s",
		w->journal->path, w->expected, key_index(&key), wrong ? wrong : "ends elsewhere",
		remedy);
}

static int walk_batches(struct journal_walker *w, MDB_cursor *cursor)
{
	size_t from = w->expected;
	MDB_val key = {sizeof from, &from}, value;
	int error = check_marker(w, cursor);
	if (error < 0)
		return error;
	int rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
	if (rc == MDB_NOTFOUND)
		return check_end(w, cursor);
	for (; rc == 0; rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
		if (key_index(&key) != w->expected)
			return complain(w->complaint, -ERROR_CORRUPT,
				"the log %s has no batch of index %lu: the next one begins at %lu; "
				"%s",
				w->journal->path, w->expected, key_index(&key), remedy);
		error = walk_value(w, key_index(&key), &value);
		if (error < 0)
			return error;
	}
	return rc == MDB_NOTFOUND ? 0 : journal_lmdb_error(rc);
}

static int walk_in(struct journal_walker *w, MDB_txn *txn)
{
	MDB_cursor *cursor;
	int rc = mdb_cursor_open(txn, w->journal->dbi, &cursor);
	if (rc != 0)
		return journal_lmdb_error(rc);
	int error = walk_batches(w, cursor);
	mdb_cursor_close(cursor);
	return error;
}

int journal_walk(struct journal *j, uint64_t index, journal_visit *visit, void *context,
	const struct complaint *complaint)
{
	struct journal_walker w = {j, visit, context, complaint, index + 1};
	MDB_txn *txn;
	complaint->text[0] = 0;
	int error = journal_lmdb_error(mdb_txn_begin(j->env, NULL, MDB_RDONLY, &txn));
	if (error == 0) {
		error = walk_in(&w, txn);
		mdb_txn_abort(txn);
	}
	if (error == 0)
		j->next_index = w.expected;
	else if (!complaint->text[0])
		complain(
			complaint, error, "cannot read the log %s: %s", j->path, error_text(error));
	return error;
}

uint64_t journal_first_index(struct journal *j)
{
	MDB_txn *txn;
	MDB_cursor *cursor;
	size_t least = 1;
	MDB_val key = {sizeof least, &least}, value;
	uint64_t index = 0;
	if (mdb_txn_begin(j->env, NULL, MDB_RDONLY, &txn) != 0)
		return 0;
	if (mdb_cursor_open(txn, j->dbi, &cursor) == 0) {
		if (mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE) == 0)
			index = key_index(&key);
		mdb_cursor_close(cursor);
	}
	mdb_txn_abort(txn);
	return index;
}
