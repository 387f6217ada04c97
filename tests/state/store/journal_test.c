// The log on a real LMDB in a real directory.
#include "state/base/error.h"
#include "state/base/prng.h"
#include "state/store/journal.h"
#include "state/store/journal_format.h"
#include "tests/state/store/store_dir.h"
#include <errno.h>
#include <lmdb.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { BATCH_BYTES_MOST = 40000 };
#define MAP_BYTES (256ll << 20)

static char message[1024];
static const struct complaint complaint = {message, sizeof message};

static struct journal *open_with(const char *path, int64_t map_bytes, bool sync)
{
	struct journal *j;
	struct journal_settings settings = {path, map_bytes, false, sync};
	int error = journal_open(&settings, &j, &complaint);
	if (error < 0)
		fail_msg("%s", message);
	return j;
}

// Without syncs, where a test is not about what survives.
static struct journal *open_at(const char *path, int64_t map_bytes)
{
	return open_with(path, map_bytes, false);
}

// What a batch holds follows from its index, so that a reader can tell whether it is the right one.
static uint32_t batch_of(uint64_t index, uint8_t *batch, uint32_t *entries)
{
	struct prng prng;
	prng_seed(&prng, index);
	uint32_t size = prng_below(&prng, 4) ? (uint32_t)prng_below(&prng, 3000)
					     : (uint32_t)prng_below(&prng, BATCH_BYTES_MOST);
	*entries = 1 + (uint32_t)prng_below(&prng, 5);
	for (uint32_t i = 0; i < size; i++)
		batch[i] = (uint8_t)prng_u64(&prng);
	return size;
}

static int append_at(struct journal *j, uint64_t *index)
{
	static uint8_t batch[BATCH_BYTES_MOST];
	uint32_t entries, size = batch_of(*index, batch, &entries);
	int error = journal_append(j, *index, entries, batch, size);
	if (error == 0)
		*index += entries;
	return error;
}

struct seen {
	uint64_t batches, last_index;
	bool wrong;
};

static int see(void *context, const struct journal_batch *batch)
{
	static uint8_t expected[BATCH_BYTES_MOST];
	struct seen *seen = context;
	uint32_t entries, size = batch_of(batch->first_index, expected, &entries);
	seen->wrong |= size != batch->size || entries != batch->entries ||
		       memcmp(expected, batch->data, size) != 0;
	seen->batches++;
	seen->last_index = batch->first_index + batch->entries - 1;
	return 0;
}

static struct seen walk(struct journal *j, uint64_t index)
{
	struct seen seen = {.last_index = index};
	int error = journal_walk(j, index, see, &seen, &complaint);
	if (error < 0)
		fail_msg("%s", message);
	assert_false(seen.wrong);
	return seen;
}

static uint64_t fill(struct journal *j, uint64_t *ends, int batches)
{
	uint64_t index = 1;
	for (int i = 0; i < batches; i++) {
		assert_int_equal(append_at(j, &index), 0);
		ends[i] = index - 1;
	}
	return index;
}

static void what_was_appended_is_there_after_reopening(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path, MAP_BYTES);
	uint64_t ends[40], index = fill(j, ends, 40);
	journal_close(j);
	j = open_at(path, MAP_BYTES);
	assert_int_equal(walk(j, 0).batches, 40);
	for (int i = 0; i < 40; i++) { // from every index that a snapshot can have
		struct seen seen = walk(j, ends[i]);
		assert_int_equal(seen.batches, 39 - i);
		assert_int_equal(seen.last_index, index - 1);
	}
	assert_int_equal(append_at(j, &index), 0);
	assert_int_equal(walk(j, 0).last_index, index - 1);
	journal_close(j);
	dir_remove(path);
}

static void an_index_inside_a_batch_or_past_the_end_is_refused(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path, MAP_BYTES);
	uint64_t ends[40], index = fill(j, ends, 40);
	struct seen seen = {0};
	uint64_t begin = 1;
	int inside = 0;
	for (int i = 0; i < 40; i++) {
		for (; begin < ends[i]; begin++, inside++)
			assert_int_equal(
				journal_walk(j, begin, see, &seen, &complaint), -ERROR_CORRUPT);
		begin = ends[i] + 1;
	}
	assert_true(inside > 0);
	assert_int_equal(journal_walk(j, index, see, &seen, &complaint), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "does not end there"));
	journal_close(j);
	dir_remove(path);
}

