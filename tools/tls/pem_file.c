#include "tools/tls/pem_file.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/base/writing/write_whole.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void pem_text_free(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

// The bytes of an open file. NULL and -errno in *error.
static char *read_open(int fd, int *error)
{
	struct stat found;
	*error = fstat(fd, &found) != 0                      ? -errno
		 : S_ISDIR(found.st_mode)                    ? -EISDIR
		 : found.st_size > (off_t)PEM_FILE_BYTES_MAX ? -EFBIG
							     : 0;
	if (*error)
		return NULL;
	// A byte more than the file has shows one that grows, and ends the text.
	size_t room = (size_t)found.st_size + 1, size = 0;
	char *text = memory_take(room);
	ssize_t got;
	while (size < room && (got = read(fd, text + size, room - size)) > 0)
		size += (size_t)got;
	*error = size == room ? -EFBIG : got < 0 ? -errno : 0;
	if (!*error)
		return text;
	text[room - 1] = '\0';
	pem_text_free(text);
	return NULL;
}

char *pem_file_read(const char *what, const char *path, char *message, uint32_t message_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK),
	    error = fd < 0 ? -errno : 0;
	char *text = fd < 0 ? NULL : read_open(fd, &error);
	if (fd >= 0)
		close(fd);
	if (!text)
		snprintf(message, message_size,
			"%s: %s cannot be read: %s; name a file of PEM that this user may read",
			what, path, error_text(error));
	return text;
}

int pem_file_write(const char *path, unsigned mode, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	int error = write_whole(fd, text, strlen(text));
	// What the umask took away is given back: the mode is the caller's word.
	if (!error && (fchmod(fd, mode) != 0 || fsync(fd) != 0))
		error = -errno;
	if (close(fd) != 0 && !error)
		error = -errno;
	if (error)
		unlink(path);
	return error;
}
