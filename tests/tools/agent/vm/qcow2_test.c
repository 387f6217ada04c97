// Disks by their first bytes and by what qemu-img finds in them; that qemu takes them is shown by qemu_test.c.
#include "tools/agent/vm/qcow2.h"
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

static void check_disk(uint64_t disk_bytes)
{
	char *const arguments[] = {
		(char[]){"qemu-img"}, (char[]){"check"}, (char[]){"-q"}, disk, NULL};
	struct stat st;
	pid_t child;
	int status;
	assert_true(read_disk() >= 512);
	assert_memory_equal(bytes, "QFI\xfb", 4);
	assert_int_equal(u32(4), 3);
	assert_int_equal(u64(24), disk_bytes);
	assert_int_equal(stat(disk, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(posix_spawnp(&child, "qemu-img", NULL, NULL, arguments, environ), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

// The extension of the header that names the image's format stands first.
static void check_image(const char *format)
{
	char real[PATH_MAX];
	uint32_t at = u32(100);
	assert_non_null(realpath(image, real));
	assert_int_equal(u32(16), strlen(real));
	assert_memory_equal(bytes + u64(8), real, strlen(real));
	assert_int_equal(u32(at), 0xe2792aca);
	assert_int_equal(u32(at + 4), strlen(format));
	assert_memory_equal(bytes + at + 8, format, strlen(format));
}

static void it_is_as_large_as_its_image(void **unused)
{
	write_image(3 * 512 + 1);
	assert_int_equal(create(0), 0);
	check_disk(4 * 512);
	check_image("raw");
	write_image(5 * (off_t)GIB);
	unlink(disk);
	assert_int_equal(create(2 * GIB), 0);
	check_disk(5 * GIB);
}

static void it_may_be_larger(void **unused)
{
	write_image(512);
	assert_int_equal(create(9000 * GIB), 0);
	check_disk(9000 * GIB);
}

static void its_image_may_be_such_a_disk(void **unused)
{
	write_image(1 << 20);
	assert_int_equal(create(7 * GIB), 0);
	assert_int_equal(rename(disk, image), 0);
	assert_int_equal(create(0), 0);
	check_disk(7 * GIB);
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

// What an image says of its disk is believed, but for what no disk has.
static void an_image_of_too_large_a_disk_is_refused(void **unused)
{
	const uint64_t header[4] = {htobe64(0x514649fb00000003), 0, 0, htobe64(65 * 1024 * GIB)};
	int fd = open(image, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, header, sizeof header), sizeof header);
	close(fd);
	assert_int_equal(create(0), -EFBIG);
	assert_non_null(strstr(message, "cannot use the image"));
}

// There is room for one file at a time, and not for both ends of a pipe.
static void without_descriptors_it_is_refused(void **unused)
{
	struct rlimit whole, few;
	int first = dup(STDERR_FILENO);
	write_image(512);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &whole), 0);
	few = (struct rlimit){(rlim_t)first + 1, whole.rlim_max};
	close(first);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(create(0), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &whole), 0);
	assert_non_null(strstr(message, "cannot make the disk"));
	assert_int_equal(access(disk, F_OK), -1);
}

static void without_the_program_it_says_so(void **unused)
{
	char *path = strdup(getenv("PATH"));
	write_image(512);
	setenv("PATH", folder, 1);
	assert_int_equal(create(0), -ENOPKG);
	assert_non_null(strstr(message, "qemu-img is not installed"));
	setenv("PATH", path, 1);
	free(path);
	assert_int_equal(access(disk, F_OK), -1);
}

static void what_the_program_says_is_told(void **unused)
{
	char program[100], *path = strdup(getenv("PATH"));
	write_image(512);
	snprintf(program, sizeof program, "%s/qemu-img", folder);
	FILE *file = fopen(program, "we");
	assert_non_null(file);
	fputs("#!/bin/sh\necho no room >&2\necho more >&2\nexit 1\n", file);
	fclose(file);
	assert_int_equal(chmod(program, 0644), 0);
	setenv("PATH", folder, 1);
	assert_int_equal(create(0), -EACCES);
	assert_non_null(strstr(message, "cannot make the disk"));
	assert_int_equal(chmod(program, 0755), 0);
	assert_int_equal(create(0), -EIO);
	assert_non_null(strstr(message, ": no room"));
	assert_null(strstr(message, "more"));
	setenv("PATH", path, 1);
	free(path);
	unlink(program);
	assert_int_equal(access(disk, F_OK), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(it_is_as_large_as_its_image),
		TEST(it_may_be_larger), TEST(its_image_may_be_such_a_disk),
		TEST(what_is_no_image_is_refused), TEST(an_image_of_too_large_a_disk_is_refused),
		TEST(without_descriptors_it_is_refused), TEST(without_the_program_it_says_so),
		TEST(what_the_program_says_is_told)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
