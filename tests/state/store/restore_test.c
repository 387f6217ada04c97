// A store that is made of another one's snapshot has its state, and goes on from there; so has one whose place it took.
// What is no snapshot, and a directory in which something is, are refused and left as they were.
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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char message[1024];

enum { CRASHED = 42 };
static uint32_t crash_after; // of the calls below; 0: never

static int crash_or_go_on(int result)
{
	if (crash_after > 0 && --crash_after == 0)
		_exit(CRASHED);
	return result;
}

// The store finds these in place of the system's.
int unlink(const char *path)
{
	return crash_or_go_on((int)syscall(SYS_unlink, path));
}

int unlinkat(int directory, const char *path, int flags)
{
	return crash_or_go_on((int)syscall(SYS_unlinkat, directory, path, flags));
}

static int rmdir_error;

int rmdir(const char *path)
{
	if (rmdir_error) {
		errno = rmdir_error;
		return -1;
	}
	return crash_or_go_on((int)syscall(SYS_rmdir, path));
}

int rename(const char *from, const char *to)
{
	return crash_or_go_on((int)syscall(SYS_rename, from, to));
}

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

// The folder of networks of a process that has ended: it is there, and cannot be listed.
static void a_folder_that_cannot_be_read_is_not_used(void **unused)
{
	char path[64];
	siginfo_t ended;
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
	snprintf(path, sizeof path, "/proc/%d/net", child);
	assert_int_equal(store_restore_begin(path, message, sizeof message), -EINVAL);
	assert_non_null(strstr(message, "cannot read /proc/"));
	assert_int_equal(waitpid(child, NULL, 0), child);
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

static void copy_snapshot(struct world *from, const char *directory)
{
	uint64_t index, restored;
	int source = store_snapshot_open(from->store, from->state, &index);
	int to = store_restore_begin(directory, message, sizeof message);
	assert_true(source >= 0 && to >= 0);
	copy(source, to);
	close(source);
	assert_int_equal(store_restore_end(directory, to, &restored, message, sizeof message), 0);
	assert_int_equal(restored, index);
}

// A world whose store has a log and a snapshot of its own, and another whose snapshot is on its way to it.
struct exchange {
	struct world own, other;
	struct bytes_writer before, after;
};

static void exchange_begin(struct exchange *x)
{
	world_init(&x->own);
	world_init(&x->other);
	assert_int_equal(world_open(&x->own), 0);
	assert_int_equal(world_register(&x->own, 1), OUTCOME_DONE);
	assert_int_equal(store_snapshot(x->own.store, x->own.state), 0);
	assert_int_equal(world_register(&x->own, 2), OUTCOME_DONE);
	x->before = world_image(&x->own);
	assert_int_equal(world_open(&x->other), 0);
	fill(&x->other);
	x->after = world_image(&x->other);
}

static void exchange_end(struct exchange *x)
{
	world_close(&x->other);
	world_remove(&x->other);
	world_remove(&x->own);
	bytes_writer_free(&x->before);
	bytes_writer_free(&x->after);
}

static void arrive(struct exchange *x)
{
	char *incoming = store_incoming(x->own.directory);
	copy_snapshot(&x->other, incoming);
	free(incoming);
	assert_int_equal(store_arrived(x->own.directory), 0);
}

static bool is_in(const struct world *w, const char *name)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", w->directory, name);
	return access(path, F_OK) == 0;
}

static void assert_recovers(struct world *w, const struct bytes_writer *expected)
{
	assert_int_equal(world_recover(w), 0);
	struct bytes_writer found = world_image(w);
	assert_int_equal(found.size, expected->size);
	assert_memory_equal(found.data, expected->data, found.size);
	bytes_writer_free(&found);
	world_close(w);
}

static void what_arrived_takes_the_place_at_the_next_open(void **unused)
{
	struct exchange x;
	exchange_begin(&x);
	arrive(&x); // while it is open
	assert_int_equal(world_register(&x.own, 3), OUTCOME_DONE);
	world_close(&x.own);
	assert_true(is_in(&x.own, "arrived"));
	assert_recovers(&x.own, &x.after);
	assert_false(is_in(&x.own, "arrived") || is_in(&x.own, "incoming"));
	assert_recovers(&x.own, &x.after); // and stays
	assert_int_equal(world_open(&x.own), 0);
	assert_int_equal(world_register(&x.own, 200), OUTCOME_DONE);
	world_close(&x.own);
	assert_int_equal(world_open(&x.own), 0); // its log follows the snapshot
	world_close(&x.own);
	exchange_end(&x);
}

// Whoever only looks changes nothing.
static void a_reader_exchanges_nothing(void **unused)
{
	struct exchange x;
	exchange_begin(&x);
	arrive(&x);
	world_close(&x.own);
	x.own.settings.read_only = true;
	assert_recovers(&x.own, &x.before);
	assert_true(is_in(&x.own, "arrived"));
	x.own.settings.read_only = false;
	assert_recovers(&x.own, &x.after);
	exchange_end(&x);
}

