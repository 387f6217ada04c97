#include "tools/agent/base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int file_write(const char *path, int flags, mode_t mode, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, mode), error = 0;
	if (fd < 0)
		return -errno;
	ssize_t written = write(fd, bytes, size);
	if (written != (ssize_t)size)
		error = written < 0 ? -errno : -ENOSPC;
	return close(fd) < 0 && !error ? -errno : error;
}
