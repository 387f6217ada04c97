// A log that the first version wrote is read, and the log goes on in segments.
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/store/lmdb/lmdb_format.h"
#include "tests/state/store/lmdb/lmdb_maker.h"
#include "tests/state/store/numbered_batches.h"
#include "tests/state/store/store_dir.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char message[1024];
static const struct complaint complaint = {message, sizeof message};

static int try_open(const char *directory, bool read_only, struct journal **j)
{
	struct journal_settings settings = {directory, 64ll << 20, read_only, false};
	return journal_open(&settings, j, &complaint);
}

static struct journal *open_log(const char *directory)
{
	struct journal *j;
	if (try_open(directory, false, &j) < 0)
		fail_msg("%s", message);
	return j;
}

// The log of a program of the first version; returns the index after it.
static uint64_t make_first(const char *directory, int batches)
{
	static uint8_t batch[NUMBERED_BYTES_MOST];
	struct lmdb_maker maker;
	uint64_t index = 1;
	lmdb_maker_open(&maker, directory);
	for (int i = 0; i < batches; i++) {
		uint32_t entries, size = numbered_batch(index, batch, &entries);
		lmdb_maker_append(&maker, index, entries, batch, size);
		index += entries;
	}
	lmdb_maker_close(&maker);
	return index;
}

static void expect_all(struct journal *j, uint64_t from, uint64_t next)
{
	struct numbered_seen seen;
	if (numbered_walk(j, from, &seen, &complaint) < 0)
		fail_msg("%s", message);
	assert_false(seen.wrong);
	assert_int_equal(seen.last_index, next - 1);
}

static bool has_file(const char *directory, const char *name)
{
	char path[300];
	snprintf(path, sizeof path, "%s/log/%s", directory, name);
	return access(path, F_OK) == 0;
}

static void it_is_read_and_goes_on(void **unused)
{
	const char *directory = dir_create();
	uint64_t index = make_first(directory, 60), first_end = index - 1;
	struct journal *j = open_log(directory);
	assert_true(has_file(directory, "first.mdb"));
	assert_false(has_file(directory, "data.mdb")); // where a program of the first version looks
	assert_int_equal(journal_first_index(j), 1);
	for (int life = 0; life < 4; life++) {
		expect_all(j, 0, index);
		for (int i = 0; i < 20; i++)
			assert_int_equal(numbered_append(j, &index), 0);
		journal_close(j);
		j = open_log(directory);
	}
	expect_all(j, 0, index);
	expect_all(j, first_end, index);
	expect_all(j, index - 1, index);
	journal_close(j);
	dir_remove(directory);
}

static void an_empty_one_is_as_good(void **unused)
{
	const char *directory = dir_create();
	uint64_t index = make_first(directory, 0);
	struct journal *j = open_log(directory);
	expect_all(j, 0, 1);
	assert_int_equal(numbered_append(j, &index), 0);
	journal_close(j);
	j = open_log(directory);
	expect_all(j, 0, index);
	journal_close(j);
	dir_remove(directory);
}

static void it_goes_when_nothing_needs_it(void **unused)
{
	const char *directory = dir_create();
	uint64_t index = make_first(directory, 60), first_end = index - 1;
	struct journal *j = open_log(directory);
	expect_all(j, 0, index);
	journal_cut(j, first_end);
	assert_true(has_file(directory, "first.mdb")); // it still tells how far the log has come
	assert_int_equal(numbered_append(j, &index), 0);
	journal_cut(j, first_end - 1);
	assert_true(has_file(directory, "first.mdb"));
	uint64_t live = journal_live_bytes(j);
	journal_cut(j, first_end);
	assert_false(has_file(directory, "first.mdb"));
	assert_true(journal_live_bytes(j) < live);
	assert_int_equal(journal_first_index(j), first_end + 1);
	journal_close(j);
	j = open_log(directory);
	expect_all(j, first_end, index);
	struct numbered_seen seen;
	assert_int_equal(numbered_walk(j, 0, &seen, &complaint), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "no batch of index 1: the next one begins at"));
	journal_close(j);
	dir_remove(directory);
}

static void another_programs_file_is_refused(void **unused)
{
	const char *directory = dir_create();
	struct lmdb_maker maker;
	size_t mark = 0;
	MDB_txn *txn;
	struct numbered_seen seen;
	struct journal *j;
	uint64_t index = make_first(directory, 3);
	lmdb_maker_open(&maker, directory);
	assert_int_equal(mdb_txn_begin(maker.env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_del(txn, maker.dbi, &(MDB_val){sizeof mark, &mark}, NULL), 0);
	assert_int_equal(mdb_txn_commit(txn), 0);
	lmdb_maker_append(&maker, index, 1, "a", 1);
	lmdb_maker_append(&maker, index + 1, 1, "b", 1);
	lmdb_maker_close(&maker);
	j = open_log(directory);
	assert_int_equal(numbered_walk(j, 0, &seen, &complaint), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "does not begin as a log of this program does"));
	assert_int_equal(seen.batches, 0);
	journal_close(j);
	dir_remove(directory);
}

