// A file system that is really full: a small one in memory, which takes privileges to mount.
#include "state/base/error.h"
#include "state/base/limits.h"
#include "state/base/log.h"
#include "state/store/journal.h"
#include "tests/state/store/store_dir.h"
#include "tests/state/store/world.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cmocka.h>

enum { SKIPPED = 77 };

static char mounted[40];

static int mount_small(void)
{
	snprintf(mounted, sizeof mounted, "%s", dir_create());
	return mount("tmpfs", mounted, "tmpfs", 0, "size=200m");
}

static int unmount_small(void)
{
	int error = umount(mounted);
	dir_remove(mounted);
	return error;
}

// Leaves so many bytes free.
static void fill_up(int64_t left)
{
	struct statvfs fs;
	char path[128];
	snprintf(path, sizeof path, "%s/ballast", mounted);
	assert_int_equal(statvfs(mounted, &fs), 0);
	int64_t size = (int64_t)(fs.f_bavail * fs.f_frsize) - left;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(fallocate(fd, 0, 0, size), 0);
	close(fd);
}

static void make_room(void)
{
	char path[128];
	snprintf(path, sizeof path, "%s/ballast", mounted);
	assert_int_equal(unlink(path), 0);
}

static void begin(struct world *w)
{
	world_init(w);
	dir_remove(w->directory);
	snprintf(w->directory, sizeof w->directory, "%s/store", mounted);
	assert_int_equal(world_open(w), 0);
}

// What must not be refused has room of its own; the rest is refused before it, and taken up again after.
static void little_room_refuses_but_keeps_what_must_be_kept(void **unused)
{
	struct world w;
	begin(&w);
	assert_int_equal(world_register(&w, 1), OUTCOME_DONE);
	fill_up(STORE_RESERVE_BYTES / 2);
	assert_int_equal(world_register(&w, 2), OUTCOME_STORE_FULL);
	assert_int_equal(world_job(&w, 1), OUTCOME_STORE_FULL);
	assert_int_equal(world_expire(&w, 0), OUTCOME_DONE);
	make_room();
	assert_int_equal(world_register(&w, 2), OUTCOME_DONE);
	struct bytes_writer before = world_image(&w);
	world_close(&w);
	assert_int_equal(world_recover(&w), 0);
	struct bytes_writer after = world_image(&w);
	assert_int_equal(after.size, before.size);
	assert_memory_equal(after.data, before.data, before.size);
	bytes_writer_free(&after);
	bytes_writer_free(&before);
	world_close(&w);
}

static void a_snapshot_without_room_leaves_nothing_behind(void **unused)
{
	struct world w;
	char unfinished[128];
	begin(&w);
	assert_int_equal(world_register(&w, 3), OUTCOME_DONE);
	fill_up(0);
	assert_int_equal(store_snapshot(w.store, w.state), -ENOSPC);
	assert_int_equal(atomic_load(&store_counters(w.store)->snapshot_failures), 1);
	snprintf(unfinished, sizeof unfinished, "%s/snapshot.new", w.directory);
	assert_int_equal(access(unfinished, F_OK), -1);
	make_room();
	assert_int_equal(store_snapshot(w.store, w.state), 0);
	world_close(&w);
	assert_int_equal(world_recover(&w), 0);
	assert_true(w.recovery.snapshot_index > 0);
	world_close(&w);
}

static int count_batch(void *context, const struct journal_batch *batch)
{
	*(uint64_t *)context = batch->first_index;
	return 0;
}

// To the last byte: refused without a trace, as often as it is tried, and then goes on.
static void a_log_on_a_full_disk_refuses_and_goes_on(void **unused)
{
	static uint8_t batch[100000];
	char message[512], path[128];
	struct complaint complaint = {message, sizeof message};
	snprintf(path, sizeof path, "%s/log-alone", mounted);
	assert_int_equal(mkdir(path, 0700), 0);
	struct journal_settings settings = {path, 1ll << 30, false, true};
	struct journal *j;
	assert_int_equal(journal_open(&settings, &j, &complaint), 0);
	uint64_t index = 1, last = 0;
	int error;
	fill_up(3 << 20);
	while ((error = journal_append(j, index, 1, batch, sizeof batch)) == 0)
		index++;
	assert_int_equal(error, -ENOSPC);
	assert_int_equal(journal_append(j, index, 1, batch, sizeof batch), -ENOSPC);
	assert_true(journal_room_bytes(j) < 1 << 20);
	journal_cut(j, index - 1); // what is spare has its space already
	assert_in_range(journal_room_bytes(j), 1 << 20, 8 << 20);
	make_room();
	for (int i = 0; i < 50; i++, index++)
		assert_int_equal(journal_append(j, index, 1, batch, sizeof batch), 0);
	journal_close(j);
	assert_int_equal(journal_open(&settings, &j, &complaint), 0);
	assert_int_equal(
		journal_walk(j, journal_first_index(j) - 1, count_batch, &last, &complaint), 0);
	assert_int_equal(last, index - 1);
	journal_close(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(little_room_refuses_but_keeps_what_must_be_kept),
		cmocka_unit_test(a_snapshot_without_room_leaves_nothing_behind),
		cmocka_unit_test(a_log_on_a_full_disk_refuses_and_goes_on),
	};
	log_configure(LOG_ERROR, false);
	if (mount_small() < 0) {
		printf("cannot mount a small file system: %s\n", strerror(errno));
		rmdir(mounted);
		return SKIPPED;
	}
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	return unmount_small() < 0 ? 1 : failed;
}