// Changes the log behind its back: removes the batch of an index, or replaces it when value is
// given.
static void tamper(const char *path, uint64_t index, MDB_val *value)
{
	char log[300];
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	size_t number = index;
	MDB_val key = {sizeof number, &number};
	snprintf(log, sizeof log, "%s/log", path);
	assert_int_equal(mdb_env_create(&env), 0);
	mdb_env_set_mapsize(env, MAP_BYTES);
	assert_int_equal(mdb_env_open(env, log, MDB_NOLOCK, 0640), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, NULL, MDB_INTEGERKEY, &dbi), 0);
	int rc = value ? mdb_put(txn, dbi, &key, value, 0) : mdb_del(txn, dbi, &key, NULL);
	assert_int_equal(rc, 0);
	// As the log does it: the newest transaction is named in a value.
	uint8_t header[JOURNAL_HEADER_BYTES];
	struct journal_batch marker = {0};
	journal_header_write(header, mdb_txn_id(txn), &marker);
	number = 0;
	if (index != 0)
		assert_int_equal(mdb_put(txn, dbi, &key, &(MDB_val){sizeof header, header}, 0), 0);
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
}

static void a_missing_batch_is_refused_by_its_index(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path, MAP_BYTES);
	uint64_t ends[10];
	fill(j, ends, 10);
	journal_close(j);
	tamper(path, ends[4] + 1, NULL);
	j = open_at(path, MAP_BYTES);
	struct seen seen = {0};
	assert_int_equal(journal_walk(j, 0, see, &seen, &complaint), -ERROR_CORRUPT);
	char expected[80];
	snprintf(expected, sizeof expected, "no batch of index %lu: the next one begins at %lu",
		ends[4] + 1, ends[5] + 1);
	assert_non_null(strstr(message, expected));
	assert_int_equal(seen.batches, 5);
	assert_int_equal(walk(j, ends[5]).batches, 4); // a snapshot after it makes it unimportant
	journal_close(j);
	dir_remove(path);
}

static void a_log_of_a_newer_version_is_refused(void **unused)
{
	const char *path = dir_create();
	journal_close(open_at(path, MAP_BYTES));
	uint8_t header[JOURNAL_HEADER_BYTES] = {0};
	uint32_t magic = JOURNAL_MAGIC, version = JOURNAL_VERSION + 1;
	memcpy(header, &magic, 4);
	memcpy(header + JOURNAL_VERSION_AT, &version, 4);
	tamper(path, 0, &(MDB_val){sizeof header, header});
	struct journal *j;
	struct journal_settings settings = {path, MAP_BYTES, false, true};
	assert_int_equal(journal_open(&settings, &j, &complaint), -ERROR_VERSION);
	assert_non_null(strstr(message, "version 2"));
	dir_remove(path);
}

static void a_reader_of_nothing_creates_nothing(void **unused)
{
	const char *path = dir_create();
	struct journal *j;
	struct journal_settings settings = {path, MAP_BYTES, true, true};
	assert_int_equal(journal_open(&settings, &j, &complaint), 0);
	assert_null(j);
	assert_int_equal(rmdir(path), 0);
}

static void old_batches_are_removed_and_their_space_is_used_again(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path, MAP_BYTES);
	uint64_t index = 1, most = 0;
	for (int i = 0; i < 1500; i++) {
		assert_int_equal(append_at(j, &index), 0);
		if (i % 50 == 49)
			journal_cut(j, index - 20);
		if (journal_live_bytes(j) > most)
			most = journal_live_bytes(j);
	}
	size_t size;
	char data[300];
	snprintf(data, sizeof data, "%s/log/data.mdb", path);
	free(file_read(data, &size));
	assert_true(journal_appended_bytes(j) > 6 * most);
	assert_true(size < most + (24 << 20)); // what lives, and what is reserved ahead
	uint64_t live = journal_live_bytes(j), first = journal_first_index(j);
	assert_true(first > 1);
	journal_close(j);
	j = open_at(path, MAP_BYTES);
	assert_int_equal(journal_live_bytes(j), live);
	assert_int_equal(walk(j, first - 1).last_index, index - 1);
	journal_close(j);
	dir_remove(path);
}

static void the_newest_batch_is_never_cut(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path, MAP_BYTES);
	uint64_t ends[10], index = fill(j, ends, 10);
	journal_cut(j, index + 100);
	for (int i = 0; i < 3; i++) {
		uint64_t first = index;
		assert_int_equal(append_at(j, &index), 0);
		assert_true(journal_first_index(j) > ends[8] && journal_first_index(j) <= first);
	}
	journal_close(j);
	dir_remove(path);
}

