#include "tests/state/store/store_dir.h"
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

const char *dir_create(void)
{
	static char path[64];
	snprintf(path, sizeof path, "/tmp/berth-store-XXXXXX");
	assert_non_null(mkdtemp(path));
	return path;
}

static int remove_one(const char *path, const struct stat *stat_, int type, struct FTW *ftw)
{
	return remove(path);
}

void dir_remove(const char *path)
{
	assert_int_equal(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static size_t counted_bytes;

static int count_one(const char *path, const struct stat *stat_, int type, struct FTW *ftw)
{
	counted_bytes += type == FTW_F ? (size_t)stat_->st_size : 0;
	return 0;
}

size_t dir_bytes(const char *path)
{
	counted_bytes = 0;
	assert_int_equal(nftw(path, count_one, 8, FTW_PHYS), 0);
	return counted_bytes;
}

static char copy_from[256], copy_to[256];

static int copy_one(const char *path, const struct stat *stat_, int type, struct FTW *ftw)
{
	char to[512];
	snprintf(to, sizeof to, "%s%s", copy_to, path + strlen(copy_from));
	if (type == FTW_D) {
		mkdir(to, 0750);
		return 0;
	}
	size_t size;
	uint8_t *data = file_read(path, &size);
	file_write(to, data, size);
	free(data);
	return 0;
}

void dir_copy(const char *from, const char *to)
{
	snprintf(copy_from, sizeof copy_from, "%s", from);
	snprintf(copy_to, sizeof copy_to, "%s", to);
	assert_int_equal(nftw(from, copy_one, 8, FTW_PHYS), 0);
}

uint8_t *file_read(const char *path, size_t *size)
{
	struct stat stat_;
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &stat_), 0);
	uint8_t *data = malloc((size_t)stat_.st_size + 1);
	*size = (size_t)read(fd, data, (size_t)stat_.st_size);
	assert_int_equal(*size, stat_.st_size);
	close(fd);
	return data;
}

void file_write(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0640);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
}

void file_write_byte(const char *path, size_t at, uint8_t byte)
{
	int fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
	close(fd);
}
