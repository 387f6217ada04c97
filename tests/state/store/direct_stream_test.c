// A file that is written past the page cache: it holds what was written, of whatever size.
#include "state/base/prng.h"
#include "state/store/direct_stream.h"
#include "tests/state/store/store_dir.h"
#include <errno.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB ((size_t)1024 * 1024)

static size_t write_bytes_most = SIZE_MAX; // that one call takes
static int write_error;                    // of every call; 0: none

// Stands before the system's.
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	size_t taken = size < write_bytes_most ? size : write_bytes_most;
	if (write_error) {
		errno = write_error;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, data, taken, offset);
}

struct written {
	char directory[64], path[128];
	uint8_t *data;
	size_t size;
};

static void begin(struct written *f, size_t size, uint64_t seed)
{
	struct prng random;
	prng_seed(&random, seed);
	snprintf(f->directory, sizeof f->directory, "%s", dir_create());
	snprintf(f->path, sizeof f->path, "%s/stream", f->directory);
	f->size = size;
	f->data = malloc(size + 1);
	for (size_t i = 0; i < size; i++)
		f->data[i] = (uint8_t)prng_u64(&random);
}

static void end(struct written *f)
{
	free(f->data);
	dir_remove(f->directory);
}

static int write_in_parts(struct written *f, size_t most, uint64_t seed)
{
	struct prng random;
	prng_seed(&random, seed);
	struct direct_stream *s;
	assert_int_equal(direct_stream_create(f->path, &s), 0);
	for (size_t at = 0; at < f->size;) {
		size_t part = prng_below(&random, most) + 1;
		part = part < f->size - at ? part : f->size - at;
		direct_stream_write(s, f->data + at, part);
		at += part;
	}
	return direct_stream_close(s);
}

static void check_whole(const struct written *f)
{
	size_t size;
	uint8_t *read = file_read(f->path, &size);
	assert_int_equal(size, f->size);
	assert_memory_equal(read, f->data, size);
	free(read);
}

static void what_was_written_is_read(void **unused)
{
	const size_t sizes[] = {0, 1, 4095, 4096, 4097, MIB - 1, MIB, MIB + 1, 3 * MIB,
		3 * MIB + 4096, 3 * MIB + 17};
	for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (uint32_t most = 1000; most < 3 * MIB; most *= 37) {
			struct written f;
			begin(&f, sizes[i], i);
			assert_int_equal(write_in_parts(&f, most, i + most), 0);
			check_whole(&f);
			end(&f);
		}
}

// Behind a part that ends anywhere, the rest cannot go past the page cache any more.
static void a_disk_that_takes_parts_gets_all_of_them(void **unused)
{
	const size_t parts[] = {4096, 100 * 4096, 5000, 300001};
	for (uint32_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		struct written f;
		begin(&f, 2 * MIB + 17, i);
		write_bytes_most = parts[i];
		int error = write_in_parts(&f, MIB, i);
		write_bytes_most = SIZE_MAX;
		assert_int_equal(error, 0);
		check_whole(&f);
		end(&f);
	}
}

// EINVAL is also what a way past the page cache is refused with; through it, it is an error as others are.
static void a_disk_that_refuses_everything_is_told(void **unused)
{
	const int errors[] = {EINVAL, EIO, ENOSPC};
	for (uint32_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		struct written f;
		begin(&f, 2 * MIB + 17, i);
		write_error = errors[i];
		int error = write_in_parts(&f, MIB, i);
		write_error = 0;
		assert_int_equal(error, -errors[i]);
		end(&f);
	}
}

static void a_longer_file_of_before_is_gone(void **unused)
{
	struct written f;
	begin(&f, 2 * MIB, 1);
	assert_int_equal(write_in_parts(&f, MIB, 1), 0);
	f.size = 5000;
	assert_int_equal(write_in_parts(&f, MIB, 1), 0);
	check_whole(&f);
	end(&f);
}

static size_t pages_in_the_cache(const struct written *f)
{
	FILE *file = fopen(f->path, "re");
	uint8_t *pages = calloc(1, f->size / 4096);
	void *map = mmap(NULL, f->size, PROT_READ, MAP_SHARED, fileno(file), 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(mincore(map, f->size, pages), 0);
	size_t count = 0;
	for (size_t i = 0; i < f->size / 4096; i++)
		count += pages[i] & 1;
	munmap(map, f->size);
	fclose(file);
	free(pages);
	return count;
}

static bool has_a_way_past_the_cache(const struct written *f)
{
	struct statfs fs;
	assert_int_equal(statfs(f->directory, &fs), 0);
	return fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_SUPER_MAGIC;
}

static void it_takes_no_room_of_the_page_cache(void **unused)
{
	struct written f;
	begin(&f, 4 * MIB, 2);
	assert_int_equal(write_in_parts(&f, MIB, 2), 0);
	size_t pages = pages_in_the_cache(&f);
	bool is_shown = has_a_way_past_the_cache(&f);
	end(&f);
	if (!is_shown)
		skip();
	assert_in_range(pages, 0, 8);
}

static void the_first_error_is_told(void **unused)
{
	struct written f;
	struct rlimit before, few;
	begin(&f, 4 * MIB, 3);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	few = (struct rlimit){2 * MIB + 100, before.rlim_max};
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	int error = write_in_parts(&f, 100000, 3);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(error, -EFBIG);
	end(&f);

	struct direct_stream *s;
	assert_int_equal(direct_stream_create("/nowhere/at/all", &s), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(a_disk_that_takes_parts_gets_all_of_them),
		cmocka_unit_test(a_disk_that_refuses_everything_is_told),
		cmocka_unit_test(a_longer_file_of_before_is_gone),
		cmocka_unit_test(it_takes_no_room_of_the_page_cache),
		cmocka_unit_test(the_first_error_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
