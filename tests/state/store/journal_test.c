// The log in a real directory.
#include "state/base/error.h"
#include "state/base/prng.h"
#include "state/store/journal.h"
#include "state/store/segment_format.h"
#include "tests/state/store/batch_place.h"
#include "tests/state/store/numbered_batches.h"
#include "tests/state/store/store_dir.h"
#include "tests/support/core/slowness.h"
#include "tests/support/descriptors.h"
#include <errno.h>
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

static struct numbered_seen walk(struct journal *j, uint64_t index)
{
	struct numbered_seen seen;
	if (numbered_walk(j, index, &seen, &complaint) < 0)
		fail_msg("%s", message);
	assert_false(seen.wrong);
	return seen;
}

static uint64_t fill(struct journal *j, uint64_t *ends, int batches)
{
	uint64_t index = 1;
	for (int i = 0; i < batches; i++) {
		assert_int_equal(numbered_append(j, &index), 0);
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
		struct numbered_seen seen = walk(j, ends[i]);
		assert_int_equal(seen.batches, 39 - i);
		assert_int_equal(seen.last_index, index - 1);
	}
	assert_int_equal(numbered_append(j, &index), 0);
	assert_int_equal(walk(j, 0).last_index, index - 1);
	journal_close(j);
	dir_remove(path);
}

// Of the newest segment what is written counts, not what it has room for.
static void live_bytes_are_those_of_batches(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path, MAP_BYTES);
	assert_int_equal(journal_append(j, 1, 1, "batch", 5), 0);
	assert_int_equal(journal_live_bytes(j), 2 * SEGMENT_BLOCK_BYTES); // head, record
	journal_close(j);
	dir_remove(path);
}

static void an_index_inside_a_batch_or_past_the_end_is_refused(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path, MAP_BYTES);
	uint64_t ends[40], index = fill(j, ends, 40);
	struct numbered_seen seen;
	uint64_t begin = 1;
	int inside = 0;
	for (int i = 0; i < 40; i++) {
		for (; begin < ends[i]; begin++, inside++)
			assert_int_equal(
				numbered_walk(j, begin, &seen, &complaint), -ERROR_CORRUPT);
		begin = ends[i] + 1;
	}
	assert_true(inside > 0);
	assert_int_equal(numbered_walk(j, index, &seen, &complaint), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "does not end there"));
	journal_close(j);
	dir_remove(path);
}

// Somebody cut it off while it was open.
static void a_segment_that_ends_too_early_cannot_be_read(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path, MAP_BYTES);
	uint64_t ends[10];
	struct numbered_seen seen;
	fill(j, ends, 10);
	struct batch_place place = find_batch(path, ends[4] + 1);
	assert_int_equal(truncate(place.file, (off_t)place.at), 0);
	assert_int_equal(numbered_walk(j, 0, &seen, &complaint), -EIO);
	assert_non_null(strstr(message, "cannot read the log"));
	assert_int_equal(seen.batches, 0); // nothing of it is taken for all of it
	journal_close(j);
	dir_remove(path);
}

static void a_missing_batch_is_refused_by_its_index(void **unused)
{
	const char *path = dir_create();
	char expected[80];
	struct journal *j = open_at(path, MAP_BYTES);
	uint64_t ends[10];
	fill(j, ends, 10);
	journal_close(j);
	struct batch_place place = find_batch(path, ends[4] + 1);
	file_write_byte(place.file, place.at, 0);
	j = open_at(path, MAP_BYTES);
	struct numbered_seen seen;
	assert_int_equal(numbered_walk(j, 0, &seen, &complaint), -ERROR_CORRUPT);
	snprintf(expected, sizeof expected, "damaged in the batch of index %lu: there is none",
		ends[4] + 1);
	assert_non_null(strstr(message, expected));
	assert_int_equal(seen.batches, 5);
	assert_int_equal(walk(j, ends[5]).batches, 4); // a snapshot after it makes it unimportant
	journal_close(j);
	dir_remove(path);
}