// A full map refuses, loses nothing, and takes up again once something may go.
static void a_full_map_refuses_and_recovers(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path, 8 << 20);
	uint64_t index = 1;
	int error;
	while ((error = append_at(j, &index)) == 0)
		assert_true(journal_live_bytes(j) < 8 << 20);
	assert_int_equal(error, -ENOSPC);
	assert_int_equal(append_at(j, &index), -ENOSPC);
	assert_int_equal(walk(j, 0).last_index, index - 1);
	journal_cut(j, index / 2);
	for (int i = 0; i < 100; i++)
		assert_int_equal(append_at(j, &index), 0);
	uint64_t first = journal_first_index(j);
	assert_true(first > 1 && first <= index / 2);
	journal_close(j);
	j = open_at(path, 8 << 20);
	assert_int_equal(walk(j, first - 1).last_index, index - 1);
	journal_close(j);
	dir_remove(path);
}

// The same of a file system, here by a limit on the size of a file, which needs no privileges.
static void a_full_file_system_refuses_and_recovers(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path, MAP_BYTES);
	uint64_t index = 1;
	struct rlimit limit, small;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 4 << 20;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int error;
	while ((error = append_at(j, &index)) == 0)
		assert_true(journal_live_bytes(j) < 4 << 20);
	assert_int_equal(error, -ENOSPC);
	assert_int_equal(append_at(j, &index), -ENOSPC);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(walk(j, 0).last_index, index - 1);
	for (int i = 0; i < 20; i++)
		assert_int_equal(append_at(j, &index), 0);
	journal_close(j);
	j = open_at(path, MAP_BYTES);
	assert_int_equal(walk(j, 0).last_index, index - 1);
	journal_close(j);
	dir_remove(path);
}

// Appends for ever, telling each acknowledged index; now and then lets go of the past.
static void append_until_killed(const char *path, int to)
{
	struct journal *j = open_with(path, MAP_BYTES, true);
	uint64_t first = journal_first_index(j);
	uint64_t index = walk(j, first ? first - 1 : 0).last_index + 1;
	for (int i = 0;; i++) {
		if (append_at(j, &index) < 0)
			_exit(1);
		uint64_t acknowledged = index - 1;
		if (write(to, &acknowledged, sizeof acknowledged) != sizeof acknowledged)
			_exit(1);
		if (i % 30 == 29)
			journal_cut(j, index - 10);
	}
}

static uint64_t kill_in_the_middle(const char *path, uint32_t delay_us)
{
	int pipes[2];
	assert_int_equal(pipe(pipes), 0);
	pid_t child = fork();
	if (child == 0) {
		close(pipes[0]);
		append_until_killed(path, pipes[1]);
	}
	close(pipes[1]);
	uint64_t acknowledged = 0, index;
	assert_int_equal(read(pipes[0], &acknowledged, sizeof acknowledged), sizeof acknowledged);
	usleep(delay_us);
	assert_int_equal(kill(child, SIGKILL), 0);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	while (read(pipes[0], &index, sizeof index) == sizeof index)
		acknowledged = index;
	close(pipes[0]);
	return acknowledged;
}

static void everything_acknowledged_survives_kill(void **unused)
{
	const char *path = dir_create();
	struct prng prng;
	prng_seed(&prng, 9);
	uint64_t before = 0;
	for (int round = 0; round < 30; round++) {
		uint64_t acknowledged =
			kill_in_the_middle(path, (uint32_t)prng_below(&prng, 30000));
		assert_true(acknowledged > before);
		struct journal *j = open_at(path, MAP_BYTES);
		struct seen seen = walk(j, journal_first_index(j) - 1);
		assert_true(seen.last_index >= acknowledged);
		journal_close(j);
		before = seen.last_index;
	}
	dir_remove(path);
}

// A creation that was cut off is begun anew.
static void an_unfinished_creation_is_no_obstacle(void **unused)
{
	const char *path = dir_create();
	char unfinished[300];
	snprintf(unfinished, sizeof unfinished, "%s/log.new", path);
	assert_int_equal(mkdir(unfinished, 0750), 0);
	snprintf(unfinished, sizeof unfinished, "%s/log.new/data.mdb", path);
	file_write(unfinished, "half", 4);
	struct journal *j = open_at(path, MAP_BYTES);
	assert_int_equal(walk(j, 0).batches, 0);
	journal_close(j);
	dir_remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_appended_is_there_after_reopening),
		cmocka_unit_test(an_index_inside_a_batch_or_past_the_end_is_refused),
		cmocka_unit_test(a_missing_batch_is_refused_by_its_index),
		cmocka_unit_test(a_log_of_a_newer_version_is_refused),
		cmocka_unit_test(a_reader_of_nothing_creates_nothing),
		cmocka_unit_test(old_batches_are_removed_and_their_space_is_used_again),
		cmocka_unit_test(the_newest_batch_is_never_cut),
		cmocka_unit_test(a_full_map_refuses_and_recovers),
		cmocka_unit_test(a_full_file_system_refuses_and_recovers),
		cmocka_unit_test(everything_acknowledged_survives_kill),
		cmocka_unit_test(an_unfinished_creation_is_no_obstacle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
