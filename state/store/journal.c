// The log of batches: one LMDB environment, its main database with integer keys (journal_format.c).
//
// Every transaction writes one batch, or key 0 anew. So the newest of them names the transaction,
// which is how a meta page that went back in time is found (journal_check.c): LMDB has no checksum
// for it.
//
// A batch is acknowledged after mdb_txn_commit with LMDB's default sync: data, then meta page, each
// forced to disk. Space is reserved before (fallocate), because LMDB cannot tell a full disk from a
// broken one.
#include "state/store/journal.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/store/files.h"
#include "state/store/journal_check.h"
#include "state/store/journal_format.h"
#include "state/store/journal_private.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

// Appends also remove old batches, so that removal costs no sync of its own and no pause.
#define CUT_PER_APPEND 64
// Bytes of tree and free-list pages that one transaction may write beside its batch.
#define TREE_BYTES (1024 * 1024)
// How far the file is extended ahead of need, when there is that much.
#define GROW_BYTES (16ll * 1024 * 1024)

int journal_lmdb_error(int rc)
{
	switch (rc) {
	case 0: return 0;
	case MDB_MAP_FULL:
	case EDQUOT:
	case EFBIG: return -ENOSPC;
	case MDB_CORRUPTED:
	case MDB_PAGE_NOTFOUND:
	case MDB_INVALID: return -ERROR_CORRUPT;
	case MDB_VERSION_MISMATCH: return -ERROR_VERSION;
	default: return rc > 0 ? -rc : -EIO;
	}
}

