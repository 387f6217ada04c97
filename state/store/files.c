#include "state/store/files.h"
#include "state/base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
	int error = fsync(fd) < 0 ? -errno : 0;
	close(fd);
	return error;
}
