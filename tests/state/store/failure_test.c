// A store whose log could not be written: marked, refused, and read from the disk.
#include "state/store/failure.h"
#include "state/store/store.h"
#include "tests/state/store/store_dir.h"
#include "tests/support/broken_listing.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cmocka.h>

#define TMPFS 0x01021994

static char message[600];

static int open_store(const char *directory, bool read_only, struct store **store)
{
	struct store_settings settings = {.directory = directory,
		.map_bytes = 512 << 20,
		.read_only = read_only,
		.sync = true,
		.snapshot_log_bytes = 1 << 30};
	return store_open(&settings, store, message, sizeof message);
}

static void a_failed_log_stops_every_start_until_somebody_looked(void **unused)
{
	const char *directory = dir_create();
	char path[96];
	struct store *store;
	assert_int_equal(open_store(directory, false, &store), 0);
	store_note_failure(store, -EIO);
	store_close(store);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(open_store(directory, false, &store), -EIO);
		assert_null(store);
		assert_non_null(strstr(message, "failed says: a write of the log failed: "));
		assert_non_null(strstr(message, "then remove that file"));
	}
	assert_int_equal(open_store(directory, true, &store), 0); // to look at it
	store_close(store);
	snprintf(path, sizeof path, "%s/failed", directory);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(open_store(directory, false, &store), 0);
	store_close(store);
	dir_remove(directory);
}

// Pages of a file that the kernel keeps in memory.
static size_t pages_kept(int fd, size_t size)
{
	unsigned char kept[256] = {0};
	size_t count = 0, pages = (size + 4095) / 4096;
	assert_true(pages <= sizeof kept);
	void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	assert_int_equal(mincore(map, size, kept), 0);
	munmap(map, size);
	for (size_t i = 0; i < pages; i++)
		count += kept[i] & 1;
	return count;
}

static void a_start_reads_from_the_disk(void **unused)
{
	const char *directory = dir_create();
	char path[96];
	static char bytes[128 * 1024];
	struct statfs file_system;
	assert_int_equal(statfs(directory, &file_system), 0);
	if (file_system.f_type == TMPFS)
		skip();
	snprintf(path, sizeof path, "%s/snapshot-1", directory);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
	assert_int_equal(fsync(fd), 0);
	assert_int_equal(pages_kept(fd, sizeof bytes), sizeof bytes / 4096);
	assert_int_equal(
		failure_forget_pages(directory, &(struct complaint){message, sizeof message}), 0);
	assert_int_equal(pages_kept(fd, sizeof bytes), 0);
	close(fd);
	dir_remove(directory);
}

// Nobody knows then which of them were read from the disk.
static void files_that_cannot_be_listed_stop_a_start(void **unused)
{
	const char *directory = dir_create();
	struct store *store;
	assert_int_equal(open_store(directory, false, &store), 0);
	store_close(store);
	listings_break = true;
	assert_int_equal(open_store(directory, false, &store), -EIO);
	listings_break = false;
	assert_non_null(strstr(message, "cannot list the store's files in /"));
	assert_int_equal(open_store(directory, false, &store), 0);
	store_close(store);
	dir_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failed_log_stops_every_start_until_somebody_looked),
		cmocka_unit_test(a_start_reads_from_the_disk),
		cmocka_unit_test(files_that_cannot_be_listed_stop_a_start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
