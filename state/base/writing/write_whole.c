#include "state/base/writing/write_whole.h"
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

int write_whole(int fd, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size > 0) {
		ssize_t n = write(fd, at, size);
		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}
