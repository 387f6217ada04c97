#include "tools/agent/base/folders.h"
#include "state/base/error.h"
#include "state/base/listing/listing.h"
#include "state/base/log.h"
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
// Deeper folders are moved up before they are removed, so that their depth costs no descriptors.
#define DEPTH_MAX 32u
// Times that one folder is gone through: one that a task left cannot need more, one that somebody fills meanwhile ends.
#define PASSES_MAX 65536u

int folder_open(const char *path)
{
	if (mkdir(path, 0711) < 0 && errno != EEXIST)
		return -errno;
	int fd = open(path, FOLDER_FLAGS);
	return fd < 0 ? -errno : fd;
}

// mode 0: it has to be there.
static int folder_enter(int folder, const char *name, mode_t mode)
{
	if (mode && mkdirat(folder, name, mode) < 0 && errno != EEXIST)
		return -errno;
	int fd = openat(folder, name, FOLDER_FLAGS | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

int folder_reach(int top, const char *path, mode_t mode)
{
	char name[NAME_MAX + 1];
	int at = top;

	while (*path) {
		size_t size = strcspn(path, "/");
		if (size >= sizeof name)
			return -ENAMETOOLONG;
		snprintf(name, sizeof name, "%.*s", (int)size, path);
		path += size;
		path += strspn(path, "/");
		int below = *name ? folder_enter(at, name, mode) : -EINVAL;
		if (at != top)
			close(at);
		if (below < 0)
			return below;
		at = below;
	}
	return at == top ? -EINVAL : at;
}

int folder_find(int top, const char *path)
{
	return folder_reach(top, path, 0);
}

int folder_make(int top, const char *path, mode_t mode)
{
	int at = folder_reach(top, path, 0711);

	if (at < 0 || fchmod(at, mode) == 0)
		return at;
	int error = -errno;
	close(at);
	return error;
}

int folder_write(int folder, const char *name, mode_t mode, const void *bytes, size_t size)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);

	if (fd < 0)
		return -errno;
	errno = ENOSPC; // of what is written in part
	int error = write(fd, bytes, size) == (ssize_t)size ? 0 : -errno;
	return folder_close_file(fd, error);
}

int folder_close_file(int fd, int error)
{
	return close(fd) < 0 && !error ? -errno : error;
}

// A folder that is being emptied, the folder at whose bottom it hangs, and what was done so far.
struct emptying {
	int base;       // where too deep folders are moved
	dev_t device;   // stay on it
	uint64_t moved; // gives them names
	bool did;       // something was removed or moved
	int error;      // of a folder that was not listed to its end; 0: none
};

static void empty_folder(struct emptying *e, int folder, unsigned depth);

static void empty_below(struct emptying *e, int folder, const char *name, unsigned depth)
{
	struct stat st;
	int below = openat(folder, name, FOLDER_FLAGS | O_NOFOLLOW);

	if (below < 0)
		return;
	if (fstat(below, &st) == 0 && st.st_dev == e->device)
		empty_folder(e, below, depth);
	else
		close(below);
}

static void remove_entry(struct emptying *e, int folder, const char *name, unsigned depth)
{
	char moved[40];

	if (unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0) {
		e->did = true;
		return;
	}
	if (depth == DEPTH_MAX) {
		snprintf(moved, sizeof moved, ".removing.%llu", (unsigned long long)e->moved++);
		e->did |= renameat(folder, name, e->base, moved) == 0;
		return;
	}
	empty_below(e, folder, name, depth + 1);
	e->did |= unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

// Takes the descriptor over.
static void empty_folder(struct emptying *e, int folder, unsigned depth)
{
	DIR *entries = fdopendir(folder);
	const struct dirent *entry;

	if (!entries) {
		e->error = -errno;
		close(folder);
		return;
	}
	while ((entry = listing_next(entries, &e->error)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			remove_entry(e, dirfd(entries), entry->d_name, depth);
	closedir(entries);
}

// 0 or -errno: something is left.
static int remove_base(struct emptying *e, int top, const char *name)
{
	int error = 0;

	for (unsigned pass = 0; e->did && pass < PASSES_MAX; pass++) {
		int again = openat(e->base, ".", FOLDER_FLAGS);
		e->did = false;
		e->error = again < 0 ? -errno : 0;
		if (again >= 0)
			empty_folder(e, again, 0);
		if (unlinkat(top, name, AT_REMOVEDIR) == 0)
			return 0;
		error = -errno;
	}
	return e->error ? e->error : error;
}

void folder_remove(int top, const char *name)
{
	char quoted[512];
	struct stat st;
	struct emptying e = {.base = openat(top, name, FOLDER_FLAGS | O_NOFOLLOW), .did = true};
	int error = e.base < 0 || fstat(e.base, &st) < 0 ? -errno : 0;

	if (!error) {
		e.device = st.st_dev;
		error = remove_base(&e, top, name);
	}
	if (e.base >= 0)
		close(e.base);
	if (error && error != -ENOENT)
		log_warn("folder-not-removed", "name=%s error=\"%s\"",
			log_quote(name, quoted, sizeof quoted), error_text(error));
}
