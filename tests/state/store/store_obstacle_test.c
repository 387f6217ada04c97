// What stands in a store's way: folders where files should be, files that somebody took away, limits that are too low.
// It is refused with a sentence and is all there once that is out of the way, or the store gets by without it.
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/log.h"
#include "state/store/files.h"
#include "tests/state/store/store_dir.h"
#include "tests/state/store/world.h"
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *path_in(const char *directory, const char *name)
{
	static char path[160];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	return path;
}

// Two nodes behind a snapshot and one before it, closed; returns the image.
static struct bytes_writer fill(struct world *w)
{
	world_init(w);
	assert_int_equal(world_open(w), 0);
	assert_int_equal(world_register(w, 1), OUTCOME_DONE);
	assert_int_equal(store_snapshot(w->store, w->state), 0);
	assert_int_equal(world_register(w, 2), OUTCOME_DONE);
	assert_int_equal(world_register(w, 3), OUTCOME_DONE);
	struct bytes_writer image = world_image(w);
	world_close(w);
	return image;
}

static void expect_same(struct world *w, struct bytes_writer *image)
{
	if (world_recover(w) < 0)
		fail_msg("%s", w->message);
	struct bytes_writer found = world_image(w);
	assert_int_equal(found.size, image->size);
	assert_memory_equal(found.data, image->data, found.size);
	bytes_writer_free(&found);
	world_close(w);
}

static void end(struct world *w, struct bytes_writer *image)
{
	bytes_writer_free(image);
	world_remove(w);
}

static void refused(struct world *w, int error, const char *sentence)
{
	assert_int_equal(world_recover(w), error);
	if (!strstr(w->message, sentence))
		fail_msg("it says: %s", w->message);
}

static void what_is_no_folder_is_no_store(void **unused)
{
	struct world w;
	char directory[64];

	world_init(&w);
	memcpy(directory, w.directory, sizeof directory);
	assert_int_equal(store_holder(directory), 0); // nobody, and no file of a lock
	file_write(path_in(directory, "file"), "x", 1);
	w.settings.directory = path_in(directory, "file");
	refused(&w, -ENOTDIR, "is not a directory");
	w.settings.directory = path_in(directory, "none");
	w.settings.read_only = true;
	refused(&w, -ENOENT, "cannot use the store directory");
	assert_int_equal(access(w.settings.directory, F_OK), -1);
	world_remove(&w);
}

static void who_only_reads_writes_nothing(void **unused)
{
	struct world w;
	struct bytes_writer image = fill(&w);

	w.settings.read_only = true;
	assert_int_equal(unlink(path_in(w.directory, "lock")), 0); // as in a copy
	assert_int_equal(world_recover(&w), 0);
	assert_int_equal(access(path_in(w.directory, "lock"), F_OK), -1);
	struct command_log log = store_log(w.store);
	assert_int_equal(log.append(log.context, state_index(w.state) + 1, 1, "x", 1), -EROFS);
	assert_int_equal(store_start_snapshots(w.store, w.state), -EROFS);
	assert_int_equal(store_snapshot(w.store, w.state), -EROFS);
	world_close(&w);
	w.settings.read_only = false;
	expect_same(&w, &image);
	end(&w, &image);
}

static void a_log_that_cannot_be_begun_is_said(void **unused)
{
	static const char *const left[] = {"log.new/folder", "log.new/.hidden"};

	for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
		struct world w;
		world_init(&w);
		assert_int_equal(mkdir(path_in(w.directory, "log.new"), 0700), 0);
		assert_int_equal(mkdir(path_in(w.directory, left[i]), 0700), 0);
		refused(&w, i == 0 ? -EISDIR : -ENOTEMPTY, "cannot create the log");
		assert_int_equal(rmdir(path_in(w.directory, left[i])), 0);
		assert_int_equal(world_open(&w), 0);
		world_close(&w);
		world_remove(&w);
	}
}

// Somebody kept a copy of a segment beside it.
static void a_segment_that_is_there_twice_is_refused(void **unused)
{
	struct world w;
	struct bytes_writer image = fill(&w);
	size_t size;
	uint8_t *segment = file_read(path_in(w.directory, "log/segment-1"), &size);

	file_write(path_in(w.directory, "log/segment-99"), segment, size);
	free(segment);
	refused(&w, -ERROR_CORRUPT, "has two files for one place");
	assert_int_equal(unlink(path_in(w.directory, "log/segment-99")), 0);
	expect_same(&w, &image);
	end(&w, &image);
}

