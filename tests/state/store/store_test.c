// Restart after restart: what the controller knew is what it knows, byte by byte.
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/prng.h"
#include "state/store/store.h"
#include "tests/state/store/batch_place.h"
#include "tests/state/store/store_dir.h"
#include "tests/state/store/world.h"
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { LIVE_MOST = 64 };

struct life { // what the test knows of what it did
	struct prng prng;
	struct uuid live[LIVE_MOST];
	uint32_t live_count;
	uint64_t request;
};

static void one_change(struct world *w, struct life *life)
{
	struct command_place place;
	uint64_t dice = prng_below(&life->prng, 10);
	if (dice < 2) {
		assert_int_equal(
			world_register(w, (uint32_t)prng_below(&life->prng, 40)), OUTCOME_DONE);
	} else if (dice < 3) {
		(void)world_expire(w, (uint32_t)prng_below(&life->prng, 20));
	} else if (dice < 4) {
		assert_int_equal(
			world_job(w, 100 + (uint32_t)prng_below(&life->prng, 300)), OUTCOME_DONE);
	} else if (dice < 8 && life->live_count < LIVE_MOST) {
		if (world_place(w, ++life->request, &place) == OUTCOME_DONE)
			life->live[life->live_count++] = place.items[0].allocation;
	} else if (life->live_count > 0) {
		uint32_t which = (uint32_t)prng_below(&life->prng, life->live_count);
		assert_int_equal(world_release(w, life->live[which]), OUTCOME_DONE);
		life->live[which] = life->live[--life->live_count];
	}
}

static void changes(struct world *w, struct life *life, int count)
{
	for (int i = 0; i < count; i++)
		one_change(w, life);
}

static void begin(struct world *w, struct life *life, uint64_t seed)
{
	*life = (struct life){.request = 0};
	prng_seed(&life->prng, seed);
	world_init(w);
	assert_int_equal(world_open(w), 0);
}

// Recovers, and compares with the image of before; the world stays recovered.
static void recover_same(struct world *w, const struct bytes_writer *before)
{
	if (world_recover(w) < 0)
		fail_msg("%s", w->message);
	struct bytes_writer after = world_image(w);
	assert_int_equal(after.size, before->size);
	assert_memory_equal(after.data, before->data, before->size);
	bytes_writer_free(&after);
}

static uint32_t snapshot_count(const char *directory)
{
	uint32_t count = 0;
	DIR *dir = opendir(directory);
	for (struct dirent *entry; (entry = readdir(dir));)
		count += strncmp(entry->d_name, "snapshot", 8) == 0;
	closedir(dir);
	return count;
}

static char *snapshot_of(const struct world *w, uint64_t index)
{
	static char path[160];
	snprintf(path, sizeof path, "%s/snapshot-%lu", w->directory, index);
	return path;
}

static void restart_from_the_log_gives_the_same_state(void **unused)
{
	struct world w;
	struct life life;
	begin(&w, &life, 1);
	for (int round = 0; round < 8; round++) {
		changes(&w, &life, 60);
		struct bytes_writer before = world_image(&w);
		world_close(&w);
		recover_same(&w, &before);
		assert_int_equal(w.recovery.snapshot_index, 0);
		assert_int_equal(w.recovery.log_index, state_index(w.state));
		bytes_writer_free(&before);
		assert_int_equal(applier_open(w.applier), 0);
	}
	world_close(&w);
	world_remove(&w);
}

static void restart_from_snapshot_and_tail_gives_the_same_state(void **unused)
{
	struct world w;
	struct life life;
	begin(&w, &life, 2);
	for (int round = 0; round < 10; round++) {
		changes(&w, &life, 40);
		assert_int_equal(store_snapshot(w.store, w.state), 0);
		uint64_t index = state_index(w.state);
		changes(&w, &life, round % 3 * 10);
		struct bytes_writer before = world_image(&w);
		world_close(&w);
		recover_same(&w, &before);
		bytes_writer_free(&before);
		assert_int_equal(w.recovery.snapshot_index, index);
		assert_true(w.recovery.snapshot_records > 0);
		assert_true(snapshot_count(w.directory) <= 2);
		assert_int_equal(applier_open(w.applier), 0);
	}
	world_close(&w);
	world_remove(&w);
}

