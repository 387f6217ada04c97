#include "state/store/files.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *path_of(const char *directory, const char *name)
{
	size_t size = strlen(directory) + strlen(name) + 2;
	char *path = memory_take(size);
	snprintf(path, size, "%s/%s", directory, name);
	return path;
}

int directory_sync(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int error = CAN_FAIL(STORE_SYNC, fsync(fd)) < 0 ? -errno : 0;
	close(fd);
	return error;
}

static int write_durably(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	ssize_t size = (ssize_t)strlen(text);

	if (fd < 0)
		return -errno;
	ssize_t written = write(fd, text, (size_t)size);
	int error = written < 0 || (written == size && fsync(fd) < 0) ? -errno : 0;
	close(fd);
	return error == 0 && written < size ? -ENOSPC : error;
}

int file_replace(const char *directory, const char *name, const char *text)
{
	char *path = path_of(directory, name);
	size_t size = strlen(path) + sizeof ".new";
	char *unfinished = memory_take(size);

	snprintf(unfinished, size, "%s.new", path);
	int error = write_durably(unfinished, text);
	if (error == 0 && rename(unfinished, path) < 0)
		error = -errno;
	if (error == 0)
		error = directory_sync(directory);
	free(unfinished);
	free(path);
	return error;
}
