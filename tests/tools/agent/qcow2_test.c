// Disks by their first bytes; that qemu takes them is shown by qemu_test.c.
#include "tools/agent/vm/qcow2.h"
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define GIB (1ull << 30)

static char folder[64], image[100], disk[100], message[400];
static uint8_t bytes[1 << 20];

static int set_up(void **unused)
{
	snprintf(folder, sizeof folder, "/tmp/berth-qcow2-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(image, sizeof image, "%s/image", folder);
	snprintf(disk, sizeof disk, "%s/disk", folder);
	return 0;
}

static int tear_down(void **unused)
{
	unlink(image);
	unlink(disk);
	return rmdir(folder);
}

static void write_image(off_t size)
{
	int fd = open(image, O_CREAT | O_WRONLY | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	close(fd);
}

static size_t read_disk(void)
{
	FILE *file = fopen(disk, "re");
	assert_non_null(file);
	size_t size = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	return size;
}

static uint32_t u32(size_t at)
{
	uint32_t value;
	memcpy(&value, bytes + at, sizeof value);
	return be32toh(value);
}

static uint64_t u64(size_t at)
{
	uint64_t value;
	memcpy(&value, bytes + at, sizeof value);
	return be64toh(value);
}

static int create(uint64_t least_bytes)
{
	return qcow2_create(disk, image, least_bytes, message, sizeof message);
}

// Follows the tables as the format says: every cluster is counted once, and none holds data.
static void check_tables(uint64_t disk_bytes)
{
	size_t size = read_disk(), clusters = size / 65536;
	assert_int_equal(size % 65536, 0);
	assert_memory_equal(bytes, "QFI\xfb", 4);
	assert_int_equal(u32(4), 3);
	assert_int_equal(u32(20), 16);
	assert_int_equal(u64(24), disk_bytes);
	assert_int_equal(u32(96), 4);
	assert_int_equal(u32(100), 104);
	assert_true((uint64_t)u32(36) * 512 * 1024 * 1024 >= disk_bytes);
	assert_int_equal(u64(40) + ((uint64_t)u32(36) * 8 + 65535) / 65536 * 65536, size);
	uint64_t block = u64(u64(48));
	for (size_t i = 0; i < 32768; i++)
		assert_int_equal(
			bytes[block + 2 * i] << 8 | bytes[block + 2 * i + 1], i < clusters);
	for (uint32_t i = 0; i < u32(36); i++)
		assert_int_equal(u64(u64(40) + 8 * i), 0);
}

static void check_image(const char *format)
{
	char real[PATH_MAX];
	assert_non_null(realpath(image, real));
	assert_int_equal(u32(16), strlen(real));
	assert_memory_equal(bytes + u64(8), real, strlen(real));
	assert_int_equal(u32(104), 0xe2792aca);
	assert_int_equal(u32(108), strlen(format));
	assert_memory_equal(bytes + 112, format, strlen(format));
	assert_int_equal(u64(120), 0);
}

static void it_is_as_large_as_its_image(void **unused)
{
	write_image(3 * 512 + 1);
	assert_int_equal(create(0), 0);
	check_tables(4 * 512);
	check_image("raw");
	write_image(5 * (off_t)GIB);
	unlink(disk);
	assert_int_equal(create(2 * GIB), 0);
	check_tables(5 * GIB);
}

static void it_may_be_larger(void **unused)
{
	write_image(512);
	assert_int_equal(create(9000 * GIB), 0);
	check_tables(9000 * GIB);
}

static void its_image_may_be_such_a_disk(void **unused)
{
	write_image(1 << 20);
	assert_int_equal(create(7 * GIB), 0);
	assert_int_equal(rename(disk, image), 0);
	assert_int_equal(create(0), 0);
	check_tables(7 * GIB);
	check_image("qcow2");
}

static void what_is_no_image_is_refused(void **unused)
{
	assert_int_equal(create(0), -ENOENT);
	assert_non_null(strstr(message, image));
	write_image(0);
	assert_int_equal(create(0), -ENODATA);
	write_image(512);
	assert_int_equal(create(65 * 1024 * GIB), -EFBIG);
	assert_int_equal(create(UINT64_MAX), -EFBIG);
	assert_int_equal(create(0), 0);
	assert_int_equal(create(0), -EEXIST); // another machine's is not taken away
	assert_int_equal(unlink(image), 0);
	assert_int_equal(mkdir(image, 0755), 0);
	unlink(disk);
	assert_int_equal(create(0), -EISDIR);
	assert_int_equal(rmdir(image), 0);
	assert_int_equal(symlink("/dev/zero", image), 0); // it would never end
	assert_int_equal(create(GIB), -EISDIR);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(it_is_as_large_as_its_image),
		TEST(it_may_be_larger), TEST(its_image_may_be_such_a_disk),
		TEST(what_is_no_image_is_refused)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