static void a_reader_changes_nothing_and_keeps_writers_out(void **unused)
{
	struct world w, reader;
	struct life life;
	begin(&w, &life, 3);
	changes(&w, &life, 50);
	struct bytes_writer before = world_image(&w);
	reader = w;
	reader.settings.read_only = true;
	assert_int_equal(world_recover(&reader), -EBUSY);
	char expected[64];
	snprintf(expected, sizeof expected, "in use by process %ld", (long)getpid());
	assert_non_null(strstr(reader.message, expected));
	world_close(&w);
	recover_same(&reader, &before);
	assert_int_equal(store_snapshot(reader.store, reader.state), -EROFS);
	assert_int_equal(world_recover(&w), -EBUSY);
	world_close(&reader);
	recover_same(&w, &before);
	world_close(&w);
	bytes_writer_free(&before);
	world_remove(&w);
}

static void two_daemons_never_share_a_directory(void **unused)
{
	struct world w, other;
	struct life life;
	begin(&w, &life, 4);
	other = w;
	assert_int_equal(world_open(&other), -EBUSY);
	assert_non_null(strstr(other.message, "in use by process"));
	changes(&w, &life, 5);
	world_close(&w);
	assert_int_equal(world_open(&other), 0);
	world_close(&other);
	world_remove(&w);
}

static void a_log_that_is_too_small_is_refused(void **unused)
{
	struct world w;
	world_init(&w);
	w.settings.map_bytes = 1 << 20;
	assert_int_equal(world_open(&w), -EINVAL);
	assert_non_null(strstr(w.message, "at least"));
	world_remove(&w);
}

static void the_thread_takes_snapshots_as_the_log_grows(void **unused)
{
	struct world w;
	struct life life;
	world_init(&w);
	w.settings.snapshot_log_bytes = 4000;
	prng_seed(&life.prng, 5);
	life.live_count = 0;
	life.request = 0;
	assert_int_equal(world_open(&w), 0);
	assert_int_equal(store_start_snapshots(w.store, w.state), 0);
	const struct store_counters *counters = store_counters(w.store);
	for (int i = 0; i < 20000 && atomic_load(&counters->snapshots) < 4; i++)
		one_change(&w, &life);
	assert_true(atomic_load(&counters->snapshots) >= 4);
	store_stop_snapshots(w.store);
	changes(&w, &life, 3);
	struct bytes_writer before = world_image(&w);
	world_close(&w);
	recover_same(&w, &before);
	assert_true(w.recovery.snapshot_index > 0);
	world_close(&w);
	bytes_writer_free(&before);
	world_remove(&w);
}

// Begins with two snapshots and a tail, closed. Returns the image; indexes of the snapshots, newest
// first.
static struct bytes_writer two_snapshots(struct world *w, uint64_t seed, uint64_t indexes[2])
{
	struct life life;
	begin(w, &life, seed);
	for (int i = 1; i >= 0; i--) {
		changes(w, &life, 30);
		indexes[i] = state_index(w->state);
		assert_int_equal(store_snapshot(w->store, w->state), 0);
	}
	changes(w, &life, 10);
	struct bytes_writer image = world_image(w);
	world_close(w);
	return image;
}

static void a_damaged_snapshot_is_replaced_by_the_one_before(void **unused)
{
	struct world w;
	uint64_t indexes[2];
	struct bytes_writer image = two_snapshots(&w, 6, indexes);
	char *path = snapshot_of(&w, indexes[0]);
	size_t size;
	uint8_t *file = file_read(path, &size);
	file_write_byte(path, size / 2, file[size / 2] ^ 1);
	recover_same(&w, &image);
	assert_int_equal(w.recovery.snapshot_index, indexes[1]);
	world_close(&w);
	free(file);
	bytes_writer_free(&image);
	world_remove(&w);
}

