#include "tools/agent/service/alloc_files.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Somebody renames folders meanwhile; then the kernel cannot say whether the path stays below.
#define TRIES 16

int alloc_files_open(struct alloc_files *files, const char *data_folder, const struct uuid *alloc)
{
	char text[UUID_TEXT_BYTES];
	char path[sizeof files->path];
	snprintf(path, sizeof path, "%.300s/alloc/%s", data_folder, uuid_format(alloc, text));
	return alloc_files_open_folder(files, path);
}

int alloc_files_open_folder(struct alloc_files *files, const char *path)
{
	snprintf(files->path, sizeof files->path, "%s", path);
	files->folder = open(files->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return files->folder < 0 ? -errno : 0;
}

void alloc_files_close(struct alloc_files *files)
{
	if (files->folder >= 0)
		close(files->folder);
	files->folder = -1;
}

bool alloc_path_clean(const char *given, char path[static ALLOC_PATH_BYTES])
{
	size_t size = 0;
	while (*given) {
		size_t part = strcspn(given, "/");
		bool is_up = part == 2 && given[0] == '.' && given[1] == '.';
		bool is_here = part == 0 || (part == 1 && given[0] == '.');
		if (is_up && size == 0)
			return false;
		if (is_up)
			while (size > 0 && path[--size] != '/')
				continue;
		if (!is_up && !is_here) {
			if (size + part + 2 > ALLOC_PATH_BYTES)
				return false;
			if (size > 0)
				path[size++] = '/';
			memcpy(path + size, given, part);
			size += part;
		}
		given += part;
		given += strspn(given, "/");
	}
	if (size == 0)
		path[size++] = '.';
	path[size] = '\0';
	return true;
}

int alloc_files_find(const struct alloc_files *files, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	int fd, tries = 0;
	do
		fd = (int)syscall(SYS_openat2, files->folder, path, &how, sizeof how);
	while (fd < 0 && (errno == EAGAIN || errno == EINTR) && ++tries < TRIES);
	return fd < 0 ? -errno : fd;
}

static void name_of_descriptor(int fd, char name[static 40])
{
	snprintf(name, 40, "/proc/self/fd/%d", fd);
}

int alloc_files_read(int found)
{
	struct stat st;
	char name[40];
	int fd = -EINVAL;
	name_of_descriptor(found, name);
	// To open a device or a pipe might do something, or wait.
	if (fstat(found, &st) < 0)
		fd = -errno;
	else if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd == -1)
		fd = -errno;
	close(found);
	return fd;
}

static bool path_of_descriptor(int fd, char path[static PATH_MAX])
{
	char name[40];
	name_of_descriptor(fd, name);
	ssize_t size = readlink(name, path, PATH_MAX - 1);
	path[size > 0 ? size : 0] = '\0';
	return size > 0;
}

bool alloc_files_is_secret(const struct alloc_files *files, int found)
{
	char folder[PATH_MAX], path[PATH_MAX];
	if (!path_of_descriptor(files->folder, folder) || !path_of_descriptor(found, path))
		return true; // nobody knows
	size_t size = strlen(folder);
	if (strncmp(path, folder, size) != 0 || path[size] != '/')
		return false;                             // the folder itself
	const char *below = strchr(path + size + 1, '/'); // the task's name ends here
	return below && strncmp(below, "/secrets", 8) == 0 && (below[8] == '/' || !below[8]);
}

const char *alloc_files_error(int error, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s", strerrordesc_np(-error) ? strerrordesc_np(-error) : "error");
	buffer[0] = (char)tolower((unsigned char)buffer[0]);
	return buffer;
}
