#include "tools/agent/vm/qcow2.h"
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "qemu-img"
#define MAGIC 0x514649fbu // "QFI\xfb"
#define DISK_BYTES_MAX (64ull << 40)
#define PATH_BYTES_MAX (QCOW2_PATH_BYTES - 1)

struct image {
	char path[PATH_MAX]; // absolute, without links
	const char *format;
	uint64_t bytes; // size of the disk in the image
};

// No machine writes to an operator's image, so that its first bytes can be believed.
static int find_image(const char *name, struct image *image)
{
	struct {
		uint32_t magic, version;
		uint64_t unused[2], bytes;
	} header = {0};
	struct stat st;
	if (!realpath(name, image->path))
		return -errno;
	int fd = open(image->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error = 0;
	if (fd < 0)
		return -errno;
	ssize_t n = pread(fd, &header, sizeof header, 0);
	if (n < 0 || fstat(fd, &st) < 0)
		error = -errno;
	else if (!S_ISREG(st.st_mode))
		error = -EISDIR;
	close(fd);
	if (error)
		return error;
	bool is_qcow2 = n == sizeof header && be32toh(header.magic) == MAGIC;
	image->format = is_qcow2 ? "qcow2" : "raw";
	image->bytes = is_qcow2 ? be64toh(header.bytes) : (uint64_t)st.st_size;
	if (image->bytes > DISK_BYTES_MAX || strlen(image->path) > PATH_BYTES_MAX)
		return -EFBIG;
	return image->bytes == 0 ? -ENODATA : 0;
}

static int refuse_disk(int error, const char *path, char *message, uint32_t message_size)
{
	snprintf(message, message_size, "cannot make the disk %.200s: %s", path, strerror(-error));
	return error;
}

// qemu-img would replace an existing file.
static int make_empty(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	close(fd); // it has nothing that could be lost
	return 0;
}

// Starts qemu-img with its error output into a pipe. 0, or a positive errno.
static int spawn_program(char *const *arguments, int error_fd, pid_t *child)
{
	char *const environment[] = {(char[]){"PATH=/usr/bin:/bin"}, (char[]){"LC_ALL=C"}, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, pipe_signal;
	sigemptyset(&none);
	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &pipe_signal);
	int error = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
	error = error ? error : posix_spawn_file_actions_adddup2(&files, 0, 1);
	error = error ? error : posix_spawn_file_actions_adddup2(&files, error_fd, 2);
	error = error ? error
		      : posix_spawnp(child, PROGRAM, &files, &attributes, arguments, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return error;
}

// Keeps the first line that qemu-img writes, but reads all, so that qemu-img can end.
static void read_line(int fd, char line[static 256])
{
	char more[256];
	size_t size = 0;
	ssize_t n;
	while ((n = read(fd, more, sizeof more)) > 0 || (n < 0 && errno == EINTR)) {
		size_t kept = n > 0 ? (size_t)n : 0, room = 255 - size;
		kept = kept < room ? kept : room;
		memcpy(line + size, more, kept);
		size += kept;
	}
	line[size] = '\0';
	line[strcspn(line, "\n")] = '\0';
}

static bool has_succeeded(pid_t child)
{
	int status;
	pid_t ended;
	do
		ended = waitpid(child, &status, 0);
	while (ended < 0 && errno == EINTR);
	return ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// qemu-img does not open the image: find_image has checked it.
static int run_program(const char *path, const struct image *image, uint64_t bytes, char *message,
	uint32_t message_size)
{
	char size[24], line[256];
	char *const arguments[] = {(char[]){PROGRAM}, (char[]){"create"}, (char[]){"-q"},
		(char[]){"-u"}, (char[]){"-f"}, (char[]){"qcow2"}, (char[]){"-F"},
		(char *)image->format, (char[]){"-b"}, (char *)image->path, (char *)path, size,
		NULL};
	pid_t child;
	int ends[2];
	snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return refuse_disk(-errno, path, message, message_size);
	int error = spawn_program(arguments, ends[1], &child);
	close(ends[1]);
	if (!error)
		read_line(ends[0], line);
	close(ends[0]);
	if (error == ENOENT) {
		snprintf(message, message_size,
			"cannot make the disk %.200s: " PROGRAM " is not installed on this worker",
			path);
		return -ENOPKG;
	}
	if (error)
		return refuse_disk(-error, path, message, message_size);
	if (has_succeeded(child))
		return 0;
	snprintf(message, message_size, "cannot make the disk %.200s: %s", path,
		*line ? line : PROGRAM " failed");
	return -EIO;
}

int qcow2_create(const char *path, const char *name, uint64_t least_bytes, char *message,
	uint32_t message_size)
{
	struct image image;
	int error = find_image(name, &image);
	if (error) {
		snprintf(message, message_size, "cannot use the image %.200s: %s", name,
			strerror(-error));
		return error;
	}
	uint64_t bytes = image.bytes > least_bytes ? image.bytes : least_bytes;
	if (bytes > DISK_BYTES_MAX)
		return refuse_disk(-EFBIG, path, message, message_size);
	error = make_empty(path);
	if (error)
		return refuse_disk(error, path, message, message_size);
	error = run_program(path, &image, (bytes + 511) / 512 * 512, message, message_size);
	if (error)
		unlink(path);
	return error;
}

bool qcow2_origin(const char *path, char image[static QCOW2_PATH_BYTES])
{
	struct {
		uint32_t magic, version;
		uint64_t name_at;
		uint32_t name_bytes, cluster_bits;
	} header = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return false;
	bool is_disk = pread(fd, &header, sizeof header, 0) == sizeof header &&
		       be32toh(header.magic) == MAGIC;
	size_t size = be32toh(header.name_bytes);
	is_disk = is_disk && size > 0 && size <= PATH_BYTES_MAX &&
		  pread(fd, image, size, (off_t)be64toh(header.name_at)) == (ssize_t)size;
	close(fd);
	image[is_disk ? size : 0] = '\0';
	return is_disk;
}