static void without_a_whole_snapshot_the_log_must_reach_back(void **unused)
{
	struct world w;
	struct life life;
	begin(&w, &life, 7);
	changes(&w, &life, 30);
	uint64_t index = state_index(w.state);
	assert_int_equal(store_snapshot(w.store, w.state), 0);
	changes(&w, &life, 10);
	struct bytes_writer image = world_image(&w);
	world_close(&w);
	file_write_byte(snapshot_of(&w, index), 100, 0xff);
	w.settings.sync = false;
	recover_same(&w, &image);
	assert_int_equal(w.recovery.snapshot_index, 0);
	// Now a snapshot, and a log that no longer begins at the beginning.
	assert_int_equal(applier_open(w.applier), 0);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(store_snapshot(w.store, w.state), 0);
		for (uint32_t k = 1; k < 300; k++) // so much that segments are used again
			assert_int_equal(world_job(&w, k), OUTCOME_DONE);
	}
	world_close(&w);
	struct dirent *entry;
	DIR *dir = opendir(w.directory);
	while ((entry = readdir(dir)))
		if (strncmp(entry->d_name, "snapshot-", 9) == 0)
			file_write_byte(
				snapshot_of(&w, strtoul(entry->d_name + 9, NULL, 10)), 100, 0xff);
	closedir(dir);
	assert_int_equal(world_recover(&w), -ERROR_CORRUPT);
	assert_non_null(strstr(w.message, "is damaged at byte"));
	assert_non_null(strstr(w.message, "restore the whole store directory"));
	bytes_writer_free(&image);
	world_remove(&w);
}

static void a_restart_lets_go_of_the_log_as_a_snapshot_does(void **unused)
{
	struct world w;
	struct life life;
	begin(&w, &life, 11);
	for (uint32_t k = 1; k <= 900; k++) {
		assert_int_equal(world_job(&w, k), OUTCOME_DONE);
		if (k % 300 == 0)
			assert_int_equal(store_snapshot(w.store, w.state), 0);
	}
	assert_int_equal(world_job(&w, 1), OUTCOME_DONE);
	uint64_t bytes = atomic_load(&store_counters(w.store)->log_bytes);
	world_close(&w);
	assert_int_equal(world_recover(&w), 0);
	assert_int_equal(atomic_load(&store_counters(w.store)->log_bytes), bytes);
	assert_int_equal(atomic_load(&store_counters(w.store)->tails_cut), 0);
	world_close(&w);
	world_remove(&w);
}

static void a_write_that_was_not_finished_is_left_out_and_counted(void **unused)
{
	struct world w;
	struct life life;
	begin(&w, &life, 12);
	changes(&w, &life, 20);
	struct bytes_writer before = world_image(&w);
	uint64_t index = state_index(w.state);
	assert_int_equal(world_job(&w, 1), OUTCOME_DONE);
	world_close(&w);
	struct batch_place place = find_batch(w.directory, index + 1);
	file_write_byte(place.file, place.at + 40, 0);          // of its batch
	file_write_byte(place.file, place.at + place.bytes, 0); // the mark of a closed log
	recover_same(&w, &before);
	assert_int_equal(atomic_load(&store_counters(w.store)->tails_cut), 1);
	bytes_writer_free(&before);
	world_close(&w);
	world_remove(&w);
}

static void an_older_log_beside_a_newer_snapshot_is_refused(void **unused)
{
	struct world w;
	struct life life;
	char old[160], log[160];
	begin(&w, &life, 8);
	snprintf(old, sizeof old, "%s/kept", w.directory);
	snprintf(log, sizeof log, "%s/log", w.directory);
	changes(&w, &life, 20);
	world_close(&w);
	dir_copy(log, old);
	assert_int_equal(world_open(&w), 0);
	changes(&w, &life, 20);
	assert_int_equal(store_snapshot(w.store, w.state), 0);
	world_close(&w);
	dir_remove(log);
	assert_int_equal(rename(old, log), 0);
	assert_int_equal(world_recover(&w), -ERROR_CORRUPT);
	assert_non_null(strstr(w.message, "does not end there"));
	// Moved away, as it says, the snapshot alone is enough.
	dir_remove(log);
	assert_int_equal(world_open(&w), 0);
	changes(&w, &life, 5);
	world_close(&w);
	assert_int_equal(world_open(&w), 0);
	world_close(&w);
	world_remove(&w);
}

