// A disk that fails: the sync of the n-th append, for every n; writes that are taken in parts; no space for long. This
// program's calls stand before the system's. What a file system that writes past the page cache says by its one call,
// another one says by the sync after its write: both are made.
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/store/journal.h"
#include "tests/state/store/numbered_batches.h"
#include "tests/state/store/store_dir.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cmocka.h>

int fdatasync(int fd);

static int syncs_left = -1; // until one fails; -1: none does
static int sync_error;
static uint32_t syncs;

static bool sync_fails(void)
{
	syncs++;
	if (syncs_left < 0 || syncs_left-- > 0)
		return false;
	errno = sync_error;
	return true;
}

int fdatasync(int fd)
{
	return sync_fails() ? -1 : (int)syscall(SYS_fdatasync, fd);
}

static _Atomic size_t write_bytes_most = SIZE_MAX; // that one call takes
static bool has_direct;                            // the file system writes past the page cache
static uint32_t directs;                           // writes that went there

ssize_t pwritev2(int fd, const struct iovec *pieces, int count, off_t offset, int flags)
{
	if (!has_direct) {
		errno = EOPNOTSUPP;
		return -1;
	}
	size_t most = atomic_load(&write_bytes_most);
	if (most < pieces->iov_len)
		return syscall(SYS_pwrite64, fd, pieces->iov_base, most / 4096 * 4096, offset);
	directs++;
	return sync_fails()
		       ? -1
		       : syscall(SYS_pwritev2, fd, pieces, (long)count, offset, 0L, (long)flags);
}

ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset)
{
	size_t most = atomic_load(&write_bytes_most);
	if (most == SIZE_MAX)
		return syscall(SYS_pwritev, fd, pieces, (long)count, offset, 0L);
	most = pieces->iov_len < most ? pieces->iov_len : most;
	return syscall(SYS_pwrite64, fd, pieces->iov_base, most, offset);
}

static atomic_bool space_is_out;

int fallocate(int fd, int mode, off_t offset, off_t size)
{
	if (!atomic_load(&space_is_out))
		return (int)syscall(SYS_fallocate, fd, (long)mode, offset, size);
	errno = ENOSPC;
	return -1;
}

static int unlink_error;

int unlink(const char *path)
{
	if (!unlink_error)
		return (int)syscall(SYS_unlink, path);
	errno = unlink_error;
	return -1;
}

static char message[512];
static const struct complaint complaint = {message, sizeof message};

static struct journal *open_at(const char *path)
{
	struct journal *j;
	struct journal_settings settings = {path, 256ll << 20, false, true};
	if (journal_open(&settings, &j, &complaint) < 0)
		fail_msg("%s", message);
	return j;
}

// Every fourth batch is so large that a segment ends after three of them.
static int append(struct journal *j, uint64_t index)
{
	static const uint8_t batch[300000];
	return journal_append(j, index, 1, batch, index % 4 == 0 ? sizeof batch : 3000);
}

static int note_index(void *context, const struct journal_batch *batch)
{
	*(uint64_t *)context = batch->first_index;
	return 0;
}

static uint64_t last_index(const char *path)
{
	uint64_t last = 0;
	struct journal *j = open_at(path);
	if (journal_walk(j, 0, note_index, &last, &complaint) < 0)
		fail_msg("%s", message);
	journal_close(j);
	return last;
}

static bool is_in_memory(const char *path)
{
	struct statfs info;
	assert_int_equal(statfs(path, &info), 0);
	return info.f_type == TMPFS_MAGIC;
}

// Three of four batches are small enough to go past the page cache, where the file system of this test has such a way.
static void every_append_is_one_sync(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path);
	directs = 0;
	for (uint64_t i = 1; i <= 40; i++) {
		uint32_t before = syncs;
		assert_int_equal(append(j, i), 0);
		assert_int_equal(syncs, before + 1);
	}
	if (!is_in_memory(path))
		assert_int_equal(directs, has_direct ? 30 : 0);
	journal_close(j);
	assert_int_equal(last_index(path), 40);
	dir_remove(path);
}