static void batch_add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static uint64_t load(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

// What a value takes in the file: within a page, or pages of its own.
static uint64_t stored_bytes(const struct journal *j, size_t size)
{
	if (size < j->page_bytes / 2)
		return size + 32;
	return (size + 16 + j->page_bytes - 1) / j->page_bytes * j->page_bytes;
}

static int put_value(struct journal *j, MDB_txn *txn, const struct journal_batch *batch)
{
	size_t index = batch->first_index;
	MDB_val key = {sizeof index, &index};
	MDB_val value = {JOURNAL_HEADER_BYTES + (size_t)batch->size, NULL};
	unsigned flags = index == 0 ? MDB_RESERVE : MDB_RESERVE | MDB_APPEND;
	int rc = mdb_put(txn, j->dbi, &key, &value, flags);
	if (rc == 0) {
		journal_header_write(value.mv_data, mdb_txn_id(txn), batch);
		if (batch->size > 0)
			memcpy((char *)value.mv_data + JOURNAL_HEADER_BYTES, batch->data,
				batch->size);
	}
	return rc;
}

// Creates environments under another name and renames them, so that a log is whole from its first moment.
static int env_open(struct journal *j, const char *path, unsigned flags)
{
	int rc = mdb_env_create(&j->env);
	if (rc == 0) // room above map_bytes: old batches can be removed from a full map
		rc = mdb_env_set_mapsize(
			j->env, (size_t)(j->map_bytes + j->map_bytes / 8) + 16 * TREE_BYTES);
	if (rc == 0)
		rc = mdb_env_open(j->env, path, MDB_NOLOCK | flags, 0640);
	return rc;
}

static int create_env(struct journal *j, const char *path)
{
	MDB_txn *txn = NULL;
	int rc = env_open(j, path, 0);
	if (rc == 0)
		rc = mdb_txn_begin(j->env, NULL, 0, &txn);
	if (rc == 0)
		rc = mdb_dbi_open(txn, NULL, MDB_INTEGERKEY, &j->dbi);
	if (rc == 0)
		rc = put_value(j, txn, &(struct journal_batch){0});
	if (rc == 0) {
		rc = mdb_txn_commit(txn);
		txn = NULL;
	}
	if (txn)
		mdb_txn_abort(txn);
	mdb_env_close(j->env);
	j->env = NULL;
	return journal_lmdb_error(rc);
}

static int remove_unfinished(const char *path)
{
	char *data = path_of(path, "data.mdb");
	int error = unlink(data) < 0 && errno != ENOENT ? -errno : 0;
	free(data);
	if (error == 0 && rmdir(path) < 0 && errno != ENOENT)
		error = -errno;
	return error;
}

static int journal_create(struct journal *j, const char *directory)
{
	char *fresh = path_of(directory, "log.new");
	int error = remove_unfinished(fresh);
	if (error == 0 && mkdir(fresh, 0750) < 0)
		error = -errno;
	if (error == 0)
		error = create_env(j, fresh);
	if (error == 0)
		error = directory_sync(fresh);
	if (error == 0 && rename(fresh, j->path) < 0)
		error = -errno;
	if (error == 0)
		error = directory_sync(directory);
	free(fresh);
	return error;
}

// Measures the live batches without reading them: the tree holds their sizes.
static int journal_measure(struct journal *j, MDB_txn *txn)
{
	MDB_cursor *cursor;
	MDB_val key, value;
	int rc = mdb_cursor_open(txn, j->dbi, &cursor);
	if (rc != 0)
		return rc;
	while ((rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0)
		batch_add(&j->live_bytes, stored_bytes(j, value.mv_size));
	mdb_cursor_close(cursor);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

static void note_used(struct journal *j)
{
	MDB_envinfo info;
	mdb_env_info(j->env, &info);
	atomic_store_explicit(
		&j->used_bytes, (info.me_last_pgno + 1) * j->page_bytes, memory_order_relaxed);
}

// The file's present size counts as reserved once the holes of a sparse copy are filled.
static void note_reserved(struct journal *j)
{
	int fd;
	struct stat stat;
	mdb_env_get_fd(j->env, &fd);
	if (fstat(fd, &stat) == 0 && stat.st_size > 0 && fallocate(fd, 0, 0, stat.st_size) == 0)
		atomic_store_explicit(
			&j->reserved_bytes, (uint64_t)stat.st_size, memory_order_relaxed);
}

static int attach(struct journal *j, bool sync)
{
	MDB_txn *txn;
	unsigned flags = j->read_only ? MDB_RDONLY : sync ? 0 : MDB_NOSYNC;
	int rc = env_open(j, j->path, flags);
	if (rc != 0)
		return rc;
	MDB_stat tree;
	mdb_env_stat(j->env, &tree);
	j->page_bytes = tree.ms_psize;
	rc = mdb_txn_begin(j->env, NULL, MDB_RDONLY, &txn);
	if (rc != 0)
		return rc;
	rc = mdb_dbi_open(txn, NULL, 0, &j->dbi);
	if (rc == 0)
		rc = journal_measure(j, txn);
	if (rc == 0)
		rc = mdb_txn_commit(txn); // keeps the handle
	else
		mdb_txn_abort(txn);
	note_used(j);
	if (!j->read_only)
		note_reserved(j);
	return rc;
}

static int open_at(struct journal *j, const struct journal_settings *settings,
	const struct complaint *complaint)
{
	bool there = access(j->path, F_OK) == 0;
	int error = there ? 0 : journal_create(j, settings->directory);
	if (error < 0)
		return complain(complaint, error,
			"cannot create the log %s: %s; make the directory writable for this user "
			"or "
			"free space",
			j->path, error_text(error));
	error = journal_check(j->path, complaint);
	if (error < 0)
		return error;
	error = journal_lmdb_error(attach(j, settings->sync));
	if (error < 0)
		return complain(
			complaint, error, "cannot open the log %s: %s", j->path, error_text(error));
	return 0;
}

int journal_open(const struct journal_settings *settings, struct journal **out,
	const struct complaint *complaint)
{
	*out = NULL;
	struct journal *j = memory_take(sizeof *j);
	j->path = path_of(settings->directory, "log");
	j->map_bytes = settings->map_bytes;
	j->read_only = settings->read_only;
	if (settings->read_only && access(j->path, F_OK) < 0 && errno == ENOENT) {
		journal_close(j);
		return 0;
	}
	int error = open_at(j, settings, complaint);
	if (error < 0)
		journal_close(j);
	else
		*out = j;
	return error;
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	if (j->env)
		mdb_env_close(j->env);
	free(j->path);
	free(j);
}

// Removes the first batch if the next one begins at or before index + 1. The newest batch always stays: it tells how
// far the log has come. Returns MDB_NOTFOUND when there is nothing to remove.
static int remove_first(struct journal *j, MDB_cursor *cursor, uint64_t index, uint64_t *removed)
{
	size_t least = 1;
	MDB_val key = {sizeof least, &least}, value, next;
	int rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
	uint64_t size = rc == 0 ? value.mv_size : 0;
	if (rc == 0)
		rc = mdb_cursor_get(cursor, &next, &value, MDB_NEXT);
	if (rc == 0 && key_index(&next) > index + 1)
		rc = MDB_NOTFOUND;
	if (rc == 0)
		rc = mdb_cursor_get(cursor, &key, &value, MDB_PREV);
	if (rc == 0)
		rc = mdb_cursor_del(cursor, 0);
	if (rc == 0)
		*removed += stored_bytes(j, size);
	return rc;
}

static int remove_old(struct journal *j, MDB_txn *txn, uint64_t *removed)
{
	MDB_cursor *cursor;
	uint64_t index = load(&j->cut_index);
	int rc = index == j->cut_done ? MDB_NOTFOUND : mdb_cursor_open(txn, j->dbi, &cursor);
	if (rc == 0) {
		for (int i = 0; i < CUT_PER_APPEND && rc == 0; i++)
			rc = remove_first(j, cursor, index, removed);
		mdb_cursor_close(cursor);
	}
	if (rc == MDB_NOTFOUND)
		j->cut_done = index;
	return rc == MDB_NOTFOUND ? 0 : rc;
}

// Bytes that this process may write to one file (ulimit -f). Read each time: the limit may change while the process
// runs.
static int64_t file_bytes_max(void)
{
	struct rlimit limit;
	bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < INT64_MAX;
	return limited ? (int64_t)limit.rlim_cur : INT64_MAX;
}

static int64_t log_bytes_max(const struct journal *j)
{
	int64_t file = file_bytes_max();
	return file < j->map_bytes ? file : j->map_bytes;
}

// Reserves disk space for what a transaction may write at the end of the file.
static int reserve(struct journal *j, uint64_t batch_bytes)
{
	int fd;
	mdb_env_get_fd(j->env, &fd);
	int64_t needed = (int64_t)(load(&j->used_bytes) + batch_bytes + TREE_BYTES);
	int64_t most = file_bytes_max();
	if (needed > most) // the limit covers present bytes too, which fallocate does not say
		return -ENOSPC;
	if (needed <= (int64_t)load(&j->reserved_bytes))
		return 0;
	int rc = 0;
	for (int64_t ahead = GROW_BYTES; ahead >= 0; ahead -= GROW_BYTES) {
		if (needed > most - ahead)
			continue;
		do
			rc = fallocate(fd, 0, 0, needed + ahead) == 0 ? 0 : errno;
		while (rc == EINTR);
		if (rc == 0)
			atomic_store_explicit(&j->reserved_bytes, (uint64_t)(needed + ahead),
				memory_order_relaxed);
		if (rc != ENOSPC && rc != EDQUOT && rc != EFBIG)
			break;
	}
	// On a file system that cannot reserve, only the free space is checked.
	if (rc == EOPNOTSUPP)
		return journal_room_bytes(j) < (int64_t)batch_bytes + TREE_BYTES ? -ENOSPC : 0;
	return journal_lmdb_error(rc);
}

static int write_once(struct journal *j, const struct journal_batch *batch)
{
	MDB_txn *txn;
	uint64_t removed = 0, added = stored_bytes(j, JOURNAL_HEADER_BYTES + batch->size);
	int error = reserve(j, added);
	if (error < 0)
		return error;
	int rc = mdb_txn_begin(j->env, NULL, 0, &txn);
	if (rc != 0)
		return journal_lmdb_error(rc);
	rc = remove_old(j, txn, &removed);
	if (rc == 0)
		rc = put_value(j, txn, batch);
	if (rc != 0) {
		mdb_txn_abort(txn);
		return journal_lmdb_error(rc);
	}
	rc = mdb_txn_commit(txn);
	note_used(j);
	if (rc != 0)
		return journal_lmdb_error(rc);
	if (batch->entries > 0)
		batch_add(&j->live_bytes, added);
	atomic_fetch_sub_explicit(&j->live_bytes, removed, memory_order_relaxed);
	return 0;
}

static bool map_has_room(const struct journal *j, uint64_t bytes)
{
	uint64_t live = load(&j->live_bytes);
	return (int64_t)(live + live / 16 + bytes + TREE_BYTES) <= log_bytes_max(j);
}

static int batch_append(struct journal *j, const struct journal_batch *batch)
{
	uint64_t bytes = stored_bytes(j, JOURNAL_HEADER_BYTES + (size_t)batch->size);
	int error = map_has_room(j, bytes) ? write_once(j, batch) : -ENOSPC;
	// A full log first removes batches that are no longer needed: only the next transaction can use the space
	// that one frees.
	while (error == -ENOSPC && j->cut_done != load(&j->cut_index)) {
		error = write_once(j, &(struct journal_batch){0});
		if (error < 0)
			break;
		error = map_has_room(j, bytes) ? write_once(j, batch) : -ENOSPC;
	}
	return error;
}

int journal_append(
	struct journal *j, uint64_t first_index, uint32_t entries, const void *batch, uint32_t size)
{
	CHECK(!j->read_only && entries > 0 && first_index > 0);
	CHECK(j->next_index == 0 || first_index == j->next_index);
	if (j->failed < 0)
		return j->failed;
	int error = batch_append(j, &(struct journal_batch){first_index, entries, size, batch});
	if (error == 0) {
		j->next_index = first_index + entries;
		batch_add(&j->appended_bytes, JOURNAL_HEADER_BYTES + size);
	} else if (error != -ENOSPC) {
		j->failed = error; // the disk's content is unknown from here on: never retry
		char quoted[512];
		log_error("log-write-failed", "log=%s index=%lu error=\"%s\"",
			log_quote(j->path, quoted, sizeof quoted), first_index, error_text(error));
	}
	return error;
}

void journal_cut(struct journal *j, uint64_t index)
{
	atomic_store_explicit(&j->cut_index, index, memory_order_relaxed);
}

int64_t journal_room_bytes(const struct journal *j)
{
	struct statvfs fs;
	int64_t live = (int64_t)load(&j->live_bytes);
	int64_t room = log_bytes_max(j) - live - live / 16 - TREE_BYTES;
	if (statvfs(j->path, &fs) == 0) {
		int64_t disk = (int64_t)(fs.f_bavail * fs.f_frsize);
		uint64_t used = load(&j->used_bytes), reserved = load(&j->reserved_bytes);
		int64_t inside = (int64_t)(used > reserved ? used : reserved) - live;
		disk += inside > 0 ? inside : 0;
		room = disk < room ? disk : room;
	}
	return room > 0 ? room : 0;
}

uint64_t journal_live_bytes(const struct journal *j)
{
	return load(&j->live_bytes);
}

uint64_t journal_appended_bytes(const struct journal *j)
{
	return load(&j->appended_bytes);
}