// A piece of a snapshot that never came whole.
static void leave_a_piece(const struct world *w)
{
	char *incoming = store_incoming(w->directory);
	int file = store_restore_begin(incoming, message, sizeof message);
	assert_true(file >= 0);
	assert_int_equal(write(file, "piece", 5), 5);
	close(file);
	free(incoming);
}

static void what_never_came_whole_does_no_harm(void **unused)
{
	struct exchange x;
	exchange_begin(&x);
	leave_a_piece(&x.own);
	world_close(&x.own);
	assert_recovers(&x.own, &x.before);
	assert_int_equal(world_open(&x.own), 0);
	arrive(&x); // begins anew
	world_close(&x.own);
	leave_a_piece(&x.own); // of another one, after that
	assert_recovers(&x.own, &x.after);
	exchange_end(&x);
}

// A folder stands where only files are looked for.
static void a_folder_is_in_the_way(const struct world *w, const char *name)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", w->directory, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void it_is_out_of_the_way(const struct world *w, const char *name)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", w->directory, name);
	assert_int_equal(rmdir(path), 0);
}

static void what_cannot_be_removed_is_said_and_keeps_both(void **unused)
{
	struct exchange x;
	exchange_begin(&x);
	a_folder_is_in_the_way(&x.own, "incoming");
	a_folder_is_in_the_way(&x.own, "incoming/folder");
	char *incoming = store_incoming(x.own.directory);
	assert_int_equal(store_restore_begin(incoming, message, sizeof message), -ENOTEMPTY);
	free(incoming);
	it_is_out_of_the_way(&x.own, "incoming/folder");
	arrive(&x);
	world_close(&x.own);
	a_folder_is_in_the_way(&x.own, "log/folder");
	assert_int_equal(world_recover(&x.own), -EISDIR);
	assert_non_null(strstr(x.own.message, "cannot be put in its place"));
	it_is_out_of_the_way(&x.own, "log/folder");
	a_folder_is_in_the_way(&x.own, "arrived/folder"); // it moves as any other does
	assert_recovers(&x.own, &x.after);
	assert_true(is_in(&x.own, "folder"));
	exchange_end(&x);
}

// As when something is mounted there: it is empty, and so is used again.
static void a_folder_that_stays_is_used_again(void **unused)
{
	struct exchange x;
	exchange_begin(&x);
	leave_a_piece(&x.own);
	rmdir_error = EBUSY;
	arrive(&x);
	rmdir_error = 0;
	world_close(&x.own);
	assert_recovers(&x.own, &x.after);
	exchange_end(&x);
}

// The newest counts: one that had arrived before is not in its way.
static void the_newest_that_arrived_counts(void **unused)
{
	struct exchange x;
	exchange_begin(&x);
	arrive(&x);
	assert_int_equal(world_register(&x.other, 300), OUTCOME_DONE);
	bytes_writer_free(&x.after);
	x.after = world_image(&x.other);
	arrive(&x);
	world_close(&x.own);
	assert_recovers(&x.own, &x.after);
	exchange_end(&x);
}

// The process ends after each system call of the exchange that changes something: the next start finishes it.
static void a_crash_in_between_is_finished(void **unused)
{
	uint32_t steps = 0;
	bool was_whole = false;
	for (uint32_t at = 1; !was_whole; at++) {
		struct exchange x;
		int status;
		exchange_begin(&x);
		arrive(&x);
		world_close(&x.own);
		fflush(NULL);
		pid_t child = fork();
		if (child == 0) {
			struct store *store;
			crash_after = at;
			_exit(store_open(&x.own.settings, &store, message, sizeof message) == 0
					? 0
					: 1);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		was_whole = WEXITSTATUS(status) == 0;
		assert_true(was_whole || WEXITSTATUS(status) == CRASHED);
		assert_recovers(&x.own, &x.after);
		assert_false(is_in(&x.own, "arrived"));
		exchange_end(&x);
		steps = at;
	}
	assert_true(steps > 5); // log, snapshot, the rename, and the folder that is empty then
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_goes_on_from_the_snapshot),
		cmocka_unit_test(what_is_no_snapshot_is_refused),
		cmocka_unit_test(a_folder_that_cannot_be_read_is_not_used),
		cmocka_unit_test(nothing_stored_is_no_snapshot),
		cmocka_unit_test(what_arrived_takes_the_place_at_the_next_open),
		cmocka_unit_test(a_reader_exchanges_nothing),
		cmocka_unit_test(what_never_came_whole_does_no_harm),
		cmocka_unit_test(what_cannot_be_removed_is_said_and_keeps_both),
		cmocka_unit_test(a_folder_that_stays_is_used_again),
		cmocka_unit_test(the_newest_that_arrived_counts),
		cmocka_unit_test(a_crash_in_between_is_finished),
	};
	log_configure(LOG_ERROR, false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