static void a_log_of_a_newer_version_is_refused(void **unused)
{
	const char *path = dir_create();
	char file[300];
	journal_close(open_at(path, MAP_BYTES));
	snprintf(file, sizeof file, "%s/log/segment-1", path);
	file_write_byte(file, 8, SEGMENT_VERSION + 1);
	struct journal *j;
	struct journal_settings settings = {path, MAP_BYTES, false, true};
	assert_int_equal(journal_open(&settings, &j, &complaint), -ERROR_VERSION);
	assert_non_null(strstr(message, "version 3 and this program knows version 2"));
	dir_remove(path);
}

// A folder without files is not a new log: what was in it is missing.
static void a_log_without_files_is_refused(void **unused)
{
	const char *path = dir_create();
	char log[300];
	snprintf(log, sizeof log, "%s/log", path);
	assert_int_equal(mkdir(log, 0750), 0);
	struct journal *j;
	struct journal_settings settings = {path, MAP_BYTES, false, true};
	assert_int_equal(journal_open(&settings, &j, &complaint), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "its files are missing"));
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

static void cut_segments_are_used_again(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path, MAP_BYTES);
	uint64_t index = 1, most = 0;
	for (int i = 0; i < 6000; i++) {
		assert_int_equal(numbered_append(j, &index), 0);
		if (i % 50 == 49)
			journal_cut(j, index - 20);
		if (journal_live_bytes(j) > most)
			most = journal_live_bytes(j);
	}
	assert_true(journal_appended_bytes(j) > 6 * most);
	assert_true(dir_bytes(path) < 4 * most);
	uint64_t live = journal_live_bytes(j), first = journal_first_index(j);
	assert_true(first > 1 && first <= index - 20);
	journal_close(j);
	j = open_at(path, MAP_BYTES);
	assert_in_range(journal_live_bytes(j), live, dir_bytes(path)); // what is spare may be read
	assert_true(journal_first_index(j) <= first);
	assert_int_equal(walk(j, first - 1).last_index, index - 1);
	journal_close(j);
	dir_remove(path);
}

// However far the cut goes: the newest batch tells how far the log has come.
static void the_newest_batch_is_never_cut(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path, MAP_BYTES);
	uint64_t index = 1;
	for (int i = 0; i < 1000; i++) {
		uint64_t newest = index;
		assert_int_equal(numbered_append(j, &index), 0);
		journal_cut(j, index + 100);
		assert_in_range(journal_first_index(j), 1, newest);
	}
	assert_true(journal_first_index(j) > 1);
	journal_close(j);
	j = open_at(path, MAP_BYTES);
	assert_int_equal(walk(j, index - 1).last_index, index - 1);
	journal_close(j);
	dir_remove(path);
}

// At once, and not before: the log begins with what is not cut.
static void a_segment_goes_with_its_last_batch(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path, MAP_BYTES);
	uint64_t index = 1, newest = 0;
	while (journal_first_index(j) <= 1) {
		newest = index;
		assert_int_equal(numbered_append(j, &index), 0);
		if (newest > 1)
			journal_cut(j, newest - 2);
		assert_int_equal(journal_first_index(j), 1);
		journal_cut(j, newest - 1);
	}
	assert_int_equal(journal_first_index(j), newest);
	journal_close(j);
	dir_remove(path);
}

// A segment that went leaves a gap: the next one takes no number that another has.
static void numbers_of_segments_may_have_gaps(void **unused)
{
	const char *path = dir_create();
	char first[300], last[300];
	struct journal *j = open_at(path, MAP_BYTES);
	uint64_t index = 1;
	int segments = 0;
	for (int i = 0; i < 400; i++)
		assert_int_equal(numbered_append(j, &index), 0);
	journal_close(j);
	snprintf(first, sizeof first, "%s/log/segment-1", path);
	do
		snprintf(last, sizeof last, "%s/log/segment-%d", path, ++segments);
	while (access(last, F_OK) == 0);
	assert_true(segments > 2);
	assert_int_equal(rename(first, last), 0);
	j = open_at(path, MAP_BYTES);
	for (int i = 0; i < 2000; i++)
		assert_int_equal(numbered_append(j, &index), 0);
	journal_close(j);
	j = open_at(path, MAP_BYTES);
	assert_int_equal(walk(j, 0).batches, 2400);
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
	while ((error = numbered_append(j, &index)) == 0)
		assert_true(dir_bytes(path) <= 8 << 20);
	assert_int_equal(error, -ENOSPC);
	assert_int_equal(numbered_append(j, &index), -ENOSPC);
	assert_true(journal_live_bytes(j) > 7 << 20);
	assert_in_range(journal_room_bytes(j), 0, NUMBERED_BYTES_MOST);
	assert_int_equal(walk(j, 0).last_index, index - 1);
	journal_cut(j, index / 2);
	for (int i = 0; i < 100; i++)
		assert_int_equal(numbered_append(j, &index), 0);
	uint64_t first = journal_first_index(j);
	assert_true(first > 1 && first <= index / 2);
	journal_close(j);
	j = open_at(path, 8 << 20);
	assert_int_equal(walk(j, first - 1).last_index, index - 1);
	journal_close(j);
	dir_remove(path);
}