static void a_snapshot_under_another_name_is_not_taken_for_it(void **unused)
{
	struct world w;
	uint64_t indexes[2];
	char to[160];
	struct bytes_writer image = two_snapshots(&w, 9, indexes);
	snprintf(to, sizeof to, "%s", snapshot_of(&w, indexes[0] + 1000));
	assert_int_equal(rename(snapshot_of(&w, indexes[0]), to), 0);
	recover_same(&w, &image); // by the one before, and said in a log line
	assert_int_equal(w.recovery.snapshot_index, indexes[1]);
	world_close(&w);
	bytes_writer_free(&image);
	world_remove(&w);
}

struct acknowledged {
	uint64_t index;
	struct uuid allocation;
};

static void work_until_killed(struct world *w, uint64_t seed, int to)
{
	struct command_place place;
	w->time.wall_ns += seed * 1000000000ull;
	w->settings.snapshot_log_bytes = 6000;
	if (world_open(w) < 0 || store_start_snapshots(w->store, w->state) < 0)
		_exit(1);
	for (uint32_t i = 0; i < 20; i++) // room for what this round leaves
		world_register(w, (uint32_t)seed * 20 + i);
	world_job(w, 10);
	for (uint64_t request = seed * 100000;; request++) {
		if (world_place(w, request, &place) != OUTCOME_DONE)
			_exit(1);
		struct acknowledged done = {state_index(w->state), place.items[0].allocation};
		if (write(to, &done, sizeof done) != sizeof done)
			_exit(1);
		if (request % 3)
			world_release(w, place.items[0].allocation);
	}
}

static struct acknowledged kill_in_the_middle(struct world *w, uint64_t seed, uint32_t delay_us)
{
	int pipes[2], status;
	struct acknowledged last = {0}, next;
	assert_int_equal(pipe(pipes), 0);
	pid_t child = fork();
	if (child == 0) {
		close(pipes[0]);
		work_until_killed(w, seed, pipes[1]);
	}
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &last, sizeof last), sizeof last);
	usleep(delay_us);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	while (read(pipes[0], &next, sizeof next) == sizeof next)
		last = next;
	close(pipes[0]);
	return last;
}

static void report(const char *text, void *context)
{
	print_error("%s\n", text);
}

static void everything_acknowledged_survives_kill(void **unused)
{
	struct world w;
	struct prng prng;
	prng_seed(&prng, 10);
	world_init(&w);
	uint64_t snapshots = 0;
	for (uint64_t round = 1; round <= 15; round++) {
		struct acknowledged last =
			kill_in_the_middle(&w, round, (uint32_t)prng_below(&prng, 60000));
		if (world_recover(&w) < 0)
			fail_msg("round %lu: %s", round, w.message);
		assert_true(state_index(w.state) >= last.index);
		state_read_begin();
		assert_non_null(state_allocation(w.state, &last.allocation));
		state_read_end();
		assert_int_equal(state_verify(w.state, report, NULL), 0);
		snapshots += w.recovery.snapshot_index > 0;
		world_close(&w);
	}
	assert_true(snapshots > 5);
	world_remove(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		// The one that forks comes first: a child of a process with threads has no RCU
		// helper.
		cmocka_unit_test(everything_acknowledged_survives_kill),
		cmocka_unit_test(restart_from_the_log_gives_the_same_state),
		cmocka_unit_test(restart_from_snapshot_and_tail_gives_the_same_state),
		cmocka_unit_test(a_reader_changes_nothing_and_keeps_writers_out),
		cmocka_unit_test(two_daemons_never_share_a_directory),
		cmocka_unit_test(a_log_that_is_too_small_is_refused),
		cmocka_unit_test(the_thread_takes_snapshots_as_the_log_grows),
		cmocka_unit_test(a_damaged_snapshot_is_replaced_by_the_one_before),
		cmocka_unit_test(without_a_whole_snapshot_the_log_must_reach_back),
		cmocka_unit_test(a_restart_lets_go_of_the_log_as_a_snapshot_does),
		cmocka_unit_test(a_write_that_was_not_finished_is_left_out_and_counted),
		cmocka_unit_test(an_older_log_beside_a_newer_snapshot_is_refused),
		cmocka_unit_test(a_snapshot_under_another_name_is_not_taken_for_it),
	};
	log_configure(LOG_ERROR, false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
