#include "tools/agent/prepare/inner_path.h"
#include "state/base/writing/write_whole.h"
#include "tools/agent/base/folders.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The allocation's folder holds the task's.
static size_t base_bytes(const struct task_folders *f)
{
	const char *slash = strrchr(f->task, '/');
	return slash ? (size_t)(slash - f->task) : 0;
}

// Adds a part to the path, or takes one off. False: there is none, or no room.
static bool put_part(char inner[static INNER_PATH_BYTES], const char *part, size_t size)
{
	size_t at = strlen(inner);

	if (size == 0 || (size == 1 && part[0] == '.'))
		return true;
	if (size == 2 && part[0] == '.' && part[1] == '.') {
		char *slash = strrchr(inner, '/');
		bool is_empty = at == 0;
		*(slash ? slash : inner) = '\0';
		return !is_empty;
	}
	if (at + size + 2 > INNER_PATH_BYTES)
		return false;
	snprintf(inner + at, INNER_PATH_BYTES - at, "%s%.*s", at ? "/" : "", (int)size, part);
	return true;
}

bool inner_path(const struct task_folders *f, const char *task, const char *path,
	char inner[static INNER_PATH_BYTES])
{
	size_t base = base_bytes(f);

	inner[0] = '\0';
	if (base > 0 && strncmp(path, f->task, base) == 0 && path[base] == '/')
		path += base;
	else if (!put_part(inner, task, strlen(task)))
		return false;
	while (*path) {
		size_t size = strcspn(path, "/");
		if (!put_part(inner, path, size))
			return false;
		path += size + (path[size] == '/');
	}
	return *inner;
}

int inner_open(const struct task_folders *f)
{
	char path[512];

	snprintf(path, sizeof path, "%.*s", (int)base_bytes(f), f->task);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

// The folder that holds it, made if need be, and its name there.
static int open_holder(int top, const char *inner, const char **name, bool makes)
{
	char folder[INNER_PATH_BYTES];
	const char *slash = strrchr(inner, '/');

	*name = slash ? slash + 1 : inner;
	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - inner) : 0, inner);
	if (!slash)
		return fcntl(top, F_DUPFD_CLOEXEC, 3);
	if (makes)
		return folder_reach(top, folder, 0755);
	return folder_find(top, folder);
}

static bool read_whole(
	int fd, size_t bytes_max, struct bytes_writer *w, char *message, uint32_t message_size)
{
	char bytes[16 * 1024];
	size_t size = 0;
	ssize_t n;

	while ((n = read(fd, bytes, sizeof bytes)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || (size += (size_t)n) > bytes_max) {
			snprintf(message, message_size,
				n < 0 ? "it cannot be read"
				      : "it is larger "
					"than %zu bytes",
				bytes_max);
			return false;
		}
		bytes_put(w, bytes, (size_t)n);
	}
	return true;
}

bool inner_read(int top, const char *inner, size_t bytes_max, struct bytes_writer *w, char *message,
	uint32_t message_size)
{
	const char *name;
	struct stat st;
	int folder = open_holder(top, inner, &name, false);
	int fd = folder < 0 ? folder
			    : openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int error = fd < 0 ? (folder < 0 ? -folder : errno) : 0;
	bool good = false;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		good = read_whole(fd, bytes_max, w, message, message_size);
	else
		snprintf(message, message_size, "%.200s: %s", inner,
			error ? strerror(error) : "it is no file");
	if (fd >= 0)
		close(fd);
	if (folder >= 0)
		close(folder);
	return good;
}

static int write_new_file(
	int folder, const char *name, const struct inner_file *file, const void *bytes, size_t size)
{
	if (unlinkat(folder, name, 0) < 0 && errno != ENOENT)
		return -errno;
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	int error = write_whole(fd, bytes, size);
	if (!error && (file->uid >= 0 || file->gid >= 0) &&
		fchown(fd, (uid_t)file->uid, (gid_t)file->gid) < 0)
		error = -errno;
	if (!error && fchmod(fd, file->mode) < 0)
		error = -errno;
	return folder_close_file(fd, error);
}

int inner_write(int top, const struct inner_file *file, const void *bytes, size_t size)
{
	char fresh[INNER_PATH_BYTES];
	const char *name;
	int folder = open_holder(top, file->path, &name, true);

	if (folder < 0)
		return folder;
	if (snprintf(fresh, sizeof fresh, ".%s.new", name) >= 255)
		snprintf(fresh, sizeof fresh, ".template.new");
	int error = write_new_file(folder, fresh, file, bytes, size);
	if (!error && renameat(folder, fresh, folder, name) < 0)
		error = -errno;
	if (error)
		unlinkat(folder, fresh, 0);
	close(folder);
	return error;
}