// Those that are full are closed, however many there are.
static void two_segments_are_open_at_most(void **unused)
{
	const char *path = dir_create();
	uint32_t before = descriptors_open();
	struct journal *j = open_at(path, 16 << 20);
	uint64_t index = 1;
	while (numbered_append(j, &index) == 0)
		continue;
	assert_in_range(
		descriptors_open(), before + 1, before + 2); // the newest, and one to follow it
	journal_close(j);
	dir_remove(path);
}

// A batch that fits in no segment that is ready waits until one is made.
static void segments_that_were_waited_for_are_counted(void **unused)
{
	static const uint8_t large[3 << 20];
	const char *path = dir_create();
	struct journal *j = open_at(path, MAP_BYTES);
	assert_int_equal(journal_append(j, 1, 1, large, 5), 0);
	assert_int_equal(journal_segments_late(j), 0);
	assert_int_equal(journal_append(j, 2, 1, large, sizeof large), 0);
	assert_int_equal(journal_segments_late(j), 1);
	journal_close(j);
	dir_remove(path);
}

// Where a segment of the usual size has no room any more, there are smaller ones.
static void a_map_is_full_when_all_of_it_is(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path, 40 << 20);
	uint64_t index = 1;
	while (numbered_append(j, &index) == 0)
		continue;
	assert_in_range(journal_live_bytes(j), (40 << 20) - (300 << 10), 40 << 20);
	journal_close(j);
	dir_remove(path);
}