// The first error is the last word: a disk that works again is not believed, and nothing that was
// acknowledged is missing afterwards.
static void a_failed_sync_is_never_tried_again(void **unused)
{
	for (int n = 0; n < 24; n++) {
		const char *path = dir_create();
		struct journal *j = open_at(path);
		uint64_t acknowledged = 0;
		int error = 0;
		syncs_left = n;
		sync_error = EIO;
		for (uint64_t i = 1; i <= 30 && error == 0; i++) {
			error = append(j, i);
			acknowledged = error == 0 ? i : acknowledged;
		}
		assert_int_equal(error, -EIO);
		syncs_left = -1;
		uint32_t before = syncs;
		assert_int_equal(append(j, acknowledged + 1), -EIO);
		assert_int_equal(syncs, before);
		journal_close(j);
		uint64_t last = last_index(path);
		assert_true(last == acknowledged || last == acknowledged + 1);
		dir_remove(path);
	}
}

// A file system that finds out only at the sync that it is full: the batch is written anew, whole.
static void a_sync_that_finds_no_space_may_be_tried_again(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path);
	assert_int_equal(append(j, 1), 0);
	syncs_left = 0;
	sync_error = ENOSPC;
	assert_int_equal(append(j, 2), -ENOSPC);
	assert_int_equal(append(j, 2), 0);
	assert_int_equal(append(j, 3), 0);
	journal_close(j);
	assert_int_equal(last_index(path), 3);
	dir_remove(path);
}

// Also of the first batch of a segment, when there are several to choose from.
static void another_try_goes_to_the_same_place(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path);
	uint64_t index = 1;
	for (; index <= 60; index++)
		assert_int_equal(append(j, index), 0);
	journal_cut(j, index - 1);
	for (; index <= 120; index++) {
		syncs_left = 0;
		sync_error = ENOSPC;
		assert_int_equal(append(j, index), -ENOSPC);
		assert_int_equal(append(j, index), 0);
	}
	journal_close(j);
	j = open_at(path);
	uint64_t last = 0;
	assert_int_equal(journal_walk(j, 60, note_index, &last, &complaint), 0);
	assert_int_equal(last, index - 1);
	journal_close(j);
	dir_remove(path);
}

static void what_the_disk_takes_in_parts_is_written_whole(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path);
	struct numbered_seen seen;
	uint64_t index = 1;
	atomic_store(&write_bytes_most, 1000);
	for (uint32_t i = 0; i < 50; i++)
		assert_int_equal(numbered_append(j, &index), 0);
	atomic_store(&write_bytes_most, SIZE_MAX);
	journal_close(j);
	j = open_at(path);
	assert_int_equal(numbered_walk(j, 0, &seen, &complaint), 0);
	assert_false(seen.wrong);
	assert_int_equal(seen.batches, 50);
	journal_close(j);
	dir_remove(path);
}

// A disk that takes nothing and says no error; the log is ended as by any other.
static void a_disk_that_takes_nothing_has_failed(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path);
	assert_int_equal(append(j, 1), 0);
	atomic_store(&write_bytes_most, 0);
	assert_int_equal(append(j, 2), -EIO);
	atomic_store(&write_bytes_most, SIZE_MAX);
	assert_int_equal(append(j, 2), -EIO); // what it holds is not known
	journal_close(j);
	assert_int_equal(last_index(path), 1);
	dir_remove(path);
}

// A large batch wants the space of spare segments, which are too small for it.
static void space_that_is_not_given_back_is_not_counted_on(void **unused)
{
	static const uint8_t large[6 << 20];
	const char *path = dir_create();
	struct journal_settings settings = {path, 64ll << 20, false, false};
	struct journal *j;
	uint64_t index = 1;
	assert_int_equal(journal_open(&settings, &j, &complaint), 0);
	while (journal_append(j, index, 1, large, 1 << 20) == 0)
		index++;
	assert_true(index > 30);
	journal_cut(j, index - 1);
	unlink_error = EPERM;
	assert_int_equal(journal_append(j, index, 1, large, sizeof large), -ENOSPC);
	unlink_error = 0;
	assert_int_equal(journal_append(j, index, 1, large, sizeof large), 0);
	journal_close(j);
	assert_int_equal(journal_open(&settings, &j, &complaint), 0);
	uint64_t last = 0;
	assert_int_equal(journal_walk(j, index - 1, note_index, &last, &complaint), 0);
	assert_int_equal(last, index);
	journal_close(j);
	dir_remove(path);
}

