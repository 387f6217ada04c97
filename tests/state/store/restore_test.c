// A store that is made of another one's snapshot has its state, and goes on from there. What is no snapshot, and a
// directory in which something is, are refused and left as they were.
#include "state/base/log.h"
#include "tests/state/store/store_dir.h"
#include "tests/state/store/world.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char message[1024];

static void copy(int from, int to)
{
	char piece[4096];
	ssize_t got;
	while ((got = read(from, piece, sizeof piece)) > 0)
		assert_int_equal(write(to, piece, (size_t)got), got);
	assert_int_equal(got, 0);
}

static void fill(struct world *w)
{
	struct command_place result;
	for (uint32_t node = 0; node < 20; node++)
		assert_int_equal(world_register(w, node), OUTCOME_DONE);
	assert_int_equal(world_job(w, 100), OUTCOME_DONE);
	assert_int_equal(world_place(w, 1, &result), OUTCOME_DONE);
}

static void it_goes_on_from_the_snapshot(void **unused)
{
	struct world w, again;
	uint64_t index, restored = 0;
	world_init(&w);
	world_init(&again);
	assert_int_equal(world_open(&w), 0);
	fill(&w);
	int from = store_snapshot_open(w.store, w.state, &index);
	assert_true(from >= 0);
	assert_int_equal(index, state_index(w.state));
	struct bytes_writer image = world_image(&w);
	assert_int_equal(world_register(&w, 100), OUTCOME_DONE); // later than what was saved
	int to = store_restore_begin(again.directory, message, sizeof message);
	assert_true(to >= 0);
	copy(from, to);
	close(from);
	assert_int_equal(
		store_restore_end(again.directory, to, &restored, message, sizeof message), 0);
	assert_int_equal(restored, index);
	assert_int_equal(world_recover(&again), 0);
	struct bytes_writer found = world_image(&again);
	assert_int_equal(found.size, image.size);
	assert_memory_equal(found.data, image.data, image.size);
	bytes_writer_free(&found);
	bytes_writer_free(&image);
	world_close(&again);
	assert_int_equal(world_open(&again), 0);
	assert_int_equal(world_register(&again, 200), OUTCOME_DONE);
	world_close(&again);
	assert_int_equal(world_open(&again), 0); // the log follows the snapshot
	world_close(&again);
	world_close(&w);
	world_remove(&again);
	world_remove(&w);
}

static void what_is_no_snapshot_is_refused(void **unused)
{
	char path[128];
	uint64_t index;
	const char *directory = dir_create();
	int file = store_restore_begin(directory, message, sizeof message);
	assert_true(file >= 0);
	assert_int_equal(write(file, "nothing", 7), 7);
	assert_true(store_restore_end(directory, file, &index, message, sizeof message) < 0);
	assert_true(*message);
	assert_int_equal(dir_bytes(directory), 0);
	file = store_restore_begin(directory, message, sizeof message);
	assert_true(file >= 0);
	store_restore_abandon(directory, file);
	assert_int_equal(dir_bytes(directory), 0);
	snprintf(path, sizeof path, "%s/some", directory);
	file_write(path, "x", 1);
	assert_int_equal(store_restore_begin(directory, message, sizeof message), -ENOTEMPTY);
	assert_non_null(strstr(message, "is not empty"));
	assert_int_equal(store_restore_begin(path, message, sizeof message), -ENOTDIR);
	dir_remove(directory);
}

static void nothing_stored_is_no_snapshot(void **unused)
{
	struct world w;
	uint64_t index;
	world_init(&w);
	assert_int_equal(world_recover(&w), 0);
	assert_int_equal(store_snapshot_open(w.store, w.state, &index), -ENODATA);
	world_close(&w);
	world_remove(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_goes_on_from_the_snapshot),
		cmocka_unit_test(what_is_no_snapshot_is_refused),
		cmocka_unit_test(nothing_stored_is_no_snapshot),
	};
	log_configure(LOG_ERROR, false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