static void it_may_be_gone_already(void **unused)
{
	const char *directory = dir_create();
	uint64_t index = make_first(directory, 10), first_end = index - 1;
	char path[100];
	struct journal *j = open_log(directory);
	expect_all(j, 0, index);
	assert_int_equal(numbered_append(j, &index), 0);
	snprintf(path, sizeof path, "%s/log/first.mdb", directory);
	assert_int_equal(unlink(path), 0);
	journal_cut(j, first_end);
	assert_int_equal(journal_first_index(j), first_end + 1);
	journal_close(j);
	j = open_log(directory);
	expect_all(j, first_end, index);
	journal_close(j);
	dir_remove(directory);
}

static void what_cannot_be_read_is_refused(void **unused)
{
	const char *directory = dir_create();
	uint64_t index = make_first(directory, 10);
	char path[100], aside[100];
	struct rlimit before;
	struct journal *j;
	snprintf(path, sizeof path, "%s/log/data.mdb", directory);
	snprintf(aside, sizeof aside, "%s/aside", directory);
	assert_int_equal(rename(path, aside), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(try_open(directory, false, &j), -ENODEV);
	assert_non_null(strstr(message, "cannot read the log"));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rename(aside, path), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, before.rlim_max}), 0);
	int error = try_open(directory, false, &j);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(error, -EMFILE);
	assert_non_null(strstr(message, "cannot read the log"));
	j = open_log(directory);
	expect_all(j, 0, index);
	journal_close(j);
	dir_remove(directory);
}

static void a_reader_changes_nothing(void **unused)
{
	const char *directory = dir_create();
	uint64_t index = make_first(directory, 10);
	struct journal *j;
	assert_int_equal(try_open(directory, true, &j), 0);
	expect_all(j, 0, index);
	journal_close(j);
	assert_true(has_file(directory, "data.mdb"));
	assert_false(has_file(directory, "segment-1"));
	dir_remove(directory);
}

static void gaps_and_doubles_are_refused(void **unused)
{
	const char *directory = dir_create();
	char from[300], to[300];
	struct journal *j;
	struct numbered_seen seen;
	uint64_t index = make_first(directory, 10);
	j = open_log(directory);
	expect_all(j, 0, index);
	assert_int_equal(numbered_append(j, &index), 0);
	journal_close(j);
	snprintf(to, sizeof to, "%s/log/data.mdb", directory);
	file_write(to, "x", 1);
	assert_int_equal(try_open(directory, false, &j), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "has both first.mdb and data.mdb"));
	// A shorter log of the first version in place of the one that belongs to the segments.
	const char *other = strdup(directory);
	snprintf(from, sizeof from, "%s/log/first.mdb", other);
	assert_int_equal(unlink(from), 0);
	assert_int_equal(unlink(to), 0);
	directory = dir_create();
	make_first(directory, 9);
	snprintf(to, sizeof to, "%s/log/data.mdb", directory);
	assert_int_equal(rename(to, from), 0);
	j = open_log(other);
	assert_int_equal(numbered_walk(j, 0, &seen, &complaint), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "no batch of index"));
	journal_close(j);
	dir_remove(directory);
	dir_remove(other);
	free((void *)(uintptr_t)other);
}

static void damage_in_it_is_refused(void **unused)
{
	const char *directory = dir_create();
	struct lmdb_maker maker;
	struct journal *j;
	struct numbered_seen seen;
	uint8_t marker[LMDB_HEADER_BYTES] = {'B', 'L', 'O', 'G', LMDB_VERSION + 1};
	uint64_t index = make_first(directory, 10);
	lmdb_maker_open(&maker, directory);
	lmdb_maker_remove(&maker, 1);
	lmdb_maker_close(&maker);
	j = open_log(directory);
	assert_int_equal(numbered_walk(j, 0, &seen, &complaint), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "no batch of index 1: the next one begins at"));
	assert_int_equal(numbered_walk(j, index, &seen, &complaint), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "does not end there"));
	journal_close(j);
	dir_remove(directory);
	directory = dir_create();
	make_first(directory, 3);
	lmdb_maker_open(&maker, directory);
	lmdb_maker_put(&maker, 0, marker, sizeof marker);
	lmdb_maker_close(&maker);
	assert_int_equal(try_open(directory, false, &j), -ERROR_VERSION);
	assert_non_null(strstr(message, "version 2 and this program knows version 1"));
	dir_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_read_and_goes_on),
		cmocka_unit_test(an_empty_one_is_as_good),
		cmocka_unit_test(it_goes_when_nothing_needs_it),
		cmocka_unit_test(another_programs_file_is_refused),
		cmocka_unit_test(it_may_be_gone_already),
		cmocka_unit_test(what_cannot_be_read_is_refused),
		cmocka_unit_test(a_reader_changes_nothing),
		cmocka_unit_test(gaps_and_doubles_are_refused),
		cmocka_unit_test(damage_in_it_is_refused),
	};
	log_configure(LOG_ERROR, false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