static void a_mark_that_cannot_be_read_is_one(void **unused)
{
	struct world w;
	struct bytes_writer image = fill(&w);

	assert_int_equal(mkdir(path_in(w.directory, "failed"), 0700), 0);
	refused(&w, -EIO, "failed says: a write of the log failed; all that was acknowledged");
	assert_int_equal(rmdir(path_in(w.directory, "failed")), 0);
	expect_same(&w, &image);
	end(&w, &image);
}

static void limits_below_what_is_stored_are_said(void **unused)
{
	struct world w;
	struct command_place placed;

	world_init(&w);
	uint32_t limit = w.limits.allocations;
	assert_int_equal(world_open(&w), 0);
	assert_int_equal(world_register(&w, 1), OUTCOME_DONE);
	assert_int_equal(world_job(&w, 1), OUTCOME_DONE);
	assert_int_equal(world_place(&w, 1, &placed), OUTCOME_DONE);
	assert_int_equal(world_place(&w, 2, &placed), OUTCOME_DONE);
	struct bytes_writer image = world_image(&w);
	world_close(&w);
	w.limits.allocations = 1;
	refused(&w, -ERROR_TABLE_FULL, "cannot be replayed from the batch of index");
	w.limits.allocations = limit;
	assert_int_equal(world_recover(&w), 0);
	assert_int_equal(store_snapshot(w.store, w.state), 0);
	world_close(&w);
	w.limits.allocations = 1;
	refused(&w, -ERROR_TABLE_FULL, "holds more nodes, jobs, allocations or clients than");
	w.limits.allocations = limit;
	expect_same(&w, &image);
	end(&w, &image);
}

// The thread that reads the log is far behind the batch that is refused.
static void who_refuses_early_stops_the_reading(void **unused)
{
	struct world w;
	struct command_place placed;

	world_init(&w);
	w.settings.sync = false;
	uint32_t limit = w.limits.allocations;
	assert_int_equal(world_open(&w), 0);
	assert_int_equal(world_register(&w, 1), OUTCOME_DONE);
	assert_int_equal(world_job(&w, 1), OUTCOME_DONE);
	assert_int_equal(world_place(&w, 1, &placed), OUTCOME_DONE);
	assert_int_equal(world_place(&w, 2, &placed), OUTCOME_DONE);
	for (uint32_t i = 0; i < 3000; i++) // more than is read ahead
		assert_int_equal(world_register(&w, 2), OUTCOME_DONE);
	struct bytes_writer image = world_image(&w);
	world_close(&w);
	w.limits.allocations = 1;
	refused(&w, -ERROR_TABLE_FULL, "cannot be replayed from the batch of index");
	w.limits.allocations = limit;
	expect_same(&w, &image);
	end(&w, &image);
}

static void a_snapshot_that_was_taken_away_is_made_anew(void **unused)
{
	struct world w;
	uint64_t index;
	char name[40];

	world_init(&w);
	assert_int_equal(world_open(&w), 0);
	assert_int_equal(world_register(&w, 1), OUTCOME_DONE);
	assert_int_equal(store_snapshot(w.store, w.state), 0);
	snprintf(name, sizeof name, "snapshot-%lu", state_index(w.state));
	assert_int_equal(unlink(path_in(w.directory, name)), 0);
	assert_int_equal(store_snapshot_open(w.store, w.state, &index), -ENOENT);
	assert_int_equal(world_register(&w, 2), OUTCOME_DONE);
	int file = store_snapshot_open(w.store, w.state, &index);
	assert_true(file >= 0);
	close(file);
	struct bytes_writer image = world_image(&w);
	world_close(&w);
	expect_same(&w, &image);
	end(&w, &image);
}

// An old one, which nobody needs.
static void a_snapshot_that_stays_is_no_obstacle(void **unused)
{
	struct world w;
	struct bytes_writer image = fill(&w);

	assert_int_equal(mkdir(path_in(w.directory, "snapshot-1"), 0700), 0);
	expect_same(&w, &image);
	assert_int_equal(world_open(&w), 0);
	assert_int_equal(store_snapshot(w.store, w.state), 0);
	assert_int_equal(atomic_load(&store_counters(w.store)->snapshot_failures), 0);
	assert_int_equal(access(path_in(w.directory, "snapshot-1"), F_OK), 0);
	world_close(&w);
	end(&w, &image);
}