// As much as room_bytes says fits, in one batch, whatever the sizes of the segments that are spare.
static void what_is_said_to_have_room_has_it(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path, (32 << 20) + 100); // not in whole blocks
	uint64_t index = 1;
	for (int i = 0; i < 2000; i++)
		assert_int_equal(numbered_append(j, &index), 0);
	for (int round = 0; round < 3; round++) {
		journal_cut(j, index - 1);
		int64_t room = journal_room_bytes(j);
		assert_true(round > 0 || room > 16 << 20);
		uint8_t *large = calloc(1, (size_t)room);
		assert_int_equal(
			journal_append(j, index, 1, large, (uint32_t)room - RECORD_HEADER_BYTES),
			0);
		free(large);
		index++;
		assert_true(dir_bytes(path) <= (32 << 20) + 100);
		while (numbered_append(j, &index) == 0)
			continue;
	}
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
	small.rlim_cur = 10000;
	signal(SIGXFSZ, SIG_IGN);
	for (int i = 0; i < 20; i++)
		assert_int_equal(numbered_append(j, &index), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(numbered_append(j, &index), -ENOSPC);
	assert_int_equal(numbered_append(j, &index), -ENOSPC);
	assert_in_range(journal_room_bytes(j), 0, 10000);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(walk(j, 0).last_index, index - 1);
	for (int i = 0; i < 20; i++)
		assert_int_equal(numbered_append(j, &index), 0);
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
		if (numbered_append(j, &index) < 0)
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
	for (uint32_t round = 0; round < 30 / BUILD_SLOWNESS; round++) {
		uint64_t acknowledged =
			kill_in_the_middle(path, (uint32_t)prng_below(&prng, 30000));
		assert_true(acknowledged > before);
		struct journal *j = open_at(path, MAP_BYTES);
		struct numbered_seen seen = walk(j, journal_first_index(j) - 1);
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
	snprintf(unfinished, sizeof unfinished, "%s/log.new/segment-1", path);
	file_write(unfinished, "half", 4);
	struct journal *j = open_at(path, MAP_BYTES);
	assert_int_equal(walk(j, 0).batches, 0);
	journal_close(j);
	snprintf(unfinished, sizeof unfinished, "%s/log/unfinished-99", path);
	file_write(unfinished, "half", 4);
	// Whoever only reads leaves it to the daemon, which may be making it.
	struct journal_settings reading = {path, MAP_BYTES, true, false};
	assert_int_equal(journal_open(&reading, &j, &complaint), 0);
	assert_int_equal(access(unfinished, F_OK), 0);
	journal_close(j);
	j = open_at(path, MAP_BYTES);
	assert_int_equal(access(unfinished, F_OK), -1);
	journal_close(j);
	dir_remove(path);
}

static struct journal *open_lagging(const char *path)
{
	struct journal_settings settings = {path, MAP_BYTES, .may_lag = true};
	struct journal *j;
	if (journal_open(&settings, &j, &complaint) < 0)
		fail_msg("%s", message);
	return j;
}

// A process that was killed while its log was behind its newest snapshot: the log goes on behind that one. What is
// between is missed only by who begins before it.
static void a_log_that_may_lag_goes_on_behind_a_newer_snapshot(void **state)
{
	const char *path = dir_create();
	uint64_t ends[20], newest, next;
	struct numbered_seen seen;
	struct journal *j = open_at(path, MAP_BYTES);
	newest = fill(j, ends, 20) - 1;
	journal_close(j);
	next = newest + 1000; // and the snapshot is of the one before
	j = open_at(path, MAP_BYTES);
	assert_int_equal(numbered_walk(j, next - 1, &seen, &complaint), -ERROR_CORRUPT);
	journal_close(j);
	for (int round = 0; round < 2;
		round++) { // it may be killed again before anything is appended
		j = open_lagging(path);
		assert_int_equal(walk(j, next - 1).batches, 0);
		journal_close(j);
	}
	j = open_at(path, MAP_BYTES); // its end is known by now
	assert_int_equal(walk(j, next - 1).batches, 0);
	journal_close(j);
	j = open_lagging(path);
	assert_int_equal(walk(j, next - 1).batches, 0);
	uint64_t index = next;
	assert_int_equal(numbered_append(j, &index), 0);
	assert_int_equal(numbered_append(j, &index), 0);
	journal_close(j);
	j = open_at(path, MAP_BYTES);
	seen = walk(j, next - 1);
	assert_int_equal(seen.batches, 2);
	assert_int_equal(seen.last_index, index - 1);
	journal_close(j);
	j = open_lagging(path);
	assert_int_equal(numbered_walk(j, 0, &seen, &complaint), -ERROR_CORRUPT);
	journal_close(j);
	dir_remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_that_may_lag_goes_on_behind_a_newer_snapshot),
		cmocka_unit_test(what_was_appended_is_there_after_reopening),
		cmocka_unit_test(live_bytes_are_those_of_batches),
		cmocka_unit_test(an_index_inside_a_batch_or_past_the_end_is_refused),
		cmocka_unit_test(a_segment_that_ends_too_early_cannot_be_read),
		cmocka_unit_test(a_missing_batch_is_refused_by_its_index),
		cmocka_unit_test(a_log_of_a_newer_version_is_refused),
		cmocka_unit_test(a_log_without_files_is_refused),
		cmocka_unit_test(a_reader_of_nothing_creates_nothing),
		cmocka_unit_test(cut_segments_are_used_again),
		cmocka_unit_test(the_newest_batch_is_never_cut),
		cmocka_unit_test(a_segment_goes_with_its_last_batch),
		cmocka_unit_test(numbers_of_segments_may_have_gaps),
		cmocka_unit_test(a_full_map_refuses_and_recovers),
		cmocka_unit_test(two_segments_are_open_at_most),
		cmocka_unit_test(segments_that_were_waited_for_are_counted),
		cmocka_unit_test(a_map_is_full_when_all_of_it_is),
		cmocka_unit_test(what_is_said_to_have_room_has_it),
		cmocka_unit_test(a_full_file_system_refuses_and_recovers),
		cmocka_unit_test(everything_acknowledged_survives_kill),
		cmocka_unit_test(an_unfinished_creation_is_no_obstacle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