// Whoever has no file left for the next segment has no room; another try goes to the same one.
static void a_segment_that_cannot_be_opened_waits(void **unused)
{
	static const uint8_t batch[300000];
	const char *path = dir_create();
	struct journal *j = open_at(path);
	struct rlimit before;
	uint64_t index = 1;
	int error;
	for (; index <= 60; index++)
		assert_int_equal(journal_append(j, index, 1, batch, sizeof batch), 0);
	journal_cut(j, index - 1); // there are spare ones now, closed
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, before.rlim_max}), 0);
	while ((error = journal_append(j, index, 1, batch, sizeof batch)) == 0)
		index++;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(error, -ENOSPC);
	assert_int_equal(journal_append(j, index, 1, batch, sizeof batch), 0);
	journal_close(j);
	j = open_at(path);
	uint64_t last = 0;
	assert_int_equal(journal_walk(j, 60, note_index, &last, &complaint), 0);
	assert_int_equal(last, index);
	journal_close(j);
	dir_remove(path);
}

// The mark of a closed log is of no consequence.
static void a_log_that_cannot_be_marked_as_closed_is_whole(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path);
	assert_int_equal(append(j, 1), 0);
	sync_error = EIO;
	syncs_left = 0;
	journal_close(j);
	assert_int_equal(syncs_left, -1); // it came to that
	assert_int_equal(last_index(path), 1);
	dir_remove(path);
}

static uint32_t files_of_log(const char *path)
{
	char log[100];
	uint32_t count = 0;
	snprintf(log, sizeof log, "%s/log", path);
	DIR *files = opendir(log);
	while (readdir(files))
		count++;
	closedir(files);
	return count;
}

// However often a batch found no space: segments that could not be made are neither part of the log nor left behind.
static void a_disk_that_was_full_for_long_is_used_again(void **unused)
{
	const char *path = dir_create();
	struct journal *j = open_at(path);
	uint64_t index = 1;
	atomic_store(&space_is_out, true);
	while (append(j, index) == 0)
		index++;
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(append(j, index), -ENOSPC);
	assert_in_range(files_of_log(path), 3, 9); // two of which are folders
	atomic_store(&space_is_out, false);
	assert_int_equal(append(j, index), 0);
	journal_close(j);
	assert_int_equal(last_index(path), index);
	dir_remove(path);
}

static int with_direct(void **unused)
{
	has_direct = true;
	return 0;
}

static int without_direct(void **unused)
{
	has_direct = false;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_append_is_one_sync),
		cmocka_unit_test(a_failed_sync_is_never_tried_again),
		cmocka_unit_test(a_sync_that_finds_no_space_may_be_tried_again),
		cmocka_unit_test(another_try_goes_to_the_same_place),
		cmocka_unit_test(what_the_disk_takes_in_parts_is_written_whole),
		cmocka_unit_test(a_disk_that_takes_nothing_has_failed),
		cmocka_unit_test(space_that_is_not_given_back_is_not_counted_on),
		cmocka_unit_test(a_segment_that_cannot_be_opened_waits),
		cmocka_unit_test(a_log_that_cannot_be_marked_as_closed_is_whole),
		cmocka_unit_test(a_disk_that_was_full_for_long_is_used_again),
	};
	log_configure(LOG_ERROR, false);
	int failed = cmocka_run_group_tests_name("past the page cache", tests, with_direct, NULL);
	return failed +
	       cmocka_run_group_tests_name("through the page cache", tests, without_direct, NULL);
}