static void who_asks_for_a_snapshot_is_told_that_there_is_none(void **unused)
{
	struct world w;
	struct bytes_writer image = fill(&w);
	uint64_t index;

	assert_int_equal(mkdir(path_in(w.directory, "snapshot.new"), 0700), 0);
	assert_int_equal(world_recover(&w), 0);
	assert_int_equal(store_snapshot_open(w.store, w.state, &index), -EISDIR);
	assert_int_equal(atomic_load(&store_counters(w.store)->snapshot_failures), 1);
	assert_int_equal(rmdir(path_in(w.directory, "snapshot.new")), 0);
	int file = store_snapshot_open(w.store, w.state, &index);
	assert_true(file >= 0);
	close(file);
	world_close(&w);
	expect_same(&w, &image);
	end(&w, &image);
}

// A file is another one's whole, or what it was.
static void expect_kept(const char *directory, int error)
{
	size_t size;

	assert_int_equal(file_replace(directory, "name", "second"), error);
	uint8_t *kept = file_read(path_in(directory, "name"), &size);
	assert_int_equal(size, 5);
	assert_memory_equal(kept, "first", 5);
	free(kept);
}

static void a_file_is_replaced_whole_or_not_at_all(void **unused)
{
	char directory[64];
	struct rlimit before;
	static const struct {
		const char *device;
		int error;
	} devices[] = {{"/dev/full", -ENOSPC}, {"/dev/null", -EINVAL}}; // which cannot be synced

	snprintf(directory, sizeof directory, "%s", dir_create());
	assert_int_equal(file_replace(directory, "name", "first"), 0);
	for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
		assert_int_equal(symlink(devices[i].device, path_in(directory, "name.new")), 0);
		expect_kept(directory, devices[i].error);
		assert_int_equal(unlink(path_in(directory, "name.new")), 0);
	}
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){3, before.rlim_max}), 0);
	int error = file_replace(directory, "name", "second"); // half of it is written
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(error, -ENOSPC);
	assert_int_equal(unlink(path_in(directory, "name.new")), 0);
	assert_int_equal(mkdir(path_in(directory, "folder"), 0700), 0);
	assert_int_equal(file_replace(directory, "folder", "second"), -EISDIR);
	assert_int_equal(unlink(path_in(directory, "folder.new")), 0);
	assert_int_equal(rmdir(path_in(directory, "folder")), 0);
	assert_int_equal(mkdir(path_in(directory, "name.new"), 0700), 0);
	expect_kept(directory, -EISDIR);
	assert_int_equal(rmdir(path_in(directory, "name.new")), 0);
	assert_int_equal(file_replace(directory, "name", "second"), 0);
	assert_int_equal(directory_sync(path_in(directory, "none")), -ENOENT);
	dir_remove(directory);
}

#ifdef BERTH_WITH_FAILPOINTS
// What comes after it sees a log without its files, and may take that for another reason to end.
static void a_log_that_cannot_be_listed_is_said(void **unused)
{
	struct world w;
	struct bytes_writer image = fill(&w);

	assert_int_equal(failpoints_arm("log.next=eio", w.message, sizeof w.message), 0);
	refused(&w, -EIO, "cannot read the log ");
	assert_int_equal(failpoints_arm("", NULL, 0), 0);
	expect_same(&w, &image);
	end(&w, &image);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_folder_is_no_store),
		cmocka_unit_test(who_only_reads_writes_nothing),
		cmocka_unit_test(a_log_that_cannot_be_begun_is_said),
		cmocka_unit_test(a_segment_that_is_there_twice_is_refused),
#ifdef BERTH_WITH_FAILPOINTS
		cmocka_unit_test(a_log_that_cannot_be_listed_is_said),
#endif
		cmocka_unit_test(a_mark_that_cannot_be_read_is_one),
		cmocka_unit_test(limits_below_what_is_stored_are_said),
		cmocka_unit_test(who_refuses_early_stops_the_reading),
		cmocka_unit_test(a_snapshot_that_was_taken_away_is_made_anew),
		cmocka_unit_test(a_snapshot_that_stays_is_no_obstacle),
		cmocka_unit_test(who_asks_for_a_snapshot_is_told_that_there_is_none),
		cmocka_unit_test(a_file_is_replaced_whole_or_not_at_all),
	};
	signal(SIGXFSZ, SIG_IGN);
	log_configure(LOG_ERROR, false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
